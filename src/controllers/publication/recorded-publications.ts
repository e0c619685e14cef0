import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Placement } from '@berth/ocm/kind/placement';
import type { Clock } from '@berth/runtime/clock/clock';
import { InputError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import type { Digest } from '../../core/publish/approval/approval-code.ts';
import { specHash } from '../../core/publish/judge/decide-publication.ts';
import type { PreviousProcessRecords } from '../../core/publish/machine/state/placement-state.ts';
import {
  type CompactRecord,
  RECORDS_NAME,
  recordsOf,
  stateFromRecords,
} from '../../core/publish/record/compact-record.ts';
import type { DecisionRecord } from '../../core/publish/record/decision-record.ts';
import { dataOf } from './hub-records.ts';
import type { PublishStateStore } from './publish-state-store.ts';

export interface RecordedPublicationsOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly digest: Digest;
  readonly publishStates: PublishStateStore;
}

/**
 * Reads the publications of earlier processes from the records on the hub, for placements that the
 * data directory does not know: their removals count toward the budgets, and releases that they
 * used stay used. Read once per namespace, before its first such placement is published. Rejected:
 * reading them only after a takeover. A process that is killed just after its takeover starts again
 * with a data directory that does not know the placements.
 */
export class RecordedPublications {
  readonly #options: RecordedPublicationsOptions;
  readonly #records = new Map<string, Promise<ReadonlyMap<string, readonly CompactRecord[]>>>();
  readonly #recalled = new Set<string>();

  constructor(options: RecordedPublicationsOptions) {
    this.#options = options;
  }

  /** @throws TransientError; an InputError (no right to read records) is logged, and nothing is recalled */
  async recall(placement: Placement): Promise<void> {
    const { publishStates, digest, clock } = this.#options;
    const key = namespacedName(placement.metadata);
    if (this.#recalled.has(key)) return;
    if (publishStates.get(key) !== undefined) return;
    const records = await this.#recordsIn(placement.metadata.namespace ?? '');
    this.#recalled.add(key);
    const state = stateFromRecords(records.get(key) ?? [], {
      specHash: specHash(digest, placement),
      nowMs: clock.now(),
      createdAt: placement.metadata.creationTimestamp,
    });
    if (state !== undefined) publishStates.set(key, state);
  }

  #recordsIn(namespace: string): Promise<ReadonlyMap<string, readonly CompactRecord[]>> {
    let reading = this.#records.get(namespace);
    if (reading === undefined) {
      reading = this.#read(namespace);
      this.#records.set(namespace, reading);
      reading.catch(() => this.#records.delete(namespace));
    }
    return reading;
  }

  async #read(namespace: string): Promise<ReadonlyMap<string, readonly CompactRecord[]>> {
    const { api, log } = this.#options;
    try {
      const object = await api.get(CONFIG_MAP, { namespace, name: RECORDS_NAME });
      const records = new Map<string, CompactRecord[]>();
      for (const record of recordsOf(dataOf(object)))
        records.set(record.placement, [...(records.get(record.placement) ?? []), record]);
      return records;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      log.warn('records were not read, so earlier removals do not count', { namespace, error });
      return new Map();
    }
  }
}

/** The records of the previous process, until the placements have been compared with them. */
export class PreviousRecords {
  readonly #newest = new Map<string, DecisionRecord>();
  readonly #log: Logger;
  #oldestAtMs = -Infinity;
  #areReadable = true;
  #isForgotten = false;
  readonly #loading: Promise<void>;

  /** @param records oldest first */
  constructor(records: Promise<readonly DecisionRecord[]>, log: Logger) {
    this.#log = log;
    this.#loading = this.#load(records);
  }

  /** Resolves when the records were read or could not be read. No placement may be handled before. */
  whenLoaded(): Promise<void> {
    return this.#loading;
  }

  /** Called when another process has published since, so that these records no longer describe the hub. */
  forget(): void {
    this.#isForgotten = true;
    this.#newest.clear();
  }

  /** @param placement `namespace/name` */
  of(placement: string): PreviousProcessRecords {
    const [newest, oldestAtMs, areReadable] = [
      this.#newest.get(placement),
      this.#oldestAtMs,
      this.#areReadable,
    ];
    return { newest, oldestAtMs, areReadable };
  }

  /** Called when the placement was compared with its record. */
  drop(placement: string): void {
    this.#newest.delete(placement);
  }

  async #load(loading: Promise<readonly DecisionRecord[]>): Promise<void> {
    try {
      const records = await loading;
      if (this.#isForgotten) return;
      for (const record of records) this.#newest.set(record.placement, record);
      const [oldest] = records;
      if (oldest !== undefined) this.#oldestAtMs = Date.parse(oldest.publishedAt);
    } catch (error) {
      this.#areReadable = false;
      this.#log.warn('records were not read, so earlier publications are not recorded', { error });
    }
  }
}
