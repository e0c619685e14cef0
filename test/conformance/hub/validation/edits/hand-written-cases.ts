import type { ValidationCase } from '../validation-case.ts';
import { EMBEDDED_CASES } from './embedded.ts';

export const HAND_WRITTEN_CASES: readonly ValidationCase[] = [...EMBEDDED_CASES];
