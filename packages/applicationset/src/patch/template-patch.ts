import { GenerateError } from '../failure/failures.ts';
import { goJsonText } from '../json/go-json-text.ts';
import { parseFirstJson, toJsonValue, trailingProblem } from '../json/parse-go-json.ts';
import type { JsonValue } from '../json/json-value.ts';
import { quoteAsGo } from '../json/quote-as-go.ts';
import { decodeTyped } from '../typed/decode-typed.ts';
import { encodeTyped } from '../typed/encode-typed.ts';
import type { TypedObject } from '../typed/typed-value.ts';
import { APPLICATION } from '../types/application-types.ts';
import { parseYamlAsGo } from '../yaml/parse-yaml.ts';
import { type JsonObject, PatchError, strategicMerge } from './strategic-merge.ts';

/**
 * Applies a rendered templatePatch, which is a strategic merge patch in JSON or YAML. The project
 * stays the one of the template. Source: argo-cd applicationset/controllers/template/patch.go.
 * @throws GenerateError
 */
export function applyTemplatePatch(application: TypedObject, patchText: string): TypedObject {
  const { json, text } = patchAsJson(patchText);
  const { error } = decodeTyped(APPLICATION, json);
  if (error !== undefined) throw new GenerateError(`invalid templatePatch ${quoteAsGo(text)}: ${error}`);
  const original = encodeTyped(APPLICATION, application);
  const merged = merge(original, (json ?? {}) as JsonObject, text);
  const patched = decodeTyped(APPLICATION, merged);
  if (patched.error !== undefined)
    throw new GenerateError(`error while unmarhsalling patched application: ${patched.error}`);
  const { project: _, ...spec } = (patched.value['spec'] ?? {}) as TypedObject;
  const project = ((application['spec'] ?? {}) as TypedObject)['project'];
  return { ...patched.value, spec: project === undefined ? spec : { ...spec, project } };
}

function merge(original: JsonObject, patch: JsonObject, text: string): JsonObject {
  try {
    return strategicMerge(APPLICATION, original, patch);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw new GenerateError(
      `error while applying templatePatch template to json ${quoteAsGo(text)}: ${error.message}`,
      { cause: error },
    );
  }
}

/**
 * The patch and the JSON text that Argo CD makes of it. A text that starts with `{` counts as JSON.
 */
function patchAsJson(patch: string): { readonly json: JsonValue; readonly text: string } {
  if (!patch.trim().startsWith('{')) {
    const parsed = parseYamlAsGo(patch);
    if (parsed.ok) return { json: parsed.value, text: goJsonText(parsed.value, true) };
    throw new GenerateError(`error while converting template to json ${quoteAsGo(patch)}: ${parsed.error}`);
  }
  const parsed = parseFirstJson(patch);
  const invalid = (problem: string): GenerateError =>
    new GenerateError(`invalid templatePatch ${quoteAsGo(patch)}: ${problem}`);
  if ('problem' in parsed)
    throw invalid(parsed.problem === 'end' ? 'unexpected end of JSON input' : parsed.message);
  const trailing = trailingProblem(patch, parsed.end);
  if (trailing !== undefined) throw invalid(trailing);
  return { json: toJsonValue(parsed.node), text: patch };
}
