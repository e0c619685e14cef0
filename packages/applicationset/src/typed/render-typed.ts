import { GenerateError, withPrefix } from '../failure/failures.ts';
import { type JsonValue, setKey } from '../json/json-value.ts';
import type { Params } from '../params/params.ts';
import type { KeptMaps } from '@berth/go-template/to-go-value';
import { checkOptions, replaceText, type TemplateMode } from '../params/replace-text.ts';
import type { GoStruct, GoType, TypedObject, TypedValue } from '../types/go-type.ts';
import { RawJson } from '../json/go-json-text.ts';
import type { FixedParts } from './fixed-parts.ts';

export interface Rendering {
  readonly params: Params;
  readonly mode: TemplateMode;
  /** The changes that functions such as `set` make in the parameters. */
  readonly kept?: KeptMaps | undefined;
  /** The parts without placeholders, if a template is rendered many times. */
  readonly fixed?: FixedParts;
  /**
   * Renders the `values` of a generator, which are rendered again later. Undefined for a template,
   * which has no `values`.
   */
  readonly renderValues?: (values: TypedObject) => TypedObject;
}

/**
 * Renders every text of a Go value in the order in which Argo CD visits them: fields in the order
 * of their declaration, and keys of maps after their values. Maps and lists that are nil become
 * empty. Source: argo-cd applicationset/utils/utils.go, `deeplyReplaceWithFilter`.
 * @throws GenerateError, GoPanic
 */
export function renderTyped(type: GoStruct, value: TypedObject, rendering: Rendering): TypedObject {
  checkOptions(rendering.mode);
  return renderStruct(type, value, rendering);
}

function renderStruct(type: GoStruct, value: TypedObject, rendering: Rendering): TypedObject {
  const rendered: Record<string, TypedValue> = {};
  for (const { name, type: fieldType } of rendering.fixed?.fieldsOf(type, value) ?? type.fields) {
    const given = value[name];
    const result =
      name === 'values' && fieldType.kind === 'map' && rendering.renderValues !== undefined
        ? given === undefined
          ? undefined
          : rendering.renderValues(given as TypedObject)
        : renderValue(fieldType, given, rendering);
    if (result !== undefined) rendered[name] = result;
  }
  return rendered;
}

function renderValue(
  type: GoType,
  value: TypedValue | undefined,
  rendering: Rendering,
): TypedValue | undefined {
  // Most fields of an Application are absent. A nil map and an empty map make no difference in it.
  if (value === undefined && rendering.renderValues === undefined) return undefined;
  if (rendering.fixed === undefined || typeof value !== 'object') return renderPart(type, value, rendering);
  return rendering.fixed.rendered(value, () => renderPart(type, value, rendering));
}

function renderPart(
  type: GoType,
  value: TypedValue | undefined,
  rendering: Rendering,
): TypedValue | undefined {
  switch (type.kind) {
    case 'struct':
      return renderStruct(type, (value ?? {}) as TypedObject, rendering);
    case 'pointer':
      return value === undefined ? undefined : renderValue(type.to, value, rendering);
    case 'list':
      return ((value ?? []) as readonly TypedValue[]).map(
        (item) => renderValue(type.of, item, rendering) as TypedValue,
      );
    case 'map':
      return renderMap(type.of, (value ?? {}) as TypedObject, rendering);
    case 'raw':
      return value instanceof RawJson ? renderRaw(value, rendering) : value;
    case 'string':
    case 'intOrString':
      return typeof value === 'string' ? render(value, rendering) : value;
    default:
      return value;
  }
}

function renderMap(of: GoType, value: TypedObject, rendering: Rendering): TypedObject {
  const rendered: Record<string, TypedValue> = {};
  for (const key of Object.keys(value)) {
    const item = renderValue(of, value[key], rendering);
    setKey(rendered, render(key, rendering), item as TypedValue);
  }
  return rendered;
}

function renderRaw(raw: RawJson, rendering: Rendering): RawJson {
  return withPrefix(
    'failed to deeply replace JSON field contents',
    () => new RawJson(renderJson(raw.value, rendering), true),
  );
}

/** Renders a JSON value. Null entries are dropped from maps but not from lists. */
function renderJson(value: JsonValue, rendering: Rendering): JsonValue {
  if (typeof value === 'string') return render(value, rendering);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => renderJson(item, rendering));
  const rendered: Record<string, JsonValue> = {};
  for (const [key, item] of Object.entries(value)) {
    if (item === null) continue;
    const result = renderJson(item, rendering);
    setKey(rendered, render(key, rendering), result);
  }
  return rendered;
}

function render(text: string, { params, mode, kept }: Rendering): string {
  return replaceText(text, params, mode, kept);
}

/**
 * Renders the `values` of a generator as far as the parameters are known. A value that needs later
 * parameters stays unchanged.
 */
export function renderKnownValues(values: TypedObject, params: Params, mode: TemplateMode): TypedObject {
  const strict = mode.goTemplate
    ? {
        ...mode,
        options: [...mode.options.filter((option) => !option.startsWith('missingkey=')), 'missingkey=error'],
      }
    : mode;
  const rendered: Record<string, TypedValue> = {};
  for (const [key, value] of Object.entries(values)) {
    const text = value as string;
    setKey(
      rendered,
      key,
      renderKnown(key, text, () => replaceText(text, params, strict)),
    );
  }
  return rendered;
}

function renderKnown(key: string, text: string, render: () => string): string {
  try {
    return render();
  } catch (error) {
    if (!(error instanceof GenerateError)) throw error;
    if (/map has no entry for key|can't evaluate field/.test(error.message)) return text;
    throw new GenerateError(`failed to pre-resolve Values key ${JSON.stringify(key)}: ${error.message}`, {
      cause: error,
    });
  }
}
