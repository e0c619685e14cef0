import { load, YAMLException } from 'js-yaml';
import { kubectlSchema } from '@berth/kube/yaml/kubectl-schema';
import { resolvePlainScalar, UnrepresentableScalarError } from '@berth/kube/yaml/scalar';
import type { JsonValue } from '../json/json-value.ts';
import { chargeText, chargeWork } from '../json/work-budget.ts';

const SCHEMA = kubectlSchema(scalarOf);

/** An integer that JavaScript cannot hold loses digits, as it does in a JSON body: `kubectl apply --server-side` sends JSON as YAML. */
function scalarOf(text: string): unknown {
  try {
    return resolvePlainScalar(text);
  } catch (error) {
    if (error instanceof UnrepresentableScalarError && Number.isFinite(error.nearest)) return error.nearest;
    throw error;
  }
}

/** YAML has a limit of its own, because reading it takes much longer than JSON. */
export const MAX_YAML_CHARACTERS = 1_500_000;
const CHARACTERS_PER_STEP = 6;
/** The reader calls at the beginning and at the end of every node. */
const charge = (): void => chargeWork(1);

export interface YamlReading {
  readonly value: JsonValue;
  readonly duplicates: readonly string[];
}

/**
 * One YAML document as JSON. Later duplicates win and are reported.
 * @throws YAMLException on anything that is no YAML
 * @throws UnrepresentableScalarError on infinities and what is no number, which JSON does not have
 * @throws WorkExceededError when reading it takes more than one request may use
 */
export function readYaml(text: string): YamlReading {
  chargeText(text.length, CHARACTERS_PER_STEP);
  try {
    return { value: asJson(load(text, { schema: SCHEMA, listener: charge })), duplicates: [] };
  } catch (error) {
    if (!(error instanceof YAMLException) || error.reason !== 'duplicated mapping key') throw error;
    const value = asJson(load(text, { schema: SCHEMA, json: true, listener: charge }));
    return { value, duplicates: [`duplicate key at line ${String(error.mark.line + 1)}`] };
  }
}

/** An empty document is null. */
function asJson(value: unknown): JsonValue {
  return value === undefined ? null : (value as JsonValue);
}
