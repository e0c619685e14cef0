import fc from 'fast-check';
import { TEST_SEED } from '@berth/test-kit/test-seed';

fc.configureGlobal({ seed: TEST_SEED });
