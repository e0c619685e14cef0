import { CORE_SCHEMA, load, Type, YAMLException } from 'js-yaml';
import type { JsonValue } from '../json/json-value.ts';

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

export interface YamlReading {
  readonly value: JsonValue;
  readonly duplicates: readonly string[];
}

/** One YAML document as JSON. Later duplicates win and are reported. Throws YAMLException on anything that is no YAML. */
export function readYaml(text: string): YamlReading {
  try {
    return { value: asJson(load(text, { schema: SCHEMA })), duplicates: [] };
  } catch (error) {
    if (!(error instanceof YAMLException) || error.reason !== 'duplicated mapping key') throw error;
    const value = asJson(load(text, { schema: SCHEMA, json: true }));
    return { value, duplicates: [`duplicate key at line ${String(error.mark.line + 1)}`] };
  }
}

/** The reader yields JSON values except for infinities, which have no JSON form. */
function asJson(value: unknown): JsonValue {
  return value === undefined ? null : (value as JsonValue);
}
