import { closestName } from '@berth/runtime/text/closest-name';

/** What is wrong with a field that the definition of a kind does not have. */
export const UNKNOWN_FIELD = 'is not a field of this kind, and the hub refuses the object because of it';

/**
 * The hint that names the field that was probably meant: one with nearly the same name, or the only one that is the end
 * of the name, as `type` is of `rolloutType`.
 */
export function unknownFieldHint(name: string, known: Iterable<string>): string | undefined {
  const fields = [...known];
  const ends = fields.filter((field) => name.endsWith(`${field.charAt(0).toUpperCase()}${field.slice(1)}`));
  const meant = closestName(name, fields) ?? (ends.length === 1 ? ends[0] : undefined);
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}
