import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import { compactRecord, stateFromRecords } from '../../../src/core/publish/record/compact-record.ts';
import { specHash } from '../../../src/core/publish/judge/decide-publication.ts';
import type { DecisionRecord } from '../../../src/core/publish/record/decision-record.ts';
import { recordedGroups } from '../../../src/core/publish/record/last-publication.ts';
import type { PlacementAction } from '../../../src/core/publish/machine/state/placement-event.ts';
import type { PassFacts } from '../../../src/core/publish/machine/state/placement-state.ts';
import {
  type PendingPlan,
  planAfterFollow,
  planAfterJudgement,
} from '../../../src/core/publish/approval/pending-plans.ts';
import { approvalCode } from '../../../src/core/publish/approval/approval-code.ts';
import { seeded } from '@berth/test-kit/seeded-random';
import { HubTraffic } from './hub-traffic.ts';
import { listedClusters } from '../../../src/core/publish/pages/decision-page.ts';
import { sameClusters } from '@berth/placement/result/cluster-change';
import { clustersOf, HANDS, KEY, ModelHub } from './model-hub.ts';
import { digest, type Disk, ModelProcess } from './model-process.ts';
import { modelResult } from './model-result.ts';
import { PublicationOracle } from './publication-oracle.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8'];
const RELEASE = 'berth.dev/release';

/** What a history is about, drawn once: most have few kinds of trouble, so that each is seen alone and with others. */
interface Kind {
  readonly limit: number;
  readonly groupSize: number;
  readonly hasStandby: boolean;
  readonly isHandover: boolean;
  readonly troubles: ReadonlySet<Trouble>;
}

const TROUBLES = [
  'requests',
  'hands',
  'kills',
  'handovers',
  'restores',
  'clock',
  'half-commits',
  'releases',
  'plans',
  'specs',
  'recreated',
  'others',
  'inventory',
] as const;
export type Trouble = (typeof TROUBLES)[number];

export function recordedClusters(record: DecisionRecord): readonly string[] {
  return recordedGroups(record).flatMap(({ clusters }) => clusters);
}

/** One placement, its hub, one or two controllers and all that can happen to them, as drawn from a seed. */
export class PublicationHistory {
  readonly hub = new ModelHub();
  readonly oracle: PublicationOracle;
  readonly random: () => number;
  readonly kind: Kind;
  leader: ModelProcess;
  standby: ModelProcess | undefined;
  /** A leader that lost the lease and does not know it yet. */
  fenced: ModelProcess | undefined;
  /** On the hub, in the order in which they were made, without those that a kill lost. */
  records: readonly DecisionRecord[] = [];
  isDisturbed = false;
  /** The clusters on the pages were left by others, or by the placement of this name before, and are in no record. */
  isOfOthers = false;
  isFaulty = true;
  #elapsedMs = 0;
  #jumpMs = 0;
  #desired: readonly string[];
  #outcome: ScheduleResult['outcome'] = 'scheduled';
  #revision = 0;
  #commits = 0;
  #halfCommit: number | undefined;
  #countInGit = 1;
  #isUncompared = false;
  #inventoryProblem: string | undefined;
  #plan: PendingPlan | undefined;
  #heldCode: string | undefined;
  readonly #given = new Set<string>();
  readonly #ready = new Set<string>(CLUSTERS.slice(0, 4));
  readonly #traffic: HubTraffic;
  /** How often the hub had been restored when a record was made. */
  readonly #restoresBefore = new Map<DecisionRecord, number>();
  #backup: (ReturnType<ModelHub['backup']> & Pick<PublicationHistory, 'records'>) | undefined;

  constructor(seed: number) {
    this.random = seeded(seed);
    const { random } = this;
    const rate = random();
    this.kind = {
      limit: [1, 2, 3, 100][this.pick(4)] ?? 2,
      groupSize: 1 + this.pick(8),
      hasStandby: random() < 0.5,
      isHandover: random() < 0.2,
      troubles: new Set(TROUBLES.filter(() => random() < rate)),
    };
    this.oracle = new PublicationOracle({
      limit: this.kind.limit,
      isAlone: !this.has('others') && !this.has('recreated'),
      isConsent: (code) => this.#given.has(code),
    });
    const { hub, oracle } = this;
    this.#traffic = new HubTraffic({
      hub,
      oracle,
      random,
      nowMs: () => this.nowMs,
      elapsedMs: () => this.#elapsedMs,
      isLeader: (process) => process === this.leader,
      isFaulty: () => this.isFaulty && this.has('requests'),
    });
    this.hub.onChange = (change) => {
      for (const process of this.processes()) process.take(change);
    };
    this.#desired = this.#draw();
    this.leader = this.#begin({ state: undefined, records: [], restoredTo: [] });
    if (this.kind.hasStandby) this.standby = this.#begin({ state: undefined, records: [], restoredTo: [] });
    this.#make();
  }

  /** In whole milliseconds, as clocks and records have them. */
  get nowMs(): number {
    return Math.floor(START + this.#elapsedMs + this.#jumpMs);
  }

  get elapsedMs(): number {
    return this.#elapsedMs;
  }

  get desired(): readonly string[] {
    return this.#desired;
  }

  pick(count: number): number {
    return Math.floor(this.random() * count);
  }

  has(trouble: Trouble): boolean {
    return this.kind.troubles.has(trouble);
  }

  *processes(): Generator<ModelProcess> {
    // Called by the hub before the first one is there.
    for (const process of [this.leader as ModelProcess | undefined, this.standby, this.fenced])
      if (process !== undefined) yield process;
  }

  advance(byMs: number): void {
    this.#elapsedMs += byMs;
  }

  /** The next thing that happens to the controllers: a watch event, an answer, a decision or a look. */
  work(): void {
    const all = [...this.processes()];
    const process = all[this.pick(all.length)] ?? this.leader;
    const what = this.pick(4);
    if (what === 0) this.show(process);
    else if (what === 1) this.answer(process);
    else if (what === 2 && process.isDecisionDue) this.decide(process);
    else if (what === 3 && process.lookAtMs <= this.#elapsedMs) this.look(process);
  }

  /** @returns whether there was something to show */
  show(process: ModelProcess): boolean {
    const isLeader = process === this.leader;
    if (process.isListDue) {
      process.list(this.hub, isLeader);
      return true;
    }
    const kinds = (['page', 'placement'] as const).filter((kind) => process.hasNews(kind));
    const kind = kinds[this.pick(kinds.length)];
    if (kind !== undefined) process.see(kind, isLeader);
    return kind !== undefined;
  }

  decide(process: ModelProcess): void {
    if (!process.isSynced) return;
    process.isDecisionDue = false;
    process.lookSoon();
    const { placement } = process;
    if (placement === undefined) return void (process.decided = undefined);
    const selected = this.#outcome === 'scheduled' ? this.#desired : [];
    const knew = new Set(process.seen().pages.flatMap(clustersOf));
    const result = modelResult(placement, selected, this.#outcome, this.kind.groupSize);
    const seen = { halfOf: this.#halfCommit, commit: this.#commits, revision: this.#revision };
    process.decided = { result, knew, ...seen };
    if (process === this.leader) this.oracle.decided(selected);
  }

  look(process: ModelProcess): void {
    // One that stands by does not publish.
    if (process === this.standby || process.state.pass !== undefined || !process.isSynced) return;
    const { placement, decided } = process;
    // A controller that is alone has no records on the hub.
    if (placement !== undefined && this.kind.hasStandby && decided !== undefined) this.#recall(process);
    process.look();
  }

  /**
   * A request is answered, or is not.
   * @returns whether one was under way
   */
  answer(process: ModelProcess): boolean {
    return this.#traffic.answer(process);
  }

  /**
   * A write that was given up arrives.
   * @returns whether there was one
   */
  arrive(): boolean {
    return this.#traffic.arrive();
  }

  disturb(): void {
    this.isDisturbed = true;
    const before = this.hub.listed();
    const hand = HANDS[this.pick(HANDS.length)] ?? 'delete';
    // What others leave unclear before a process knows what is published is left to its first result.
    const isUnclear = hand === 'unlabel' || hand === 'add' || !this.hub.isClear();
    if (this.leader.state.last === undefined && isUnclear) this.isOfOthers = true;
    this.hub.disturb(hand, this.pick(8));
    this.oracle.disturbed(before, this.hub.listed());
  }

  /** @returns whether the hub deleted a page whose owner is gone */
  collectGarbage(): boolean {
    const before = this.hub.listed();
    const isDeleted = this.hub.collectGarbage();
    if (isDeleted) this.oracle.disturbed(before, this.hub.listed());
    return isDeleted;
  }

  /** Other inputs: another decision is due. */
  change(desired: readonly string[] = this.#draw()): void {
    this.#desired = desired;
    this.#inputsChanged();
  }

  kill(): void {
    const { disk } = this.leader;
    this.#traffic.drop(this.leader);
    // What was remembered a moment ago may be lost, and so may the last record.
    if (this.random() < 0.5) disk.state = this.leader.memory;
    if (this.random() < 0.2) {
      const lost = disk.records.at(-1);
      disk.records = disk.records.slice(0, -1);
      this.records = this.records.filter((record) => record !== lost);
      this.oracle.lostRecord(lost?.removed ?? [], undefined);
    }
    this.leader = this.#begin(disk);
    // Others may have finished a released change: the next process takes it for done.
    if (this.isDisturbed && disk.state?.change?.released !== undefined) this.oracle.releaseUsed();
    this.oracle.begun(this.hub.listed(), this.isDisturbed ? this.#told(disk) : undefined, false);
    // The next process may go by the last record that is left.
    const record = disk.records.at(-1);
    if (record !== undefined) this.oracle.saw(recordedClusters(record));
  }

  /** What a disk tells of the last publication, where others changed the pages or a backup did. */
  #told({ state, records, restoredTo }: Disk): readonly string[] {
    const record = records.at(-1);
    if (record === undefined || state?.record !== record.hash || state.change !== undefined) return [];
    const clusters = recordedClusters(record);
    const isSame =
      this.hub.placement?.status?.numberOfSelectedClusters === record.clusters &&
      this.hub.listed().every((cluster) => clusters.includes(cluster));
    return isSame || restoredTo.length > (this.#restoresBefore.get(record) ?? 0) ? clusters : [];
  }

  flush(): void {
    this.leader.disk.state = this.leader.memory;
  }

  /** The lease goes to the process that stands by; the one before it finds its writes refused. */
  handOver(): void {
    const next = this.standby;
    if (next === undefined || this.fenced !== undefined) return;
    this.#traffic.drop(this.leader, true);
    [this.fenced, this.standby] = [this.leader, undefined];
    this.leader = next;
    // Its watches have caught up: a take-over waits for the lease to run out, and a watch is behind for moments.
    while (this.show(next));
    next.takeOver();
    this.#tookOver();
  }

  #tookOver(): void {
    this.oracle.begun(this.hub.listed(), this.isDisturbed ? [] : undefined, true);
    const { decided, state } = this.leader;
    if (decided !== undefined) this.oracle.decided(decided.result.selected);
    // It goes by what it saw before a restore, until somebody changes a page.
    this.oracle.saw(listedClusters(state.beforeRestore?.pages ?? []));
  }

  /** The fenced one ends, and stands by from now on. */
  endFenced(): void {
    if (this.fenced === undefined) return;
    this.standby = this.#begin(this.fenced.disk);
    this.fenced = undefined;
  }

  takeBackup(): void {
    this.#backup = { ...this.hub.backup(), records: this.records };
  }

  restore(): void {
    if (this.#backup === undefined) return;
    const uid = this.hub.placement?.metadata.uid;
    // What a process sends because of an answer is lost, too: its hub is gone.
    for (const process of this.processes())
      do this.#traffic.drop(process, true);
      while (process.inFlight.length > 0);
    this.hub.restore(this.#backup);
    const { records } = this.#backup;
    for (const { removed } of this.records.filter((record) => !records.includes(record)))
      this.oracle.lostRecord(removed, 'disk');
    this.records = records;
    // It will read the records of the backup.
    if (this.leader.hasTakenOver && this.leader.memory === undefined) this.#tookOver();
    this.oracle.saw(this.hub.listed());
    this.isDisturbed = this.#isUncompared = true;
    this.#halfCommit = ++this.#commits;
    if (this.hub.placement?.metadata.uid !== uid) {
      this.isOfOthers = true;
      this.oracle.forget();
    }
    for (const process of this.processes()) {
      const { placement, state } = process;
      const seen = placement && { ...process.seen(), placement };
      // One that did not publish knows only what its watch showed, and the watch may have been late.
      if (state.last === undefined) this.oracle.saw(process.seen().pages.flatMap(clustersOf));
      const hubVersion = String(this.hub.version);
      process.isListDue = true;
      process.disk.restoredTo = [...process.disk.restoredTo, hubVersion];
      process.send({ kind: 'hub-changed', atRestore: { hubVersion, seen } });
    }
  }

  beginCommit(): void {
    this.#halfCommit ??= ++this.#commits;
    this.#inputsChanged();
  }

  /** All of the commit is on the hub, and the hub is as Git says. */
  endCommit(): void {
    if (this.#halfCommit === undefined) return;
    if (this.hub.placement === undefined) this.#make();
    else if (this.#isUncompared) this.annotate({}, this.#countInGit);
    [this.#halfCommit, this.#isUncompared] = [undefined, false];
    if (this.#plan !== undefined) this.#plan = planAfterFollow(this.#plan, this.nowMs);
    for (const process of this.processes()) process.send({ kind: 'commit-complete' });
  }

  /** A user lets what is held now happen. */
  release(): void {
    if (this.#heldCode === undefined) return;
    this.#given.add(this.#heldCode);
    this.annotate({ [RELEASE]: this.#heldCode });
  }

  /** A commit comes with the plan that it was approved with: the right one, or another. */
  approve(): void {
    const before = this.oracle.published;
    const after = this.random() < 0.6 ? this.#desired : this.#draw();
    const codes = [approvalCode(digest, KEY, before, after)];
    this.#plan = { tokens: codes, commit: `commit-${++this.#commits}`, followedAtMs: undefined, held: false };
    this.#halfCommit ??= this.#commits;
    this.#inputsChanged();
  }

  annotate(annotations: Readonly<Record<string, string>>, numberOfClusters?: number): void {
    const { placement } = this.hub;
    if (placement === undefined) return;
    const { metadata, spec } = placement;
    this.#countInGit = numberOfClusters ?? this.#countInGit;
    const isSame = numberOfClusters === undefined || numberOfClusters === spec?.numberOfClusters;
    const generation = (metadata.generation ?? 1) + (isSame ? 0 : 1);
    this.hub.putPlacement({
      ...placement,
      metadata: { ...metadata, generation, annotations: { ...this.#annotations(), ...annotations } },
      spec: { ...spec, ...(numberOfClusters !== undefined && { numberOfClusters }) },
    });
  }

  deletePlacement(): void {
    this.hub.deletePlacement();
    this.oracle.forget();
    this.isDisturbed = this.isOfOthers = true;
    // Git makes it again.
    this.#halfCommit ??= ++this.#commits;
  }

  /** Others schedule the placement, or do not any more. */
  leaveToOthers(is: boolean): void {
    if (is === (this.#outcome === 'skipped')) return;
    this.#outcome = is ? 'skipped' : 'scheduled';
    this.isOfOthers = true;
    this.isDisturbed = true;
    this.oracle.forget();
    this.#inputsChanged();
  }

  misconfigure(is: boolean): void {
    if (this.#outcome !== 'skipped') this.#outcome = is ? 'misconfigured' : 'scheduled';
    this.#inputsChanged();
  }

  setInventoryProblem(problem: string | undefined): void {
    this.#inventoryProblem = problem;
    this.leader.lookSoon();
  }

  jump(byMs: number): void {
    this.#jumpMs += byMs;
  }

  /** Works run on these clusters. */
  setReady(clusters: readonly string[] = CLUSTERS.filter(() => this.random() < 0.5)): void {
    this.#ready.clear();
    for (const cluster of clusters) this.#ready.add(cluster);
    this.leader.send({ kind: 'works-changed' });
  }

  /** All that can go wrong is over. */
  recover(): void {
    this.isFaulty = false;
    this.endFenced();
    while (this.arrive());
    this.#inventoryProblem = undefined;
    if (this.#outcome === 'skipped') this.leaveToOthers(false);
    this.misconfigure(false);
    if (this.hub.placement === undefined) this.#halfCommit ??= ++this.#commits;
    this.endCommit();
    this.setReady(CLUSTERS);
    this.leader.lookSoon();
  }

  #begin(disk: Disk): ModelProcess {
    const around = {
      now: () => this.nowMs,
      elapsedMs: () => this.#elapsedMs,
      factsFor: (process: ModelProcess, view: Pick<PassFacts, 'key' | 'placement' | 'pages' | 'seenPage'>) =>
        this.#facts(process, view),
      did: (process: ModelProcess, action: PlacementAction) => this.#did(process, action),
      recorded: (process: ModelProcess, record: DecisionRecord) => {
        this.#restoresBefore.set(record, process.disk.restoredTo.length);
        // The one that is fenced keeps its own to itself.
        if (process === this.leader) this.records = [...this.records, record];
      },
    };
    return new ModelProcess(disk, around);
  }

  #make(): void {
    this.#countInGit = 1 + this.pick(8);
    this.hub.createPlacement(this.#countInGit, this.#annotations(), this.nowMs);
  }

  #annotations(): Readonly<Record<string, string>> {
    return this.kind.isHandover ? { 'berth.dev/move-policy': 'MakeBeforeBreak' } : {};
  }

  #draw(): readonly string[] {
    if (this.random() < 0.05) return [];
    if (this.random() < 0.5) return CLUSTERS.filter(() => this.random() < 0.7);
    // As most changes are: one comes or goes.
    const other = CLUSTERS[this.pick(CLUSTERS.length)] ?? 'c1';
    const before = this.#desired ?? CLUSTERS;
    return before.includes(other) ? before.filter((name) => name !== other) : [...before, other].sort();
  }

  #inputsChanged(): void {
    this.#revision += 1;
    for (const process of this.processes()) process.isDecisionDue = true;
  }

  #facts(
    process: ModelProcess,
    view: Pick<PassFacts, 'key' | 'placement' | 'pages' | 'seenPage'>,
  ): PassFacts {
    const { decided } = process;
    return {
      ...view,
      result: decided?.result,
      remembered: process.memory,
      records: { newest: process.pastRecord, oldestAtMs: -Infinity, areReadable: true },
      budget: { percent: 0, atLeast: this.kind.limit },
      inventoryProblem: this.#inventoryProblem,
      worksProblem: undefined,
      plans: this.#plan === undefined ? [] : [this.#plan],
      restoredTo: process.disk.restoredTo,
      isOfSource: false,
      digest,
      snapshotConsistency: (ofLastCommit) => {
        const isWhole = decided?.halfOf === undefined;
        if (isWhole && (!ofLastCommit || decided?.commit === this.#commits)) return 'consistent';
        if (this.#halfCommit !== undefined) return 'partial';
        return !isWhole && decided.revision === this.#revision ? 'consistent' : 'outdated';
      },
      wasDecidedKnowing: (clusters) => clusters.every((cluster) => decided?.knew.has(cluster) === true),
      isReady: (cluster) => this.#ready.has(cluster),
      lostClusters: () => [],
    };
  }

  /** What the process before this one published, from the records on the hub. */
  #recall(process: ModelProcess): void {
    const { placement } = process;
    if (placement === undefined || process.memory !== undefined) return;
    process.memory = stateFromRecords(
      this.records.map((record) => compactRecord(digest, record)),
      {
        specHash: specHash(digest, placement),
        nowMs: this.nowMs,
        // A clock that goes back makes records that are older than their placement: they would count for nothing.
        createdAt: this.has('clock') ? undefined : placement.metadata.creationTimestamp,
      },
    );
  }

  #did(process: ModelProcess, action: PlacementAction): void {
    if (process !== this.leader) return;
    if (action.kind === 'report-held') this.#heldCode = action.hold.code;
    if (action.kind === 'final-pages' && sameClusters(listedClusters(action.pages), this.hub.listed()))
      this.isDisturbed = false;
    if (action.kind === 'record' && this.#isComplete(action.entry)) this.isOfOthers = false;
    if (action.kind === 'judge-plans') this.#judged(action);
    if ((action.kind === 'persist' || action.kind === 'remember') && action.state.change !== undefined)
      this.oracle.began(action.state.specHash);
    if (action.kind === 'write-page') this.#checkCommit(process);
    // A pass may end after its placement was deleted, made again or restored: it says nothing of the one that is there.
    if (process.passUid === this.hub.placement?.metadata.uid) this.oracle.told(action, this.nowMs);
    // Others may have added to the pages, and its watch does not show it yet.
    if (action.kind === 'final-pages' || action.kind === 'record') this.oracle.saw(this.hub.listed());
  }

  /** A publication of this placement, and not what a process found. */
  #isComplete({ found, result }: Extract<PlacementAction, { kind: 'record' }>['entry']): boolean {
    return found === undefined && result.placement.metadata.uid === this.hub.placement?.metadata.uid;
  }

  #judged({ plans, outcome }: Extract<PlacementAction, { kind: 'judge-plans' }>): void {
    const plan = this.#plan;
    if (plan !== undefined && plans.some(({ commit }) => commit === plan.commit))
      this.#plan = planAfterJudgement(plan, outcome);
  }

  /** Half of a commit moves nothing of what is published. */
  #checkCommit({ decided, state }: ModelProcess): void {
    const { stage } = state.pass ?? {};
    if (stage?.kind !== 'writing' || stage.writing.purpose.kind !== 'publish') return;
    const { purpose, passPages } = stage.writing;
    const moves = purpose.wanted.added.length + purpose.wanted.removed.length > 0;
    const isCommitPartial = decided?.halfOf !== undefined && decided.halfOf === this.#halfCommit;
    // Decided again meanwhile.
    if (decided?.result !== state.pass?.result) return;
    if (moves && isCommitPartial && passPages.published.length > 0)
      this.oracle.violations.push('published half of a commit');
  }
}
