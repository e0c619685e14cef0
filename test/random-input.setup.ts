import fc from 'fast-check';
import { TEST_SEED } from './fakes/test-seed.ts';

fc.configureGlobal({ seed: TEST_SEED });
