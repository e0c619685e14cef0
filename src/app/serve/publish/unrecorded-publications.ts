import type { Logger } from '../../../core/ports.ts';
import { clusterChange } from '../../../core/publish/cluster-change.ts';
import {
  type DesiredGroup,
  type ListedPage,
  publishedClusters,
} from '../../../core/publish/decision-page.ts';
import type { DecisionRecord } from '../../../core/publish/decision-record.ts';
import type { Digest } from '../../../core/publish/plan-token.ts';
import type { PublishState } from '../../../core/publish/publish-state.ts';
import {
  groupsOfPages,
  membersOf,
  pagesDigest,
  recordedGroups,
  sameMembers,
} from '../../../core/publish/recorded-groups.ts';
import type { PublishMemory } from './publish-memory.ts';

/** What was found on the hub and is in no record: published in the moment in which the process before this one was killed. */
export interface UnrecordedPublication {
  readonly groups: readonly DesiredGroup[];
  /** Compared with the last record of the placement. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The change that was being made, when it took clusters away: it was noted before. */
  readonly change: PublishState['change'];
}

/**
 * Records are written behind the publications, so that nobody waits for them. What a killed process did not get to write is found at
 * the next start: on its first look at a placement, before it writes anything, the controller compares the pages with the last record.
 */
export class UnrecordedPublications {
  readonly #memory: Pick<PublishMemory, 'get'>;
  readonly #digest: Digest;
  readonly #log: Logger;
  readonly #looked = new Set<string>();
  readonly #newest = new Map<string, DecisionRecord>();
  #oldestAtMs = -Infinity;
  #readable = true;
  #isForgotten = false;
  readonly #loading: Promise<void>;

  constructor(parts: {
    readonly memory: Pick<PublishMemory, 'get'>;
    readonly digest: Digest;
    readonly log: Logger;
    /** Oldest first. */
    readonly records: Promise<readonly DecisionRecord[]>;
  }) {
    this.#memory = parts.memory;
    this.#digest = parts.digest;
    this.#log = parts.log;
    this.#loading = this.#load(parts.records);
  }

  /** Resolves when the records were read, or could not be; nothing is to be looked at before. */
  whenLoaded(): Promise<void> {
    return this.#loading;
  }

  /** Another process published after these records were made, so they do not describe what is on the hub. */
  forget(): void {
    this.#isForgotten = true;
    this.#newest.clear();
  }

  async #load(loading: Promise<readonly DecisionRecord[]>): Promise<void> {
    try {
      const records = await loading;
      if (this.#isForgotten) return;
      for (const record of records) this.#newest.set(record.placement, record);
      const [oldest] = records;
      if (oldest !== undefined) this.#oldestAtMs = Date.parse(oldest.publishedAt);
    } catch (error) {
      this.#readable = false;
      this.#log.warn('records not read, so that none is made of what was published before', { error });
    }
  }

  /** The newest record of the placement, until it was looked at. */
  lastRecordOf(key: string): DecisionRecord | undefined {
    return this.#newest.get(key);
  }

  /** Undefined on every look but the first, and when the pages are as the last record says. */
  lookAt(key: string, pages: readonly ListedPage[]): UnrecordedPublication | undefined {
    if (this.#looked.has(key)) return undefined;
    this.#looked.add(key);
    const newest = this.#newest.get(key);
    this.#newest.delete(key);
    const groups = groupsOfPages(pages);
    if (!this.#readable || this.#isRecorded(key, groups, newest)) return undefined;
    const before = newest === undefined ? [] : recordedGroups(newest).flatMap(({ clusters }) => clusters);
    const change = clusterChange([...new Set(before)], publishedClusters(pages));
    return { groups, ...change, change: this.#memory.get(key)?.change };
  }

  #isRecorded(key: string, groups: readonly DesiredGroup[], newest: DecisionRecord | undefined): boolean {
    const members = groups.map(membersOf);
    if (newest !== undefined) return sameMembers(recordedGroups(newest), members);
    if (members.every(({ clusters }) => clusters.length === 0)) return true;
    const state = this.#memory.get(key);
    // The record of old was dropped, to stay within the limit.
    return (
      state?.record !== undefined &&
      state.publishedAtMs < this.#oldestAtMs &&
      state.pages === pagesDigest(this.#digest, groups)
    );
  }
}
