import type { JsonObject } from '../json/json-value.ts';
import { listAt, objectAt, textAt } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { strategyOf } from './strategy/all-strategies.ts';

export interface DeletionMark {
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** Finalizers to add, e.g. `foregroundDeletion`. */
  readonly addFinalizers?: readonly string[] | undefined;
}

/**
 * The object marked for deletion: deletionTimestamp, a grace period of 0, the next generation. The
 * same object if it was marked before.
 */
export function markDeleted(ref: ResourceRef, live: JsonObject, mark: DeletionMark): JsonObject {
  const metadata = objectAt(live, 'metadata') ?? {};
  const finalizers = [...new Set([...listAt(metadata, 'finalizers'), ...(mark.addFinalizers ?? [])])];
  const added = finalizers.length > listAt(metadata, 'finalizers').length ? { finalizers } : {};
  if (textAt(metadata, 'deletionTimestamp') !== '') {
    return added.finalizers === undefined ? live : { ...live, metadata: { ...metadata, ...added } };
  }
  const generation =
    typeof metadata['generation'] === 'number' ? { generation: metadata['generation'] + 1 } : {};
  const marked = {
    ...metadata,
    ...added,
    ...generation,
    deletionTimestamp: mark.now,
    deletionGracePeriodSeconds: 0,
  };
  const object: JsonObject = { ...live, metadata: marked };
  return strategyOf(ref).onDelete?.(object) ?? object;
}
