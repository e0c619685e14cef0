import { TemplateError } from '../../template/template-error.ts';
import { TemplateRefusal } from '../../template/template-refusal.ts';
import { yamlToJson } from '../../template/yaml-to-json.ts';
import { NotRendered } from '../failure/failures.ts';
import type { JsonValue } from '../json/json-value.ts';

export type ParsedYaml =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: string };

/** The first document of a YAML text as JSON, as Argo CD reads it, or the error text of Go. */
export function parseYamlAsGo(text: string): ParsedYaml {
  try {
    return { ok: true, value: JSON.parse(yamlToJson(text)) as JsonValue };
  } catch (error) {
    if (error instanceof TemplateRefusal) throw new NotRendered(error.message, { cause: error });
    if (error instanceof TemplateError) return { ok: false, error: error.message };
    throw error;
  }
}
