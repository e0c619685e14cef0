import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import type { Authorizer } from '../auth/rbac/authorizer.ts';
import type { JsonObject } from '../json/json-value.ts';
import type { PolicySet } from '../policies/policy-set.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { Scheme } from '../scheme/scheme.ts';
import type { ObjectStore } from '../store/object-store.ts';
import type { StoredObject } from '../store/stored-object.ts';
import type { Conversions } from '../webhooks/conversions.ts';
import type { WebhookClients } from '../webhooks/webhook-clients.ts';
import type { AdmissionCheck } from '../write/write-request.ts';

/** One Kubernetes API, the hub or a member cluster, as request handlers use it. */
export interface Cluster {
  /** '' for the hub, else the member's name. */
  readonly name: string;
  readonly scheme: Scheme;
  readonly store: ObjectStore;
  readonly authorizer: Authorizer;
  readonly admission: readonly AdmissionCheck[];
  readonly policies: PolicySet;
  readonly snapshots: ListSnapshots;
  readonly conversions: Conversions;
  readonly webhooks: WebhookClients;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called before an object is stored: completes it (the status of a CRD) or refuses it. */
  readonly complete: (ref: ResourceRef, object: JsonObject) => JsonObject;
  /** Called after an object was stored or removed, in the same turn: registers custom resources and the like. */
  readonly afterWrite: (ref: ResourceRef, written: WrittenObject) => void;
}

export interface WrittenObject {
  readonly entry: StoredObject;
  readonly removed: boolean;
}

let latest = { second: Number.NaN, text: '' };

/** RFC 3339 in whole seconds, as API servers write times. The text of the latest second is kept: thousands of writes share it. */
export function timestamp(clock: Pick<Clock, 'now'>): string {
  const second = Math.floor(clock.now() / 1000);
  if (second !== latest.second)
    latest = { second, text: `${new Date(second * 1000).toISOString().slice(0, 19)}Z` };
  return latest.text;
}

export function storageKeyOf(
  ref: ResourceRef,
  namespace: string,
  name: string,
): { storage: string; namespace: string; name: string } {
  return {
    storage: ref.definition.storageKey,
    namespace: ref.definition.namespaced ? namespace : '',
    name,
  };
}

export function metadataOf(object: JsonObject): JsonObject {
  return object['metadata'] as JsonObject;
}

const KEPT_MS = 5 * 60_000;
const KEPT_SNAPSHOTS = 200;

interface Snapshot {
  readonly entries: readonly StoredObject[];
  readonly expiresAtMs: number;
}

/**
 * Snapshots of lists that clients read part by part. Entries are immutable, so a snapshot costs one
 * pointer per object. A request for a part of an expired snapshot gets 410, as from a real API
 * server after compaction.
 */
export class ListSnapshots {
  readonly #clock: Clock;
  readonly #snapshots = new Map<string, Snapshot>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  keep(key: string, entries: readonly StoredObject[]): void {
    this.#dropExpired();
    this.#snapshots.delete(key);
    this.#snapshots.set(key, { entries, expiresAtMs: this.#clock.now() + KEPT_MS });
    const oldest = this.#snapshots.keys().next();
    if (this.#snapshots.size > KEPT_SNAPSHOTS && oldest.done !== true) this.#snapshots.delete(oldest.value);
  }

  find(key: string): readonly StoredObject[] | undefined {
    this.#dropExpired();
    return this.#snapshots.get(key)?.entries;
  }

  #dropExpired(): void {
    const nowMs = this.#clock.now();
    for (const [key, snapshot] of this.#snapshots)
      if (snapshot.expiresAtMs <= nowMs) this.#snapshots.delete(key);
  }
}
