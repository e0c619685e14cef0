import type { ResourceRef } from '../schema/resource-definition.ts';
import type { FieldSet } from './field-set.ts';
import { EMPTY_SET, difference, setOfPaths } from './field-set.ts';

const STATUS = 'f:status';

/** Fields that the server sets or that are immutable. They have no owner. */
const SERVER_FIELDS = setOfPaths([
  ['f:apiVersion'],
  ['f:kind'],
  ['f:metadata'],
  ...[
    'name',
    'namespace',
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'resourceVersion',
    'managedFields',
    'selfLink',
  ].map((name) => ['f:metadata', `f:${name}`]),
]);

export function withoutServerFields(set: FieldSet): FieldSet {
  return difference(set, SERVER_FIELDS);
}

/**
 * The fields that a request to this endpoint can own: `status` only the status, the main endpoint
 * everything else.
 */
export function ownableSet(ref: ResourceRef, subresource: string, set: FieldSet): FieldSet {
  const status = set.children.get(STATUS);
  if (subresource === 'status') {
    return {
      members: new Set(set.members.has(STATUS) ? [STATUS] : []),
      children: status === undefined ? EMPTY_SET.children : new Map([[STATUS, status]]),
    };
  }
  if (!ref.version.subresources.status || subresource !== '') return set;
  if (status === undefined && !set.members.has(STATUS)) return set;
  const members = new Set(set.members);
  const children = new Map(set.children);
  members.delete(STATUS);
  children.delete(STATUS);
  return { members, children };
}
