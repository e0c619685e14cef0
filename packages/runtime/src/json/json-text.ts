import { canonicalJson } from './json-equal.ts';

/** JSON of a value that may contain bigints, which `JSON.stringify` refuses. If it contains one, the keys are sorted. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof TypeError) return canonicalJson(value);
    throw error;
  }
}
