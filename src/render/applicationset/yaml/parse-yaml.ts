import yaml from 'js-yaml';
import { kubectlSchema } from '../../../runtime/yaml/kubectl-schema.ts';
import type { JsonValue } from '../params/params.ts';

export type ParsedYaml =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: string };

const SCHEMA = kubectlSchema();

/** The first document of a YAML text as JSON, as sigs.k8s.io/yaml reads it: YAML 1.1 booleans, keys that are no text become text. */
export function parseYamlAsGo(text: string): ParsedYaml {
  try {
    const [first = null] = yaml.loadAll(text, null, { schema: SCHEMA }) as JsonValue[];
    return { ok: true, value: first };
  } catch (error) {
    return { ok: false, error: `yaml: ${(error as Error).message}` };
  }
}
