import { setImmediate as nextTurn } from 'node:timers/promises';
import { getOwn, isObject, type JsonObject, listAt, textAt } from '../json/json-value.ts';
import { type Cluster, metadataOf } from '../request/cluster.ts';
import { LocalClient } from '../rest/local-client.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { StoreEvent } from '../store/subscriptions.ts';
import type { StorageKey, StoredObject } from '../store/stored-object.ts';
import type { ReconcileLoop } from '@berth/runtime/loop/reconciler';
import { controllerLoop, type HubController } from './controller-loop.ts';

const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

/**
 * Deletes objects whose owners no longer exist, and executes foreground deletion and orphaning. Its work
 * is derived from the stored objects, so a killed process loses none: objects with owners or such
 * finalizers are checked again at the start.
 */
export class GarbageCollector implements HubController {
  readonly #cluster: Cluster;
  readonly #client: LocalClient;
  readonly #loop: ReconcileLoop;
  #unsubscribe: (() => void) | undefined;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#client = new LocalClient(cluster, 'garbage-collector');
    this.#loop = controllerLoop('garbage', (key) => this.#collect(key), cluster);
  }

  start(): void {
    const { store } = this.#cluster;
    this.#unsubscribe = store.subscribeAll((storage, events) => {
      for (const event of events) this.#onEvent(storage, event);
    });
    for (const storage of store.storages())
      for (const entry of store.list(storage)) this.#enqueue(storage, entry);
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#loop.close();
  }

  #onEvent(storage: string, event: StoreEvent): void {
    if (event.type !== 'deleted') {
      this.#enqueue(storage, event.entry);
      return;
    }
    for (const dependent of this.#cluster.store.owners.dependentsOf(event.entry.facts.uid))
      this.#loop.add(encodeKey(dependent));
    // This may have been the last dependent that its owner waits for.
    for (const uid of event.entry.facts.owners) {
      const key = this.#cluster.store.owners.find(uid);
      if (key !== undefined) this.#loop.add(encodeKey(key));
    }
  }

  #enqueue(storage: string, entry: StoredObject): void {
    const { deleting, owners } = entry.facts;
    if (owners.length === 0 && !(deleting && isHeld(entry.object))) return;
    this.#loop.add(encodeKey({ storage, namespace: entry.namespace, name: entry.name }));
  }

  async #collect(encoded: string): Promise<void> {
    const key = decodeKey(encoded);
    const entry = this.#cluster.store.get(key);
    const ref = this.#refOf(key.storage);
    if (entry === undefined || ref === undefined) return;
    // A long chain of owned objects must not keep requests waiting.
    await nextTurn();
    const metadata = metadataOf(entry.object);
    const deleting = getOwn(metadata, 'deletionTimestamp') !== undefined;
    const finalizers = listAt(metadata, 'finalizers');
    if (deleting && finalizers.includes(ORPHAN)) return this.#orphanDependents(ref, key, entry.object);
    if (deleting && finalizers.includes(FOREGROUND)) return this.#deleteDependents(ref, key, entry.object);
    if (!deleting) await this.#deleteIfUnowned(ref, key, entry.object);
  }

  async #deleteIfUnowned(ref: ResourceRef, key: StorageKey, object: JsonObject): Promise<void> {
    const owners = ownersOf(object);
    const liveOwners = owners.filter((owner) => this.#isAlive(textAt(owner, 'uid'), key));
    if (owners.length === 0 || liveOwners.length === owners.length) return;
    const uid = textAt(metadataOf(object), 'uid');
    if (liveOwners.length > 0) {
      const patch = { metadata: { uid, ownerReferences: liveOwners } };
      await this.#client.mergePatch(ref, key, patch);
      return;
    }
    await this.#client.delete(ref, key, {
      uid,
      propagation: hasFinalizer(object) ? undefined : 'Background',
    });
  }

  /**
   * A namespaced owner in another namespace is invalid and counts as absent, so the dependent is
   * deleted.
   */
  #isAlive(uid: string, dependent: StorageKey): boolean {
    const owner = this.#cluster.store.owners.find(uid);
    return owner !== undefined && (owner.namespace === '' || owner.namespace === dependent.namespace);
  }

  /** Such an owner keeps the dependent. Source: attemptToDeleteItem of kube-controller-manager, garbagecollector.go. */
  #isStaying(uid: string, dependent: StorageKey): boolean {
    const key = this.#cluster.store.owners.find(uid);
    const entry = key && this.#cluster.store.get(key);
    if (entry === undefined || !this.#isAlive(uid, dependent)) return false;
    return !(entry.facts.deleting && listAt(metadataOf(entry.object), 'finalizers').includes(FOREGROUND));
  }

  async #orphanDependents(ref: ResourceRef, key: StorageKey, object: JsonObject): Promise<void> {
    const uid = textAt(metadataOf(object), 'uid');
    for (const dependent of this.#cluster.store.owners.dependentsOf(uid)) {
      const entry = this.#cluster.store.get(dependent);
      const dependentRef = this.#refOf(dependent.storage);
      if (entry === undefined || dependentRef === undefined) continue;
      const remaining = ownersOf(entry.object).filter((owner) => textAt(owner, 'uid') !== uid);
      const ownerReferences = remaining.length > 0 ? remaining : null;
      await this.#client.mergePatch(dependentRef, dependent, { metadata: { ownerReferences } });
    }
    await this.#removeFinalizer(ref, key, ORPHAN);
  }

  async #deleteDependents(ref: ResourceRef, key: StorageKey, object: JsonObject): Promise<void> {
    const uid = textAt(metadataOf(object), 'uid');
    let blocking = 0;
    for (const dependent of this.#cluster.store.owners.dependentsOf(uid)) {
      const dependentRef = this.#refOf(dependent.storage);
      const entry = this.#cluster.store.get(dependent);
      if (entry === undefined || dependentRef === undefined) continue;
      const owners = ownersOf(entry.object);
      const others = owners.filter((owner) => textAt(owner, 'uid') !== uid);
      if (others.some((owner) => this.#isStaying(textAt(owner, 'uid'), dependent))) {
        await this.#client.mergePatch(dependentRef, dependent, { metadata: { ownerReferences: others } });
        continue;
      }
      const reference = owners.find((owner) => textAt(owner, 'uid') === uid);
      await this.#client.delete(dependentRef, dependent, { propagation: 'Foreground' });
      const stays = this.#cluster.store.get(dependent) !== undefined;
      if (stays && reference?.['blockOwnerDeletion'] === true) blocking += 1;
    }
    if (blocking === 0) await this.#removeFinalizer(ref, key, FOREGROUND);
  }

  async #removeFinalizer(ref: ResourceRef, key: StorageKey, finalizer: string): Promise<void> {
    const current = this.#client.get(ref, key);
    if (current === undefined) return;
    const remaining = listAt(metadataOf(current), 'finalizers').filter((name) => name !== finalizer);
    await this.#client.mergePatch(ref, key, {
      metadata: { finalizers: remaining.length > 0 ? remaining : null },
    });
  }

  #refOf(storage: string): ResourceRef | undefined {
    return this.#cluster.scheme.tables().find(({ definition }) => definition.storageKey === storage);
  }
}

function ownersOf(object: JsonObject): JsonObject[] {
  return listAt(metadataOf(object), 'ownerReferences').filter(isObject);
}

/** Whether the object has a finalizer of this controller. */
function isHeld(object: JsonObject): boolean {
  const finalizers = listAt(metadataOf(object), 'finalizers');
  return finalizers.includes(FOREGROUND) || finalizers.includes(ORPHAN);
}

function hasFinalizer(object: JsonObject): boolean {
  return listAt(metadataOf(object), 'finalizers').length > 0;
}

function encodeKey(key: StorageKey): string {
  return `${key.storage}\n${key.namespace}\n${key.name}`;
}

function decodeKey(text: string): StorageKey {
  const [storage = '', namespace = '', name = ''] = text.split('\n');
  return { storage, namespace, name };
}
