import { canonicalJson } from './json-equal.ts';

/** As JSON.stringify, which takes no bigint: with one in it, the keys are sorted. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof TypeError) return canonicalJson(value);
    throw error;
  }
}
