import { canonicalJson as canonicalText } from '@berth/runtime/json/json-equal';
import type { JsonValue } from './json-value.ts';
import { chargeWork } from './work-budget.ts';

/** Sorting a key costs more than reading it. */
const STEPS_PER_KEY = 3;

const SORTED = {
  sort: (keys: string[]) => keys.sort(),
  spend: (count: number, isList: boolean): void => chargeWork(isList ? count : count * STEPS_PER_KEY),
};

/**
 * JSON with all keys sorted by their text, on the work budget of the request: equal values have equal texts. The order is that of Go's
 * encoding/json, because the texts are keys of managedFields, which clients read and the log keeps.
 */
export function canonicalJson(value: JsonValue): string {
  return canonicalText(value, SORTED);
}
