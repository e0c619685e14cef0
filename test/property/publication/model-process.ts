import { createHash } from 'node:crypto';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { specHash } from '../../../src/core/publish/judge/decide-publication.ts';
import { placementOfPage } from '../../../src/core/publish/pages/decision-page.ts';
import {
  decidedText,
  type DecisionRecord,
  sealRecord,
} from '../../../src/core/publish/record/decision-record.ts';
import type {
  PlacementAction,
  PlacementEvent,
} from '../../../src/core/publish/machine/state/placement-event.ts';
import {
  INITIAL_STATE,
  type PassFacts,
  type PlacementState,
} from '../../../src/core/publish/machine/state/placement-state.ts';
import { step } from '../../../src/core/publish/machine/step.ts';
import type { PublishedDecision } from '../../../src/core/publish/pages/published-placements.ts';
import type { PublishState } from '../../../src/core/publish/judge/publish-state.ts';
import { type HubChange, type HubRequest, KEY } from './model-hub.ts';

export const digest = (text: string): string => createHash('sha1').update(text).digest('hex');

/** What of a process outlives it. */
export interface Disk {
  state: PublishState | undefined;
  /** Oldest first. */
  records: readonly DecisionRecord[];
  /** Versions of the backups from which the hub was restored. */
  restoredTo: readonly string[];
}

/** A result, and what the snapshot was when it was decided. */
export interface Decided {
  readonly result: ScheduleResult;
  /** What the pages listed. */
  readonly knew: ReadonlySet<string>;
  /** The commit of which half was on the hub; undefined: none was under way. */
  readonly halfOf: number | undefined;
  /** The last commit that had begun. */
  readonly commit: number;
  readonly revision: number;
}

export interface InFlight {
  readonly action: HubRequest | Extract<PlacementAction, { kind: 'persist' | 'yield' }>;
}

/** What the rest of the model does for a process. */
export interface Surroundings {
  /** As the clock of the machine says; it jumps. */
  readonly now: () => number;
  /** Milliseconds that really went by. */
  readonly elapsedMs: () => number;
  readonly factsFor: (
    process: ModelProcess,
    view: Pick<PassFacts, 'key' | 'placement' | 'pages' | 'seenPage'>,
  ) => PassFacts;
  /** Another action than a request. */
  readonly did: (process: ModelProcess, action: PlacementAction) => void;
  readonly recorded: (process: ModelProcess, record: DecisionRecord) => void;
}

/** A controller: it carries out what the machine asks for, one request after the other, and may die at any time. */
export class ModelProcess {
  state: PlacementState = INITIAL_STATE;
  placement: Placement | undefined;
  readonly pages = new Map<string, KubeObject>();
  memory: PublishState | undefined;
  decided: Decided | undefined;
  isDecisionDue = true;
  lookAtMs = Infinity;
  /** Uid of the placement that its last pass is about. */
  passUid: string | undefined;
  /** It took the lead from another process, so that its disk counts for nothing. */
  hasTakenOver = false;
  /** The watches broke. */
  isListDue = true;
  /** It has listed once: before that it neither decides nor looks. */
  isSynced = false;
  /** Of the process before this one; undefined once the pages were compared with it. */
  pastRecord: DecisionRecord | undefined;
  inFlight: InFlight[] = [];
  readonly #news: { page: HubChange[]; placement: HubChange[] } = { page: [], placement: [] };
  readonly disk: Disk;
  readonly #around: Surroundings;

  constructor(disk: Disk, around: Surroundings) {
    [this.disk, this.#around] = [disk, around];
    this.memory = disk.state;
    this.pastRecord = disk.records.at(-1);
  }

  /** It leads from now on, after another process. */
  takeOver(): void {
    this.hasTakenOver = true;
    this.memory = this.disk.state = this.pastRecord = undefined;
    this.lookSoon();
  }

  /** The watch will show it. */
  take(change: HubChange): void {
    this.#news[change.kind].push(change);
  }

  hasNews(kind: HubChange['kind']): boolean {
    return this.#news[kind].length > 0;
  }

  /** The watch of one kind shows its next change. */
  see(kind: HubChange['kind'], isLeader: boolean): void {
    const change = this.#news[kind].shift();
    if (change !== undefined) this.#show(change, isLeader);
  }

  /** The watches broke, and everything is listed again. */
  list(
    {
      placement,
      pages,
      version,
    }: {
      readonly placement: Placement | undefined;
      readonly pages: ReadonlyMap<string, KubeObject>;
      readonly version: number;
    },
    isLeader: boolean,
  ): void {
    this.#news.page.length = this.#news.placement.length = 0;
    this.isListDue = false;
    this.isSynced = true;
    this.#show(
      { kind: 'placement', name: '', after: placement as unknown as KubeObject | undefined },
      isLeader,
    );
    for (const [name, after] of pages) this.#show({ kind: 'page', name, after }, isLeader);
    for (const name of [...this.pages.keys()])
      if (!pages.has(name)) this.#show({ kind: 'page', name, after: undefined }, isLeader);
    const isPlacementThere = placement !== undefined;
    this.send({ kind: 'pages-listed', hubVersion: String(version), isLeader, isPlacementThere });
  }

  send(event: PlacementEvent): void {
    const { state, actions } = step(this.state, event, this.#around.now());
    this.state = state;
    for (const action of actions) this.#begin(action);
  }

  look(): void {
    this.lookAtMs = Infinity;
    this.passUid = this.placement?.metadata.uid;
    if (this.placement === undefined) this.send({ kind: 'gone' });
    else this.send({ kind: 'reconcile', facts: this.facts(this.placement) });
  }

  facts(placement: Placement): PassFacts {
    return this.#around.factsFor(this, { ...this.seen(), placement });
  }

  seen(): Pick<PassFacts, 'key' | 'pages' | 'seenPage'> {
    const pages = [...this.pages.values()].filter((page) => placementOfPage(page) === KEY);
    return { key: KEY, pages, seenPage: (name) => this.pages.get(name) };
  }

  lookSoon(afterMs = 0): void {
    this.lookAtMs = Math.min(this.lookAtMs, this.#around.elapsedMs() + afterMs);
  }

  #show({ kind, name, after }: HubChange, isLeader: boolean): void {
    if (kind === 'placement') {
      const before = this.placement as unknown as KubeObject | undefined;
      if (before === after) return;
      this.placement = after as unknown as Placement | undefined;
      return this.send({
        kind: 'placement-changed',
        change: { before, after },
        isInput: () => isInput(before, after),
      });
    }
    const before = this.pages.get(name);
    if (before === after) return;
    if (after === undefined) this.pages.delete(name);
    else this.pages.set(name, after);
    const owners = [before, after].map((page) => page && placementOfPage(page));
    const isPlacementThere = this.placement !== undefined;
    if (owners.includes(KEY))
      this.send({ kind: 'page-changed', change: { before, after }, isLeader, isPlacementThere });
  }

  #begin(action: PlacementAction): void {
    this.#around.did(this, action);
    switch (action.kind) {
      case 'read-pages':
      case 'fence-page':
      case 'write-page':
      case 'patch-status':
      case 'annotate-placement':
      case 'yield':
        return void this.inFlight.push({ action });
      case 'persist':
        this.memory = action.state;
        return void this.inFlight.push({ action });
      case 'remember':
        this.memory = action.state;
        return;
      case 'forget':
        this.memory = undefined;
        return;
      case 'drop-record':
        this.pastRecord = undefined;
        return;
      case 'record':
        return this.send({ kind: 'recorded', hash: this.#record(action.entry) });
      case 'decide-again':
        this.isDecisionDue = true;
        return;
      case 'enqueue':
        return this.lookSoon();
      case 'end': {
        const { end } = action;
        if (end.kind !== 'done') this.lookSoon(end.kind === 'requeue' ? end.afterMs : 1_000);
        return;
      }
      default:
        return;
    }
  }

  #record(entry: PublishedDecision): string {
    const { result, groups, added, removed, released, found } = entry;
    const { record } = sealRecord(digest, {
      placement: KEY,
      spec: specHash(digest, result.placement),
      publishedAt: new Date(found?.atMs ?? this.#around.now()).toISOString(),
      engineVersion: 'x',
      commit: null,
      inventoryRevision: this.disk.records.length,
      inputs: '',
      decided: decidedText(result),
      clusters: groups.reduce((sum, { decisions }) => sum + decisions.length, 0),
      published: groups,
      added,
      removed,
      released: released === undefined ? null : { token: released.token, by: 'ada' },
      ...(found && { afterRestart: true as const, ...(found.counts && { counts: true as const }) }),
    });
    this.disk.records = [...this.disk.records, record];
    this.#around.recorded(this, record);
    return record.hash;
  }
}

function isInput(before: KubeObject | undefined, after: KubeObject | undefined): boolean {
  const inputs = (object: KubeObject | undefined): string =>
    JSON.stringify([object?.metadata.uid, object?.metadata.generation, object?.metadata.annotations]);
  return before === undefined || after === undefined || inputs(before) !== inputs(after);
}
