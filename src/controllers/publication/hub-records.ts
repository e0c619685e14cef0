import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeApi, WriteOptions } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import { ConflictError, InputError } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import type { Digest } from '../../core/publish/approval/approval-code.ts';
import {
  type CompactRecord,
  compactRecord,
  selectNewRecords,
  planRecordData,
  RECORDS_LABEL,
  RECORDS_NAME,
} from '../../core/publish/record/compact-record.ts';
import type { DecisionRecord } from '../../core/publish/record/decision-record.ts';

/** Publications within this time are written in one request. */
const GATHER_MS = 1_000;
/**
 * A write reads all records of a namespace. Writes may use this fraction of the time, unless the
 * wait becomes too long.
 */
const WRITING_SHARE = 1 / 10;
const MAX_GATHER_MS = 10_000;
const RETRY_MS = 15_000;
/** If more records wait, the oldest are dropped: a hub that refuses them must not fill the memory. */
const MAX_WAITING = 500;

/** Requests a response with metadata only, since the written object is large and known. */
export const METADATA_ONLY: WriteOptions = { fieldManager: 'berth', metadataOnly: true };

export interface HubRecordsOptions {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Logger;
  readonly digest: Digest;
  /**
   * Stores, also for later processes, the hash of the newest record up to which the hub has all
   * records. Default: not stored.
   */
  readonly writtenThrough?: {
    readonly get: () => string | undefined;
    readonly set: (hash: string) => void;
  };
  /** Whether this process may write. Until then records wait. Default: always true. */
  readonly mayWrite?: (() => boolean) | undefined;
}

/**
 * Keeps compact records of publications on the hub, for the next leader and for users with a kubeconfig. They are
 * written in the background. An error loses records, but never a decision.
 */
export class HubRecords {
  readonly #options: HubRecordsOptions;
  readonly #waiting = new Map<string, CompactRecord[]>();
  #cancel: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #closed = false;
  #last: string | undefined;
  /** How long the last round of writes took. */
  #tookMs = 0;

  constructor(options: HubRecordsOptions) {
    this.#options = options;
  }

  append(record: DecisionRecord): void {
    this.#last = record.hash;
    const namespace = record.placement.slice(0, record.placement.indexOf('/'));
    const earlier = this.#waiting.get(namespace) ?? [];
    this.#wait(namespace, [...earlier, compactRecord(this.#options.digest, record)]);
    this.#schedule(Math.min(MAX_GATHER_MS, Math.max(GATHER_MS, this.#tookMs / WRITING_SHARE)));
  }

  /**
   * Adds the records that a killed process did not write.
   * @param records the newest on this disk, oldest first
   */
  resume(records: readonly DecisionRecord[]): void {
    const writtenThrough = this.#options.writtenThrough?.get();
    const at = records.findLastIndex(({ hash }) => hash === writtenThrough);
    for (const record of records.slice(at + 1)) this.append(record);
  }

  /** Writes the waiting records. There is one attempt. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancel?.();
    await this.#writing;
    await this.#writeAll();
  }

  /** @param records all records of the namespace, oldest first */
  #wait(namespace: string, records: readonly CompactRecord[]): void {
    this.#waiting.set(namespace, records.slice(-MAX_WAITING));
  }

  #schedule(delayMs: number): void {
    if (this.#closed) return;
    this.#cancel ??= this.#options.clock.schedule(delayMs, () => {
      this.#cancel = undefined;
      this.#writing = this.#writing.then(() => this.#writeAll());
    });
  }

  async #writeAll(): Promise<void> {
    if (this.#options.mayWrite?.() === false) return this.#schedule(RETRY_MS);
    const startedAtMs = this.#options.clock.now();
    const batches = [...this.#waiting];
    const last = this.#last;
    let isComplete = true;
    this.#waiting.clear();
    for (const [namespace, records] of batches) {
      try {
        await this.#write(namespace, records);
      } catch (error) {
        this.#options.log.warn('records were not written to the hub', { namespace, error });
        // The namespace is deleted, or Berth may not write there, so a retry is useless.
        if (error instanceof InputError) continue;
        this.#wait(namespace, [...records, ...(this.#waiting.get(namespace) ?? [])]);
        this.#schedule(RETRY_MS);
        isComplete = false;
      }
    }
    this.#tookMs = Math.abs(this.#options.clock.now() - startedAtMs);
    const { writtenThrough } = this.#options;
    if (isComplete && last !== undefined && writtenThrough?.get() !== last) writtenThrough?.set(last);
  }

  async #write(namespace: string, records: readonly CompactRecord[], again = true): Promise<void> {
    const { api } = this.#options;
    const key = { namespace, name: RECORDS_NAME };
    const before = await api.get(CONFIG_MAP, key);
    const data = planRecordData(dataOf(before), selectNewRecords(dataOf(before), records));
    if (Object.keys(data).length === 0) return;
    if (before === undefined) {
      const metadata = { ...key, labels: { [RECORDS_LABEL]: 'true' } };
      const made = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
      try {
        await api.create(CONFIG_MAP, made, METADATA_ONLY);
        return;
      } catch (error) {
        // Another leader wrote it, or the response of a write was lost: add to the existing
        // records.
        if (!(error instanceof ConflictError) || !again) throw error;
        return this.#write(namespace, records, false);
      }
    }
    // A key is never written twice with different texts, so adding one needs no resourceVersion.
    await api.mergePatch(CONFIG_MAP, key, { data }, METADATA_ONLY);
  }
}

export function dataOf(object: KubeObject | undefined): Readonly<Record<string, string>> {
  return (object?.['data'] ?? {}) as Readonly<Record<string, string>>;
}

/**
 * The object after a write: the response, or if that has only metadata, the previous object with
 * the written parts.
 * @param written the complete parts that the write set
 */
export function objectAfterWrite(
  response: KubeObject,
  before: KubeObject,
  written: Readonly<Record<string, unknown>>,
): KubeObject {
  if (response.kind !== 'PartialObjectMetadata') return response;
  // Dropped as in the store: managedFields are not read, and are half of the size.
  const { managedFields: _dropped, ...metadata } = response.metadata;
  return { ...before, ...written, metadata };
}
