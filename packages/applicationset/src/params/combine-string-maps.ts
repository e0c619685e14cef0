import { GenerateError } from '../failure/failures.ts';
import { goText } from './go-text.ts';
import { setKey } from '../json/json-value.ts';
import type { Params } from './params.ts';

/**
 * Combines two parameter sets as the matrix generator does with goTemplate off. Every value becomes
 * text.
 * @throws GenerateError if both sets have different values for a key
 */
export function combineStringMaps(first: Params, second: Params): Params {
  const combined: Record<string, string> = {};
  for (const key of Object.keys(first)) setKey(combined, key, goText(first[key] ?? null));
  for (const key of Object.keys(second)) {
    const value = goText(second[key] ?? null);
    const current = Object.hasOwn(combined, key) ? combined[key] : undefined;
    if (current !== undefined && current !== value)
      throw new GenerateError(`found duplicate key ${key} with different value, a: ${current} ,b: ${value}`);
    setKey(combined, key, value);
  }
  return combined;
}
