import { tooMany } from '../schema/field-problems.ts';
import type { JsonObject } from '../json/json-value.ts';
import { objectAt, textAt } from '../json/json-value.ts';
import { invalid } from '../wire/status-errors.ts';
import type { OwnershipRequest } from './ownership.ts';

/**
 * Maximum number of entries in `metadata.managedFields`. Upstream limits Update entries only (ten,
 * then they are merged). Each new name of an apply manager adds an entry, and every later apply
 * compares all of them.
 */
const MAX_MANAGERS = 1_000;

/**
 * @param managers `count` after the write, `before` in the stored object: one that has more already can still be changed
 * @throws StatusError 422
 */
export function refuseTooManyManagers(
  { ref }: OwnershipRequest,
  object: JsonObject,
  managers: { readonly count: number; readonly before: number },
): void {
  if (managers.count <= Math.max(MAX_MANAGERS, managers.before)) return;
  const name = textAt(objectAt(object, 'metadata'), 'name');
  throw invalid(ref.definition, name, [tooMany('metadata.managedFields', managers.count, MAX_MANAGERS)]);
}
