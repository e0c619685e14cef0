import { tooMany } from '../schema/field-problems.ts';
import type { JsonObject } from '../json/json-value.ts';
import { objectAt, textAt } from '../json/json-value.ts';
import { invalid } from '../wire/status-errors.ts';
import type { OwnershipRequest } from './ownership.ts';

/**
 * As many entries as `metadata.managedFields` of one object may have. Upstream bounds the Update entries alone (ten, then they are
 * pooled); Apply entries grow by one with every new name of a manager, and each of them is looked at in every later apply.
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
