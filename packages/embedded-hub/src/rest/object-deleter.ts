import { type JsonObject, getOwn, listAt, textAt, objectAt } from '../json/json-value.ts';
import { type Cluster, metadataOf, storageKeyOf, timestamp } from '../request/cluster.ts';
import type { DeleteOptions, Propagation } from '../request/write-options.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { storedRef, toVersion } from '../scheme/to-version.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { StatusError } from '../wire/status-error.ts';
import { notFound } from '../wire/status-errors.ts';
import type { UserInfo } from '../wire/user-info.ts';
import { strategyOf } from '../write/strategy/all-strategies.ts';
import { admitDeletion } from './dynamic-write.ts';
import { isFinalized, storeObject } from './object-writer.ts';
import type { WebhookResponses } from './webhook-responses.ts';

export interface DeleteTarget {
  readonly ref: ResourceRef;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly options: DeleteOptions;
  /** Part of a deletecollection request: admission gets no name, as in the API server. */
  readonly ofCollection?: true;
  /** Calls no admission webhooks, for objects that the hub itself needs. */
  readonly withoutWebhooks?: true | undefined;
}

/** `gone`: removed immediately. `terminating`: removed when its finalizers are done. */
export interface DeleteResult {
  readonly outcome: 'gone' | 'terminating';
  /**
   * In the version of the request, or in the stored version if a webhook would have to convert it.
   */
  readonly object: JsonObject;
  readonly rv: number;
  readonly warnings: readonly string[];
}

export class ObjectDeleter {
  readonly #cluster: Cluster;
  readonly #responses: WebhookResponses;

  /** @param responses of webhooks; one for each deletion */
  constructor(cluster: Cluster, responses: WebhookResponses) {
    this.#cluster = cluster;
    this.#responses = responses;
  }

  /** @throws StatusError 404, 409 on a failed precondition, 403 from admission */
  delete(wanted: DeleteTarget): DeleteResult {
    const { definition } = wanted.ref;
    const { options } = wanted;
    const live = this.#cluster.store.get(storageKeyOf(wanted.ref, wanted.namespace, wanted.name));
    if (live === undefined) throw notFound(definition, wanted.name);
    // A deletion needs no conversion, so that an object whose webhook no longer exists can be
    // deleted.
    const storedVersion =
      definition.conversion?.kind === 'webhook' ? storedRef(live.object, definition) : undefined;
    const ref = storedVersion ?? wanted.ref;
    const target = { ...wanted, ref };
    checkPreconditions(live, ref, options);
    const warnings = this.#admit(target, live);
    const next = this.#nextState(target, live);
    if (next === undefined)
      return { outcome: 'terminating', object: toVersion(live.object, ref), rv: live.rv, warnings };
    const removed = isFinalized(next);
    const outcome = removed ? 'gone' : 'terminating';
    if (options.dryRun) return { outcome, object: next, rv: 0, warnings };
    const entry = storeObject(this.#cluster, { ref, object: next, removed, storedAs: storedVersion });
    return { outcome, object: toVersion(entry.object, ref), rv: entry.rv, warnings };
  }

  #admit(target: DeleteTarget, live: StoredObject): readonly string[] {
    const { ref, user } = target;
    const { admission, authorizer } = this.#cluster;
    const object = toVersion(live.object, ref);
    for (const check of admission)
      check({
        operation: 'DELETE',
        ref,
        subresource: '',
        object,
        old: object,
        user,
        can: (attributes) => authorizer.allows(user, attributes),
      });
    if (target.withoutWebhooks === true) return [];
    const { namespace, options } = target;
    const name = target.ofCollection === true ? '' : target.name;
    const subject = { ref, subresource: '', namespace, name, user, old: object };
    const requested = { dryRun: options.dryRun, options: options.requested ?? {} };
    return admitDeletion(this.#cluster, { ...subject, ...requested }, this.#responses);
  }

  /** The object as the deletion leaves it, in the version of the request; undefined when it is being deleted already and nothing changes. */
  #nextState(target: DeleteTarget, live: StoredObject): JsonObject | undefined {
    const object = toVersion(live.object, target.ref);
    const metadata = metadataOf(object);
    const isTerminating = getOwn(metadata, 'deletionTimestamp') !== undefined;
    const finalizers = finalizersFor(object, target.options.propagation);
    const before = listAt(metadata, 'finalizers');
    const same =
      finalizers.length === before.length && finalizers.every((name, index) => name === before[index]);
    if (isTerminating && same) return undefined;
    const updated: JsonObject = { ...object, metadata: withFinalizers(metadata, finalizers) };
    if (isTerminating) return updated;
    return startDeletion(target.ref, updated, { now: timestamp(this.#cluster.clock) });
  }
}

function withFinalizers(metadata: JsonObject, finalizers: readonly string[]): JsonObject {
  const { finalizers: _old, ...rest } = metadata;
  return finalizers.length === 0 ? rest : { ...rest, finalizers: [...finalizers] };
}

const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';
const CRD_CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';

function finalizersFor(object: JsonObject, propagation: Propagation | undefined): string[] {
  const present = listAt(metadataOf(object), 'finalizers').filter(
    (item): item is string => typeof item === 'string',
  );
  const isCrd = object['kind'] === 'CustomResourceDefinition';
  const first = getOwn(metadataOf(object), 'deletionTimestamp') === undefined;
  // The namespace controller deletes the objects first, and then removes this finalizer.
  if (isCrd && first && !present.includes(CRD_CLEANUP)) present.push(CRD_CLEANUP);
  if (propagation === undefined) return present;
  const others = present.filter((name) => name !== FOREGROUND && name !== ORPHAN);
  if (propagation === 'Background') return others;
  return [...others, propagation === 'Foreground' ? FOREGROUND : ORPHAN];
}

function checkPreconditions(live: StoredObject, ref: ResourceRef, options: DeleteOptions): void {
  const metadata = metadataOf(live.object);
  const uid = textAt(metadata, 'uid');
  if (options.uid !== '' && options.uid !== uid)
    throw preconditionFailed(
      live,
      ref,
      `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  if (options.resourceVersion !== '' && options.resourceVersion !== String(live.rv))
    throw preconditionFailed(
      live,
      ref,
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${String(live.rv)}). The object might have been modified`,
    );
}

/** Only in this message the API server names the kind instead of the plural. */
function preconditionFailed(live: StoredObject, ref: ResourceRef, why: string): StatusError {
  const { kind } = ref.definition;
  return new StatusError(409, 'Conflict', `Operation cannot be fulfilled on ${kind} "${live.name}": ${why}`, {
    name: live.name,
    kind,
  });
}

interface DeletionStart {
  /** RFC 3339, whole seconds. */
  readonly now: string;
  /** Finalizers to add, e.g. `foregroundDeletion`. */
  readonly addFinalizers?: readonly string[] | undefined;
}

/**
 * The object marked for deletion: deletionTimestamp, a grace period of 0, the next generation. The
 * same object if its deletion started before.
 */
export function startDeletion(ref: ResourceRef, live: JsonObject, start: DeletionStart): JsonObject {
  const metadata = objectAt(live, 'metadata') ?? {};
  const finalizers = [...new Set([...listAt(metadata, 'finalizers'), ...(start.addFinalizers ?? [])])];
  const added = finalizers.length > listAt(metadata, 'finalizers').length ? { finalizers } : {};
  if (textAt(metadata, 'deletionTimestamp') !== '') {
    return added.finalizers === undefined ? live : { ...live, metadata: { ...metadata, ...added } };
  }
  const generation =
    typeof metadata['generation'] === 'number' ? { generation: metadata['generation'] + 1 } : {};
  const terminating = {
    ...metadata,
    ...added,
    ...generation,
    deletionTimestamp: start.now,
    deletionGracePeriodSeconds: 0,
  };
  const object: JsonObject = { ...live, metadata: terminating };
  return strategyOf(ref).onDelete?.(object) ?? object;
}
