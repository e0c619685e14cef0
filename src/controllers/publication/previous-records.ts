import type { Logger } from '@berth/runtime/logger';
import type { DecisionRecord } from '../../core/publish/record/decision-record.ts';
import type { PreviousProcessRecords } from '../../core/publish/machine/state/placement-facts.ts';

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
