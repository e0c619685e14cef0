import { TemplateError } from '@berth/go-template/template-error';
import { TemplateRefusal } from '@berth/go-template/template-refusal';
import { yamlToJson } from '@berth/go-template/yaml-to-json';
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
