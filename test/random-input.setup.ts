import { TEST_SEED } from '@berth/test-kit/seeded-random';
import fc from 'fast-check';

fc.configureGlobal({ seed: TEST_SEED });
