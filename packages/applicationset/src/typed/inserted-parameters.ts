import type { JsonValue } from '../json/json-value.ts';
import { RawJson } from '../json/raw-json.ts';
import type { TemplateMode } from '../params/replace-text.ts';
import type { TypedValue } from './typed-value.ts';

/** Far below the limits of a rendering (template/value/work.ts), also if a text of this length inserts values of this length. */
export const MAX_SURE_LENGTH = 1_000;

const GO_FIELD = /\{\{ *\.([A-Za-z_][A-Za-z0-9_]*) *\}\}/g;
const FAST_TAG = /\{\{[^{}]*\}\}/g;

/**
 * The parameters that the texts of a template insert, if they do nothing else. With these parameters as short texts, no
 * text of the template can fail. With goTemplate off they are none: a missing parameter is no failure.
 * @returns undefined if a text does anything else, or is long
 */
export function insertedParameters(
  template: TypedValue | undefined,
  { goTemplate }: TemplateMode,
): ReadonlySet<string> | undefined {
  const found = new Set<string>();
  const isSure = (text: string): boolean => {
    if (!text.includes('{{')) return true;
    if (goTemplate) for (const [, name = ''] of text.matchAll(GO_FIELD)) found.add(name);
    const rest = text.replaceAll(goTemplate ? GO_FIELD : FAST_TAG, '');
    return text.length <= MAX_SURE_LENGTH && !rest.includes('{{');
  };
  return areTextsOf(template, isSure) ? found : undefined;
}

function areTextsOf(value: TypedValue | JsonValue | undefined, isSure: (text: string) => boolean): boolean {
  if (typeof value === 'string') return isSure(value);
  if (typeof value !== 'object' || value === null) return true;
  if (value instanceof RawJson) return areTextsOf(value.value, isSure);
  return Object.entries(value).every(
    ([key, item]: [string, TypedValue | JsonValue | undefined]) => isSure(key) && areTextsOf(item, isSure),
  );
}
