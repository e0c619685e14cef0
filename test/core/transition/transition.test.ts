import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
