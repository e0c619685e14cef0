import { CORE_SCHEMA, load, Type, YAMLException } from 'js-yaml';
import type { JsonValue } from '../json/json-value.ts';
import { spendOnText, spendWork } from '../json/work-budget.ts';

const TRUE = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON']);
const FALSE = new Set(['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF']);

/** The words that YAML 1.1 reads as booleans besides true and false; Kubernetes still does. */
const oldBoolean = new Type('tag:yaml.org,2002:bool', {
  kind: 'scalar',
  resolve: (text: unknown) => typeof text === 'string' && (TRUE.has(text) || FALSE.has(text)),
  construct: (text: string) => TRUE.has(text),
});

const merge = new Type('tag:yaml.org,2002:merge', {
  kind: 'scalar',
  resolve: (text: unknown) => text === '<<' || text === null,
});

const SCHEMA = CORE_SCHEMA.extend({ implicit: [oldBoolean, merge] });

/** The reader needs so much more time for long texts than for JSON that they have a limit of their own. */
export const MAX_YAML_CHARACTERS = 1_500_000;
const CHARACTERS_PER_STEP = 6;
/** The reader calls at the beginning and at the end of every node. */
const pay = (): void => spendWork(1);

export interface YamlReading {
  readonly value: JsonValue;
  readonly duplicates: readonly string[];
}

/**
 * One YAML document as JSON. Later duplicates win and are reported.
 * @throws YAMLException on anything that is no YAML
 * @throws WorkExceededError when reading it takes more than one request may use
 */
export function readYaml(text: string): YamlReading {
  spendOnText(text.length, CHARACTERS_PER_STEP);
  try {
    return { value: asJson(load(text, { schema: SCHEMA, listener: pay })), duplicates: [] };
  } catch (error) {
    if (!(error instanceof YAMLException) || error.reason !== 'duplicated mapping key') throw error;
    const value = asJson(load(text, { schema: SCHEMA, json: true, listener: pay }));
    return { value, duplicates: [`duplicate key at line ${String(error.mark.line + 1)}`] };
  }
}

/** The reader yields JSON values except for infinities, which have no JSON form. */
function asJson(value: unknown): JsonValue {
  return value === undefined ? null : (value as JsonValue);
}
