import { sprint } from '../../fmt/sprintf.ts';
import type { Any } from '../../value/go-type.ts';
import { isString } from '../../value/go-type.ts';
import { checkElements } from '../../value/work.ts';

/** The text of a value (sprig's strval). */
export function strval(value: Any): string {
  return isString(value) ? value.data : sprint([value]);
}

/** The elements of a list, as the values that an `interface {}` would hold; undefined for what is no list. */
export function elements(value: Any): readonly Any[] | undefined {
  const elem = value?.type.kind === 'slice' ? value.type.elem : undefined;
  if (value === null || elem === undefined) return undefined;
  const list = (value.data as readonly unknown[] | null) ?? [];
  checkElements(list.length);
  return elem.kind === 'interface' ? (list as readonly Any[]) : list.map((data) => ({ type: elem, data }));
}

/** The texts of the elements of a list; a value that is no list counts as a list of one (sprig's strslice). */
export function strslice(value: Any): readonly string[] {
  if (value === null) return [];
  return (
    elements(value)
      ?.filter((element) => element !== null)
      .map(strval) ?? [strval(value)]
  );
}
