import type { KeptMaps } from '@berth/go-template/to-go-value';
import { withPrefix, GenerateError } from './failure/failures.ts';
import { goJsonText, quoteAsGo, RawJson } from './json/go-json-text.ts';
import type { JsonValue } from './json/json-value.ts';
import { parseFirstJson, toJsonValue, trailingProblem, parseYamlAsGo } from './json/parse-go-json.ts';
import type { Params } from './params/params.ts';
import { checkOptions, replaceText, type TemplateMode } from './params/replace-text.ts';
import { type JsonObject, PatchError, strategicMerge } from './patch/strategic-merge.ts';
import type { ApplicationSet } from './read-application-set.ts';
import { decodeTyped } from './typed/decode-typed.ts';
import { encodeTyped } from './typed/encode-typed.ts';
import { FixedParts } from './typed/fixed-parts.ts';
import { renderTyped } from './typed/render-typed.ts';
import { APPLICATION } from './types/application-types.ts';
import type { TypedObject, TypedValue } from './types/go-type.ts';

/** Far below the limits of a rendering (template/value/work.ts), also if a text of this length inserts values of this length. */
export const MAX_SURE_LENGTH = 1_000;

export type ApplicationJson = { readonly [key: string]: JsonValue };

const FINALIZER = 'resources-finalizer.argocd.argoproj.io';

/** A template without its spec, and the parameters that its texts insert; undefined if they do more than that. */
interface SureTemplate {
  readonly metadataOnly: TypedObject;
  readonly inserted: ReadonlySet<string> | undefined;
}

/** Renders the Applications of one ApplicationSet. */
export class ApplicationRenderer {
  readonly #set: ApplicationSet;
  /** Two parameter sets may share a map. Then a change by a template is visible in both. */
  readonly #kept: KeptMaps = new WeakMap();
  readonly #fixed = new FixedParts();
  readonly #sure = new WeakMap<TypedObject, SureTemplate>();

  constructor(set: ApplicationSet) {
    this.#set = set;
  }

  /** @throws GenerateError, GoPanic */
  render(template: TypedObject, params: Params): ApplicationJson {
    return this.#render(template, params, this.#kept);
  }

  #render(template: TypedObject, params: Params, kept: KeptMaps | undefined): ApplicationJson {
    const { mode, templatePatch, namespace } = this.#set;
    let application = this.#fromTemplate(template, params, kept);
    if (templatePatch !== undefined) {
      const patch = withPrefix('error replacing values in templatePatch', () => {
        checkOptions(mode);
        return replaceText(templatePatch, params, mode, kept);
      });
      application = applyTemplatePatch(application, patch);
    }
    const metadata = { ...(application['metadata'] as TypedObject | undefined), namespace };
    return encodeTyped(APPLICATION, { ...application, metadata }, this.#fixed);
  }

  /**
   * The same, but a spec that cannot fail is rendered when it is first read. Of thousands of Applications, a plan reads the
   * names, and the specs of those that change.
   * @throws GenerateError, GoPanic
   */
  renderWhenRead(template: TypedObject, params: Params): ApplicationJson {
    const { metadataOnly, inserted } = this.#sureTemplate(template);
    if (inserted === undefined || !hasShortTexts(params, inserted)) return this.render(template, params);
    // Its texts change no parameters. What others change in them comes later, and must not be seen.
    const { metadata } = this.#render(metadataOnly, params, undefined);
    let spec: JsonValue | undefined;
    const render = (): JsonValue => (spec ??= this.#render(template, params, undefined)['spec'] as JsonValue);
    return {
      metadata: metadata as JsonValue,
      get spec() {
        return render();
      },
    };
  }

  #sureTemplate(template: TypedObject): SureTemplate {
    let sure = this.#sure.get(template);
    if (sure === undefined) {
      const { mode, templatePatch } = this.#set;
      const inserted = templatePatch === undefined ? insertedParameters(template, mode) : undefined;
      const { metadata } = template;
      this.#sure.set(template, (sure = { metadataOnly: { metadata }, inserted }));
    }
    return sure;
  }

  /** Without parameters, the Application is the unchanged template and gets no finalizer. */
  #fromTemplate(template: TypedObject, params: Params, kept: KeptMaps | undefined): TypedObject {
    if (Object.keys(params).length === 0) return template;
    const { mode } = this.#set;
    const fixed = this.#fixed;
    const rendered = renderTyped(APPLICATION, template, { params, mode, kept, fixed });
    const metadata = rendered['metadata'] as TypedObject;
    const finalizers = (metadata['finalizers'] ?? []) as readonly string[];
    if (finalizers.length > 0 || this.#set.preserveResources) return rendered;
    return { ...rendered, metadata: { ...metadata, finalizers: [FINALIZER] } };
  }
}

function hasShortTexts(params: Params, names: ReadonlySet<string>): boolean {
  for (const name of names) {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    if (typeof value !== 'string' || value.length > MAX_SURE_LENGTH) return false;
  }
  return true;
}

/**
 * Applies a rendered templatePatch, which is a strategic merge patch in JSON or YAML. The project
 * stays the one of the template. Source: argo-cd applicationset/controllers/template/patch.go.
 * @throws GenerateError
 */
function applyTemplatePatch(application: TypedObject, patchText: string): TypedObject {
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
