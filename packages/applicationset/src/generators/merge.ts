import { StringMap } from '@berth/go-template/values';
import { GenerateError, withPrefix } from '../failure/failures.ts';
import { goJsonText } from '../json/go-json-text.ts';
import { mergeParams } from '../params/merge-params.ts';
import { type JsonValue, setKey } from '../json/json-value.ts';
import type { Params, ParamValue } from '../params/params.ts';
import { RawJson } from '../json/raw-json.ts';
import type { TypedObject } from '../typed/typed-value.ts';
import type { GeneratorContext } from './generator-context.ts';
import type { GenerateChild } from './nested-generator.ts';

/**
 * The merge generator. It overrides the parameter sets of the first child by those of the other
 * children that have the same values for the merge keys. Source: argo-cd
 * applicationset/generators/merge.go.
 * @throws GenerateError, GoPanic
 */
export function generateMerge(
  generator: TypedObject,
  { mode }: GeneratorContext,
  generateChild: GenerateChild,
): Params[] {
  const children = (generator['generators'] ?? []) as readonly TypedObject[];
  const mergeKeys = (generator['mergeKeys'] ?? []) as readonly string[];
  if (children.length < 2)
    throw new GenerateError('found less than two generators, Merge requires two or more');
  const [baseSets = [], ...overrides] = withPrefix('error getting param sets from generators', () =>
    children.map((child, index) =>
      withPrefix(
        `error getting params from generator ${String(index + 1)} of ${String(children.length)}`,
        () => generateChild(child),
      ),
    ),
  );
  const byKey = (sets: readonly Params[]): Map<string, Params> =>
    withPrefix('error getting param sets by merge key', () => setsByMergeKey(mergeKeys, sets));
  const base = byKey(baseSets);
  for (const sets of overrides)
    for (const [key, override] of byKey(sets)) {
      const own = base.get(key);
      if (own === undefined) continue;
      if (mode.goTemplate) mergeParams(own, override);
      else for (const [name, value] of Object.entries(override)) setKey(own, name, value);
    }
  return [...base.values()];
}

function setsByMergeKey(mergeKeys: readonly string[], sets: readonly Params[]): Map<string, Params> {
  if (mergeKeys.length === 0)
    throw new GenerateError('no merge keys were specified, Merge requires at least one');
  const byKey = new Map<string, Params>();
  for (const params of sets) {
    const values: Record<string, JsonValue> = {};
    for (const key of mergeKeys) setKey(values, key, asJson(Object.hasOwn(params, key) ? params[key] : null));
    const text = goJsonText(values, true);
    if (byKey.has(text))
      throw new GenerateError(
        `the parameters from a generator were not unique by the given mergeKeys, Merge requires all param sets to be unique. Duplicate key was ${text}`,
      );
    byKey.set(text, params);
  }
  return byKey;
}

function asJson(value: ParamValue | undefined): JsonValue {
  if (value instanceof RawJson) return value.value;
  if (value instanceof StringMap) return value.entries;
  if (typeof value !== 'object' || value === null) return value ?? null;
  if (Array.isArray(value)) return value.map((item: ParamValue) => asJson(item));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asJson(item)]));
}
