import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ExpectStatic } from 'vitest';
import { APPLY_SET_PART_OF_LABEL } from '../../../src/core/sync/apply-set.ts';
import { dataOf } from '../../../src/controllers/publication/hub-records.ts';
import {
  compactRecord,
  RECORDS_LABEL,
  recordsOf,
  selectNewRecords,
} from '../../../src/core/publish/record/compact-record.ts';
import { recordedGroups } from '../../../src/core/publish/record/last-publication.ts';
import {
  ADDON_PLACEMENT_SCORE,
  apiVersionOf,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  PLACEMENT,
} from '@berth/kube/model/kinds';
import type { ObjectMeta } from '@berth/kube/model/object-meta';
import { formatRef, namespacedName, type ObjectRef } from '@berth/kube/model/object-ref';
import type { DecisionRecord } from '../../../src/core/publish/record/decision-record.ts';
import type { Plan } from '../../../src/core/preview/plan.ts';
import { approvalAnnotation } from '../../../src/core/preview/plan-text.ts';
import { errorText } from '@berth/runtime/errors';
import { sha256 } from '@berth/runtime/sha256';
import { yaml } from '../../app/serve/fleet-fixture.ts';
import { type AnsweringHub, capped, forbid, hook } from '../../app/serve/previews/answering-hub.ts';
import { ServedFleet } from '../../app/serve/served-fleet.ts';
import { CommitWriter } from '../../../packages/git-reader/test/fakes/commit-writer.ts';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { withoutGit } from '../../../packages/git-reader/test/fakes/without-git.ts';
import {
  type Beside,
  type Commit,
  NOTHING_BESIDE,
  PLACEMENTS,
  START,
  type State,
  stateAfter,
} from './commits.ts';
import {
  ADMISSION_LABEL,
  filesOf,
  marker,
  markerOf,
  type Said,
  SOURCES,
  TOLERATED_SECONDS,
} from './files.ts';
import { Lives } from './lives.ts';
import { HubView, pagesWithoutPlacement, placementsWithoutPage } from './hub-view.ts';
import {
  expectedAfter,
  listedLater,
  type Outcome,
  outcomeOf,
  withoutCodes,
  withoutEndedHolds,
} from './outcome.ts';

const WAIT_MS = Number(process.env['BERTH_PLAN_WAIT_MS'] ?? PATIENCE_MS);
/** A little more than a controller waits before it looks at a deleted placement again. */
const PAGES_GO_MS = 7_000;
/** Of so many commits one is planned on an inventory as well, with the same result. */
const INVENTORY_EVERY = Number(process.env['BERTH_PLAN_INVENTORY_EVERY'] ?? 1);
/** A little more than a plan waits for the decisions of its commit. The next commit within that time is judged by it, too. */
const PLAN_ENDS_MS = 2_200;
/** Between two looks that have to show the same. */
const STILL_MS = 400;
const STILL_TURNS = 20;
/** Only what a commit says is to be seen: the test calls `reconcile` after each one, and looks by itself only in case that was lost. */
const POLL_INTERVAL_MS = 2_000;
/** Policies that refuse what other managers want, too. */
const FEW_OF_BOUNDED = 'few-of-bounded';
const KEEP_KEPT = 'keep-kept';
const EMPTIED = { clusters: MANAGED_CLUSTER, sets: MANAGED_CLUSTER_SET, placements: PLACEMENT };
const NOTHING_SAID: Said = {
  typo: { what: undefined, placement: '' },
  refused: NOTHING_BESIDE.refused,
  releases: {},
};

export interface HistoryOptions {
  /** For messages. */
  readonly seed: number;
  /** The budget lets everything go. */
  readonly isOpen: boolean;
  /** The hub refuses and changes placements with a label. */
  readonly hasAdmission: boolean;
  /** The hub has no agents: its controller writes the status that Git records. */
  readonly isEmbedded: boolean;
  /** The controller follows the repository as two sources. */
  readonly isDivided: boolean;
  /** The controller and the plans read Git with the git program. Otherwise without it, which starts no processes. */
  readonly hasGitProgram: boolean;
  /** Of the test: several histories run at once. */
  readonly expect: ExpectStatic;
}

/** What a plan says. */
interface Future {
  /** It holds for a commit that is read then or later. */
  readonly fromMs: number;
  readonly planned: Outcome;
  /** What the plan said of later. A slow machine sees only what came of it. */
  readonly later: Plan['later'];
}

/** What a merge does. */
interface Goal {
  /** The plan, and those that were made for after each time at which it says that something happens. */
  readonly futures: readonly Future[];
  readonly number: number;
  /** The id of the merge. */
  readonly merged: string;
  /** Objects that are gone then. */
  readonly deleted: readonly ObjectRef[];
  /** For a person who looks into a difference. */
  readonly message: string;
}

/** By source. */
type Annotations = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A hub, a repository and a controller that may be killed; each commit is planned, merged and compared. */
export class History {
  readonly #fleet: ServedFleet;
  readonly #view: HubView;
  readonly #repository: CommitWriter;
  readonly #expect: ExpectStatic;
  readonly #seed: number;
  readonly #root = mkdtempSync(join(tmpdir(), 'berth-plan-'));
  readonly #settings: string;
  /** Their names. */
  readonly #sources: readonly string[];
  readonly #lives: Lives;
  /** What a plan has to know of the controller, which announces nothing here. */
  readonly #flags: readonly string[];
  readonly #closes: (() => Promise<void>)[] = [];
  #state: State;
  #before: Outcome | undefined;
  /** Placements that the last commit released. */
  #released: ReadonlySet<string> = new Set();
  /** Sources of which nothing is judged, because a file of the last commit cannot be read. */
  #suspended: ReadonlySet<string> = new Set();
  /** Whether the hub knows what no inventory has: other managers that own fields, or labels by which it refuses and changes. */
  #knowsMore = false;
  /** The last plan. */
  #planned = '';
  /** When the hub followed the last commit, as far as it showed. */
  #reachedAtMs = 0;

  private constructor(
    fleet: ServedFleet,
    view: HubView,
    { seed, isOpen, isEmbedded, isDivided, expect }: HistoryOptions,
  ) {
    this.#fleet = fleet;
    this.#view = view;
    this.#repository = new CommitWriter(fleet.git.path);
    this.#expect = expect;
    this.#seed = seed;
    this.#state = isEmbedded ? { ...START, recorded: {} } : START;
    const url = fleet.git.path;
    const sources = isDivided
      ? SOURCES.map(({ name, paths }) => ({ name, paths, url }))
      : [{ name: 'fleet', url }];
    this.#sources = sources.map(({ name }) => name);
    this.#settings = join(this.#root, 'settings.yaml');
    writeFileSync(this.#settings, yaml({ sources: sources.map((source) => ({ ...source, kinds: ['*'] })) }));
    this.#flags = [
      ...(isEmbedded ? ['--embedded'] : []),
      ...(isOpen ? ['--removal-budget', '100%'] : []),
      ...this.#sources.flatMap((name) => ['--source', name]),
    ];
    this.#lives = new Lives(fleet, {
      sources: sources.map((source) => ({ ...source, ref: { type: 'branch', name: 'main' } as const })),
      pollIntervalMs: POLL_INTERVAL_MS,
      embedded: isEmbedded,
      ...(isOpen && { budget: { percent: 100, atLeast: 0 } }),
    });
  }

  static async begin(options: HistoryOptions): Promise<History> {
    const env = options.hasGitProgram ? process.env : { ...process.env, ...withoutGit() };
    const fleet = await ServedFleet.create({}, env);
    const history = new History(fleet, await HubView.open(fleet.hub.api), options);
    const files = Object.entries(filesOf(history.#state, NOTHING_SAID)).filter(
      ([, text]) => text !== undefined,
    );
    history.#repository.commit('main', Object.fromEntries(files));
    if (options.hasAdmission) await history.#admit();
    await history.#lives.begin();
    // Works follow the decisions; a plan that begins before them would not know them.
    await history.#view.until(() => missing(history.#outcome()).length === 0, WAIT_MS);
    options.expect(missing(history.#outcome())).toEqual([]);
    return history;
  }

  async close(): Promise<void> {
    await this.#view.close();
    await this.#fleet.close();
    for (const close of this.#closes) await close();
    this.#lives.remove();
    rmSync(this.#root, { recursive: true, force: true });
  }

  async merge(change: Commit, beside: Beside, number: number): Promise<void> {
    const before = await this.#rest(change, beside);
    if (beside.idlePlan === 'before') await this.#planIdle();
    this.#repository.branch('next', 'main');
    this.#state = stateAfter(this.#state, change, beside);
    this.#knowsMore ||= Object.values(this.#state.admission).some((value) => value !== undefined);
    // The file as it was before still brings its release, and nobody but the controller knows whether that was used.
    const isReleased = this.#released.has(change.typo.placement);
    const { releases } = change;
    const said = {
      typo: isReleased ? NOTHING_SAID.typo : change.typo,
      refused: beside.refused,
      releases: placementReleases(before, releases),
    };
    this.#released = new Set(Object.keys(said.releases));
    const annotations = deletionReleases(before, releases);
    this.#commit(said, number, annotations);
    let plan = await this.#plan(number);
    if (change.approval !== 'none') {
      const approved = change.approval === 'right' ? codesOf(plan, number) : otherPlan(number);
      if (approved !== '')
        this.#commit(said, number, {
          ...annotations,
          fleet: { ...annotations['fleet'], 'berth.dev/plan': approved },
        });
      plan = await this.#plan(number);
    }
    // Nothing has moved by itself meanwhile, and the hub says the same as its watches.
    this.#expect(outcomeOf(await this.#view.read()), this.#planned).toEqual(before);
    const futures = await this.#futures(before, plan);
    // The hub follows main, so nothing but holds can wait there.
    const due = plan.waiting.filter(({ kind }) => kind === 'change' || kind === 'deletion');
    if (due.length > 0) this.#tellDifference(number, { due, plan });
    this.#expect(due).toEqual([]);
    await this.#planEnds();
    if (change.kill?.when === 'before') await this.#lives.killAndBegin();
    if (change.kill?.when === 'during') this.#lives.dieAfter(change.kill);
    const merged = this.#repository.merge('next', 'main');
    if (beside.idlePlan === 'after') await this.#planIdle();
    this.#lives.reconcile();
    const message = notesOf({ ...change, beside }, plan);
    const goal = { futures, number, merged, deleted: deletedBy(plan), message };
    if (change.kill?.when === 'during') await this.#reviveWhenDead(goal);
    let reached = await this.#reaches(goal);
    if (change.kill?.when === 'after') {
      await this.#lives.killAndBegin();
      reached = await this.#reaches(goal);
    }
    this.#before = reached.later.length === 0 ? reached.planned : await this.#settle(reached, goal);
    this.#planned = goal.message;
    this.#suspended = suspendedIn(plan);
    this.#reachedAtMs = Date.now();
  }

  /** A busy machine reads a commit only when something has happened that its plan says of later. */
  async #futures(before: Outcome, plan: Plan): Promise<readonly Future[]> {
    const future = (fromMs: number, from: Plan): Future => ({
      fromMs,
      planned: expectedAfter(before, from),
      later: from.later,
    });
    const futures = [future(0, plan)];
    for (const at of new Set(plan.later.flatMap((change) => change.at ?? []))) {
      // Times are rounded down to the second.
      const now = new Date(Date.parse(at) + 1_000).toISOString();
      const { kubeconfig } = this.#fleet.hub;
      const then = await this.#planOn('next', '--kubeconfig', kubeconfig, '--now', now);
      futures.push(future(Date.parse(at), then));
    }
    return futures;
  }

  /** What a plan says of later happens then, and nothing else does. */
  async #settle({ planned, later }: Future, { number, message }: Goal): Promise<Outcome> {
    const expected = listedLater(planned, later);
    const found = (): object =>
      withoutEndedHolds(withoutCodes(this.#outcome()), withoutCodes(planned), later);
    const isThere = (): boolean => isDeepStrictEqual(found(), expected);
    await this.#view.until(isThere, TOLERATED_SECONDS * 1_000 + WAIT_MS);
    if (!isThere()) this.#tellDifference(number, { planned, later, message });
    this.#expect(found(), `later: ${message}`).toEqual(expected);
    // Works follow the pages. The next commit compares them with its own plan.
    await this.#becomesStill();
    return this.#outcome();
  }

  /** A pull request that changes a text file has an empty plan, whatever waits on main or happens later. */
  async #planIdle(): Promise<void> {
    this.#repository.branch('idle', 'main');
    this.#repository.commit('idle', { 'README.md': `${Date.now()}\n` });
    const plan = await this.#planOn('idle', '--kubeconfig', this.#fleet.hub.kubeconfig);
    const { placements, workloads, objects, deletionsHeld, later, applications } = plan;
    const own = { placements, workloads, objects, deletionsHeld, later, applications };
    const empty = {
      placements: [],
      workloads: [],
      objects: [],
      deletionsHeld: [],
      later: [],
      applications: [],
    };
    const { waiting, notEvaluated } = plan;
    const message = JSON.stringify({ waiting, notEvaluated, last: this.#planned, of: this.#seed });
    this.#expect(own, message).toEqual(empty);
  }

  /** What there is before a commit: what the last plan said, after news from outside what came of it. */
  async #rest({ scores }: Commit, beside: Beside): Promise<Outcome> {
    const found = this.#outcome();
    if (this.#before !== undefined) this.#expect(found, this.#planned).toEqual(this.#before);
    // A plan does not name what happens later without the merge as well, so it has to be over before the next plan.
    if (Object.values(this.#state.tolerating).includes(true)) {
      // fixed wait: nothing shows that the last toleration has ended
      await sleep(Math.max(0, this.#reachedAtMs + TOLERATED_SECONDS * 1_000 - Date.now()));
      await this.#becomesStill();
    }
    const isQuiet = [beside.scaled, beside.labelled, beside.emptied].every((one) => one === undefined);
    if (Object.keys(scores).length === 0 && isQuiet) return this.#outcome();
    // Otherwise an approval of the last commit holds what the scores change, and only after two seconds.
    await this.#planEnds();
    await this.#tellScores(scores);
    await this.#writeAsOthers(beside);
    await this.#empty(beside);
    await this.#comparesHeld();
    await this.#becomesStill();
    return this.#outcome();
  }

  /**
   * What another manager has taken of an object that waits for its deletion is given up when the source is compared with
   * the hub next, which no event of the hub brings about.
   */
  async #comparesHeld(): Promise<void> {
    await this.#compares(Object.keys(this.#outcome().deletionsHeld));
  }

  /** The sources are compared with the hub, from now on. */
  async #compares(sources: readonly string[]): Promise<void> {
    const judged = sources.filter((name) => !this.#suspended.has(name));
    // A comparison that is under way may have read the hub before.
    for (const _ of ['that one', 'the next one']) {
      const from = this.#fleet.events.length;
      this.#lives.reconcile();
      const isCompared = (source: string): boolean =>
        this.#fleet.events.slice(from).some((event) => event.kind === 'synced' && event.source === source);
      await this.#view.until(() => judged.every(isCompared), WAIT_MS);
    }
  }

  async #becomesStill(): Promise<void> {
    // Nothing tells that nothing more comes of it: it is looked at until two looks in a row show the same.
    const { api } = this.#fleet.hub;
    const look = async (): Promise<string> => {
      await this.#view.until(() => api.underWay === 0 && this.#areRecordsWritten(), WAIT_MS);
      return `${JSON.stringify(this.#outcome())} ${api.begun} ${this.#fleet.events.length}`;
    };
    const deadlineMs = Date.now() + WAIT_MS;
    for (let last = await look(), at = ''; last !== at; [at, last] = [last, await look()]) {
      if (Date.now() > deadlineMs) throw new Error(`never still after scores: ${last}`);
      // fixed wait: no event says that a score changes nothing; a busy process gets many turns in it
      for (let turn = 0; turn < STILL_TURNS; turn++) await sleep(STILL_MS / STILL_TURNS);
    }
  }

  async #planEnds(): Promise<void> {
    // fixed wait: an approval that had no effect ends then, and nothing shows it
    await sleep(Math.max(0, this.#reachedAtMs + PLAN_ENDS_MS - Date.now()));
  }

  /** @param annotations by the source whose marker has them */
  #commit(said: Said, number: number, annotations: Annotations): void {
    const isChanged = ([file, text]: [string, string | undefined]): boolean =>
      text !== undefined || this.#repository.has(file);
    const files = Object.entries(filesOf(this.#state, said)).filter(isChanged);
    const markers = SOURCES.map(({ name, marker: file }) => [
      file,
      yaml(marker(name, number, annotations[name] ?? {})),
    ]);
    this.#repository.commit('next', Object.fromEntries([...files, ...markers]));
  }

  /** @returns the future that came about */
  async #reaches(goal: Goal): Promise<Future> {
    const { futures, number, merged, deleted, message } = goal;
    await this.#view.until(() => this.#isSynced(merged) && this.#isThere(goal), WAIT_MS);
    this.#expect(this.#applied()).toEqual(SOURCES.map(() => String(number)));
    const reached = futures.find((future) => this.#isFuture(future));
    if (reached === undefined) {
      this.#tellDifference(number, { futures, message });
      this.#expect(this.#outcome(), message).toEqual(futures[0]?.planned);
      throw new Error(`it came about only now: ${message}`);
    }
    await this.#view.until(async () => (await this.#present(deleted)).length === 0, WAIT_MS);
    // The pages of a deleted placement go after it, some seconds later when the controller was killed meanwhile. A plan
    // does not count them; a placement of the same name that is created before they are gone would take them over.
    await this.#view.until(() => pagesWithoutPlacement(this.#view.objects).length === 0, PAGES_GO_MS);
    // An empty page is in the next plan, too.
    await this.#view.until(() => placementsWithoutPage(this.#view.objects).length === 0, PAGES_GO_MS);
    this.#expect(await this.#present(deleted), message).toEqual([]);
    // A process that was killed left records to the next one.
    await this.#lives.whenReady();
    this.#expect(await this.#view.until(() => this.#areRecordsWritten(), WAIT_MS), 'records').toBe(true);
    return reached;
  }

  #tellDifference(number: number, planned: object): void {
    const compared = JSON.stringify({ ...planned, found: this.#outcome() });
    console.error(
      `commit ${number} of seed ${this.#seed}: ${compared}\n${this.#lives.trace(this.#fleet.events)}`,
    );
  }

  /** A commit that takes fewer writes than that kills nobody. */
  async #reviveWhenDead(goal: Goal): Promise<void> {
    const isOver = (): boolean => this.#lives.isDead || this.#isThere(goal);
    // Where it is not, the next process shows what differs.
    await this.#view.until(isOver, WAIT_MS);
    await this.#lives.killAndBegin();
  }

  /** What a plan knows of the past it reads there: a process that began after a kill records later what it found. */
  async #areRecordsWritten(): Promise<boolean> {
    const maps = this.#view.objects.configMaps.filter(({ metadata }) => metadata.labels?.[RECORDS_LABEL]);
    const onHub = maps.reduce((all, map) => ({ ...all, ...dataOf(map) }), {});
    const written = new Set(recordsOf(onHub).map(({ hash }) => hash));
    const last = new Map((await this.#lives.records()).map((record) => [record.placement, record]));
    // What a restart found and the hub knew already is not written again.
    const isKnown = (record: DecisionRecord): boolean =>
      written.has(record.hash) || selectNewRecords(onHub, [compactRecord(sha256, record)]).length === 0;
    const { placements } = this.#outcome();
    const isLastOfPages = ([name, { clusters }]: [string, Outcome['placements'][string]]): boolean => {
      const record = last.get(`team-a/${name}`);
      const recorded = record === undefined ? [] : recordedGroups(record).flatMap((group) => group.clusters);
      return [...new Set(recorded)].toSorted().join() === clusters.join();
    };
    const published = this.#fleet.events.flatMap((event) =>
      event.kind === 'published' ? [[event.placement, event.record] as const] : [],
    );
    return (
      Object.entries(placements).every(isLastOfPages) &&
      [...last.values()].every(isKnown) &&
      [...new Map(published).values()].every((hash) => written.has(hash))
    );
  }

  async #plan(number: number): Promise<Plan> {
    const { kubeconfig } = this.#fleet.hub;
    const plan = await this.#planOn('next', '--kubeconfig', kubeconfig);
    if (number % INVENTORY_EVERY !== 0 || this.#knowsMore) return plan;
    const inventory = join(this.#root, 'inventory.json');
    const fromInventory = async (): Promise<Plan> => {
      await this.#fleet.berth('snapshot', '--kubeconfig', kubeconfig, '--file', inventory);
      const { notEvaluated, ...planned } = await this.#planOn(
        'next',
        '--inventory',
        inventory,
        '--now',
        plan.now,
      );
      // What was not evaluated begins with the age of the inventory.
      const [, ...others] = notEvaluated;
      return { ...planned, ...withContentOf(plan, { workloads: planned.workloads, notEvaluated: others }) };
    };
    await this.#expect.poll(fromInventory, { timeout: WAIT_MS, interval: 200 }).toEqual(plan);
    return plan;
  }

  async #planOn(head: 'next' | 'idle', ...hub: readonly string[]): Promise<Plan> {
    const words = [
      'plan',
      '--base',
      'main',
      '--head',
      head,
      ...hub,
      '-o',
      'json',
      '--config',
      this.#settings,
    ];
    const { stdout, stderr } = await this.#fleet.berth(...words, ...this.#flags);
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as Plan;
  }

  /** The commit that each source has applied, as the hub shows it. */
  #applied(): readonly (string | undefined)[] {
    const { configMaps } = this.#view.objects;
    return SOURCES.map(({ name }) => {
      const key = namespacedName(markerOf(name));
      const found = configMaps.find(({ metadata }) => namespacedName(metadata) === key);
      return (found?.['data'] as { readonly commit?: string } | undefined)?.commit;
    });
  }

  /** Those of the objects that the hub has. */
  async #present(refs: readonly ObjectRef[]): Promise<readonly string[]> {
    const { api } = this.#fleet.hub;
    const found = refs.map(async (ref) => {
      const kind = await api.resolve(ref.apiVersion, ref.kind);
      return kind && (await api.get(kind, ref)) ? [formatRef(ref)] : [];
    });
    return (await Promise.all(found)).flat();
  }

  /** Each source has applied the commit. Its deletions may come later. */
  #isSynced(commit: string): boolean {
    return this.#sources.every((name) => {
      const of = this.#fleet.events.filter((event) => 'source' in event && event.source === name);
      const read = of.findIndex((event) => event.kind === 'commit-read' && event.commit?.id === commit);
      return read !== -1 && of.slice(read).some(({ kind }) => kind === 'synced');
    });
  }

  #outcome(): Outcome {
    return outcomeOf(this.#view.objects);
  }

  #isThere({ futures, number }: Goal): boolean {
    return (
      this.#applied().every((commit) => commit === String(number)) &&
      futures.some((future) => this.#isFuture(future))
    );
  }

  #isFuture({ fromMs, planned, later }: Future): boolean {
    if (Date.now() < fromMs) return false;
    const found = this.#outcome();
    const isLater = later.length > 0 && isDeepStrictEqual(withoutCodes(found), listedLater(planned, later));
    return isLater || isDeepStrictEqual(found, planned);
  }

  /** What `bounded`, `kept` and `capped` mean. */
  async #admit(): Promise<void> {
    const { api, kubeconfig } = this.#fleet.hub;
    const hub: AnsweringHub = {
      ...{ api, kubeconfig, dataDir: this.#root, settled: async () => undefined },
      atEnd: (close) => void this.#closes.push(close),
    };
    const not = (object: string, value: string): string =>
      `!has(${object}.metadata.labels) || !('${ADMISSION_LABEL}' in ${object}.metadata.labels) || ${object}.metadata.labels['${ADMISSION_LABEL}'] != '${value}'`;
    const few = 'has(object.spec.numberOfClusters) && object.spec.numberOfClusters <= 2';
    await forbid(hub, FEW_OF_BOUNDED, '*', `object == null || ${not('object', 'bounded')} || (${few})`);
    await forbid(hub, KEEP_KEPT, 'DELETE', not('oldObject', 'kept'));
    const rule = { resource: 'placements', operations: ['CREATE', 'UPDATE'] };
    await hook(hub, 'MutatingWebhookConfiguration', rule, (object) =>
      object.metadata.labels?.[ADMISSION_LABEL] === 'capped' ? capped(object) : { allowed: true },
    );
  }

  /** Another manager takes fields of objects that exist. */
  async #writeAsOthers({ scaled, labelled }: Beside): Promise<void> {
    this.#knowsMore ||= scaled !== undefined || labelled !== undefined;
    const { api } = this.#fleet.hub;
    const write = async (kind: KindInfo, metadata: ObjectMeta, spec: object, by: string): Promise<void> => {
      const { name, namespace = '' } = metadata;
      if ((await api.get(kind, { name, namespace })) === undefined) return;
      const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...spec };
      await unlessForbidden(api.apply(kind, object, { fieldManager: by, force: true }));
    };
    if (scaled !== undefined) {
      const metadata = { name: scaled.placement, namespace: 'team-a' };
      await write(PLACEMENT, metadata, { spec: { numberOfClusters: scaled.to } }, 'autoscaler');
    }
    if (labelled !== undefined) {
      const metadata = { name: labelled.cluster, labels: { region: labelled.region } };
      await write(MANAGED_CLUSTER, metadata, {}, 'cmdb');
    }
  }

  /** Somebody deletes objects of Git, and the controller brings them back. */
  async #empty({ emptied }: Beside): Promise<void> {
    if (emptied === undefined) return;
    const { api } = this.#fleet.hub;
    const kind = EMPTIED[emptied];
    const { items } = await api.list(kind, { labelSelector: APPLY_SET_PART_OF_LABEL });
    const inGit: Readonly<Record<string, unknown>> = this.#state[emptied];
    const present = items.filter(({ metadata }) => (inGit[metadata.name] ?? false) !== false);
    await Promise.all(
      present.map(({ metadata: { name, namespace = '' } }) =>
        unlessForbidden(api.delete(kind, { namespace, name })),
      ),
    );
    await this.#compares(this.#sources);
  }

  async #tellScores(scores: Commit['scores']): Promise<void> {
    const { api } = this.#fleet.hub;
    for (const [cluster, { value, validUntil }] of Object.entries(scores)) {
      // The controller would write the recorded one again, and only some time later.
      if (this.#state.recorded?.[cluster]?.cpu !== undefined) continue;
      const metadata = { name: 'usage', namespace: cluster };
      const apiVersion = apiVersionOf(ADDON_PLACEMENT_SCORE);
      const object = { apiVersion, kind: 'AddOnPlacementScore', metadata };
      const status = { scores: [{ name: 'cpu', value }], validUntil: validUntil ?? null };
      if ((await api.get(ADDON_PLACEMENT_SCORE, metadata)) === undefined)
        await api.create(ADDON_PLACEMENT_SCORE, object);
      await api.mergePatch(ADDON_PLACEMENT_SCORE, metadata, { status }, { subresource: 'status' });
    }
  }
}

/** Policies refuse what others want, too. */
async function unlessForbidden(write: Promise<unknown>): Promise<void> {
  await write.catch((error: unknown) => {
    const text = errorText(error);
    if (![FEW_OF_BOUNDED, KEEP_KEPT].some((policy) => text.includes(policy))) throw error;
  });
}

/** Placements of the start that list no clusters, and works that its replica sets should have and do not have. */
function missing({ placements, works }: Outcome): readonly string[] {
  const undecided = PLACEMENTS.filter((name) => (placements[name]?.clusters ?? []).length === 0);
  const absent = Object.entries(START.replicaSets)
    .flatMap(([name, set]) =>
      (set?.placements ?? []).flatMap((placement) =>
        (placements[placement]?.clusters ?? []).map((cluster) => `team-a/${name} ${cluster}`),
      ),
    )
    .filter((work) => !works.includes(work));
  return [...undecided, ...absent];
}

/** What a person needs who looks into a difference. */
function notesOf(change: Commit & { readonly beside: Beside }, plan: Plan): string {
  const { placements, workloads, objects, deletionsHeld, notEvaluated } = plan;
  const changed = objects.map(({ change: how, ref }) => `${how} ${formatRef(ref)}`);
  return JSON.stringify(
    { change, placements, workloads, changed, deletionsHeld, notEvaluated },
    undefined,
    1,
  );
}

/** The sources of which a file cannot be read. */
function suspendedIn({ notEvaluated }: Plan): ReadonlySet<string> {
  return new Set(notEvaluated.flatMap((note) => /^Source (\S+) deletes nothing/.exec(note)?.[1] ?? []));
}

/** While a file of a source cannot be read, some of its deletions wait, and the plan says so of the source alone. */
function deletedBy(plan: Plan): readonly ObjectRef[] {
  const { objects } = plan;
  if (suspendedIn(plan).size > 0) return [];
  return objects.flatMap(({ change, ref, held }) => (change === 'deleted' && held !== true ? [ref] : []));
}

/** A plan that is not this one. */
function otherPlan(number: number): string {
  return `team-a/web=${String(number).padStart(12, '0')}`;
}

/** One that a commit repeats counts only while it was not met, which nobody but the controller knows: each of these is another one. */
function codesOf(plan: Plan, number: number): string {
  const entries =
    approvalAnnotation(plan)
      .join()
      .match(/[^\s"=,]+=[0-9a-f]{12}/g) ?? [];
  const own = String(number).padStart(12, '0');
  return entries.map((entry) => `${entry}, ${entry.slice(0, -12)}${own}`).join(', ');
}

/** What is held now is released by the commit. */
function placementReleases({ placements }: Outcome, releases: Commit['releases']): Record<string, string> {
  if (releases !== 'placements' && releases !== 'all') return {};
  const held = Object.entries(placements).flatMap(([name, one]) =>
    one.held === undefined ? [] : [[name, one.held.split(' ')[1] ?? ''] as const],
  );
  return Object.fromEntries(held);
}

function deletionReleases({ deletionsHeld }: Outcome, releases: Commit['releases']): Annotations {
  if (releases !== 'deletions' && releases !== 'all') return {};
  const entries = Object.entries(deletionsHeld);
  return Object.fromEntries(entries.map(([source, code]) => [source, { 'berth.dev/release': code }]));
}

/** An inventory lacks what workloads hold that are on the hub alone, and says so: there the plan on the hub counts. */
function withContentOf(
  plan: Plan,
  given: Pick<Plan, 'workloads' | 'notEvaluated'>,
): Pick<Plan, 'workloads' | 'notEvaluated'> {
  const lacks = given.notEvaluated.find((text) => text.includes('not in its inventory'));
  if (lacks === undefined) return given;
  const workloads = given.workloads.map((workload) => {
    const same = plan.workloads.find(({ kind, name }) => kind === workload.kind && name === workload.name);
    const { manifests, manifestCount, changedOn } = same ?? workload;
    const isLacking = lacks.includes(`${workload.namespace}/${workload.name}`);
    return isLacking ? { ...workload, manifests, manifestCount, changedOn } : workload;
  });
  return { workloads, notEvaluated: given.notEvaluated.filter((text) => text !== lacks) };
}
