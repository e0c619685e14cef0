import { InputError } from '@berth/runtime/errors';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { Placement } from '@berth/ocm/kind/placement';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import { type CompactRecord, RECORDS_NAME, recordsOf } from '../../core/publish/record/compact-record.ts';
import { specHash } from '../../core/publish/judge/decide-publication.ts';
import type { Digest } from '../../core/publish/approval/plan-token.ts';
import { stateFromRecords } from '../../core/publish/record/state-from-records.ts';
import { dataOf } from './hub-records.ts';
import type { PublicationJournal } from './publication-journal.ts';

export interface RecordedPublicationsOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly digest: Digest;
  readonly publicationJournal: PublicationJournal;
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
    const { publicationJournal, digest, clock } = this.#options;
    const key = namespacedName(placement.metadata);
    if (this.#recalled.has(key)) return;
    if (publicationJournal.get(key) !== undefined) return;
    const records = await this.#recordsIn(placement.metadata.namespace ?? '');
    this.#recalled.add(key);
    const state = stateFromRecords(records.get(key) ?? [], {
      specHash: specHash(digest, placement),
      nowMs: clock.now(),
      createdAt: placement.metadata.creationTimestamp,
    });
    if (state !== undefined) publicationJournal.set(key, state);
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
