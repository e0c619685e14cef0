import { GoError } from '../../value/go-error.ts';
import type { GoMap } from '../../value/go-map.ts';
import { isMap } from '../../value/go-map.ts';
import type { Any, Value } from '../../value/go-type.ts';
import { checkDepth, spend } from '../../value/work.ts';
import { isEmpty } from './empty.ts';

/** Fills a map from another, as dario.cat/mergo does; with `overwrite` the other map wins. */
export function mergeInto(target: GoMap<Any>, source: GoMap<Any>, overwrite: boolean, depth = 0): void {
  checkDepth(depth);
  for (const [key, value] of source.entries()) {
    spend(1);
    const known = target.get(key);
    if (value === null) {
      if (overwrite) target.set(key, null);
      continue;
    }
    mergeInside(known ?? null, value, { overwrite, depth });
    if (known !== undefined && !isEmpty(known) && keepsPlace(known, value)) {
      if (overwrite && value.type.kind === 'slice') target.set(key, value);
      continue;
    }
    if (overwrite || known === undefined || isEmpty(known)) target.set(key, value);
  }
}

/** A list is replaced, and a map in a map was merged already. */
function keepsPlace(known: Any, value: Value): boolean {
  return value.type.kind === 'slice' || (value.type.kind === 'map' && known?.type.kind === 'map');
}

function mergeInside(
  known: Any,
  value: Value,
  { overwrite, depth }: { readonly overwrite: boolean; readonly depth: number },
): void {
  if (known?.type.kind !== 'map' || value.type.kind !== 'map') return;
  const [target, source] = [known.data as GoMap<Any> | null, value.data as GoMap<Any> | null];
  if (target === null || source === null) return;
  if (isMap(known) !== isMap(value)) return mergeUnlike(known, value, overwrite);
  if (isMap(known)) return mergeInto(target, source, overwrite, depth + 1);
  mergeTexts(known.data as GoMap<string>, value.data as GoMap<string>, overwrite);
}

/** Merges two `map[string]string`. */
function mergeTexts(target: GoMap<string>, source: GoMap<string>, overwrite: boolean): void {
  for (const [key, text] of source.entries())
    if (overwrite || (target.get(key) ?? '') === '') target.set(key, text);
}

/**
 * Merges a `map[string]string` and a `map[string]interface {}`. Only the second can hold values of
 * the first.
 */
function mergeUnlike(known: Value, value: Value, overwrite: boolean): void {
  const target = known.data as GoMap<Any>;
  const elem = value.type.elem;
  for (const [key, data] of (value.data as GoMap).entries()) {
    const own = target.get(key);
    if (!overwrite && own !== undefined && (isMap(known) ? !isEmpty(own) : own !== ('' as never))) continue;
    if (!isMap(known))
      throw new GoError(
        'reflect.Value.SetMapIndex: value of type interface {} is not assignable to type string',
      );
    if (elem !== undefined) target.set(key, { type: elem, data });
  }
}
