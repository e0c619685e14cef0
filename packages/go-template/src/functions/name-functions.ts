import { decode, encode } from '../text/bytes.ts';
import { GoError } from '../value/go-error.ts';
import type { FuncMap } from '../value/go-func.ts';
import { func, variadic } from '../value/go-func.ts';
import { sliceText } from '../value/go-slice.ts';
import type { Any, GoType } from '../value/go-type.ts';
import { BOOL, INT, INTERFACE, STRING } from '../value/go-type.ts';
import { lower } from './text/change-case.ts';

const MAX_NAME = 253;

/** A valid name for an object of Kubernetes (SanitizeName of Argo CD). */
function normalize(name: string): string {
  const dashed = encode(decode(lower(name)).replaceAll(/[^-a-z0-9.]/gu, '-'));
  return dashed.slice(0, MAX_NAME).replaceAll(/^[-.]+|[-.]+$/g, '');
}

/** A type assertion of Go. It fails with the text of Go if the value has another type. */
function asserted<D>(value: Any, type: GoType<D>): D {
  if (value?.type === type) return value.data as D;
  throw new GoError(`interface conversion: interface {} is ${value?.type.name ?? 'nil'}, not ${type.name}`);
}

/**
 * SlugifyName of Argo CD: `slugify [LENGTH [SMART]] NAME`. The name is normalized first.
 * gosimple/slug therefore sees only lower-case letters, digits, dashes and dots, and its language
 * tables have no effect.
 */
function slugify(args: readonly Any[]): string {
  let [most, smart, name] = [50n, true, ''];
  for (const [index, arg] of args.entries()) {
    if (index === args.length - 1) name = asserted(arg, STRING);
    else if (index === 0) most = asserted(arg, INT);
    else if (index === 1) smart = asserted(arg, BOOL);
  }
  const length = Number(most);
  let slug = normalize(name);
  if (!smart && slug.length >= length) slug = sliceText(slug, 0, length);
  slug = slug
    .replaceAll('.', '-')
    .replaceAll(/-+/g, '-')
    .replaceAll(/^[-_]+|[-_]+$/g, '');
  if (length <= 0 || !smart || slug.length <= length) return slug;
  const dash = slug.lastIndexOf('-', length);
  return slug.slice(0, dash < 0 ? length : dash);
}

/** Argo CD's own functions for names. */
export const NAME_FUNCTIONS: FuncMap = new Map([
  ['normalize', func([STRING], STRING, normalize)],
  ['slugify', variadic([], INTERFACE, [STRING, slugify])],
]);
