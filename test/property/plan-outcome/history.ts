import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ExpectStatic } from 'vitest';
import { dataOf } from '../../../src/controllers/publication/hub-records.ts';
import {
  compactRecord,
  RECORDS_LABEL,
  recordsOf,
  selectNewRecords,
} from '../../../src/core/publish/record/compact-record.ts';
import { recordedGroups } from '../../../src/core/publish/record/recorded-groups.ts';
import { ADDON_PLACEMENT_SCORE, apiVersionOf, CONFIG_MAP } from '../../../src/core/model/kinds.ts';
import { formatRef } from '../../../src/core/model/object-ref.ts';
import type { DecisionRecord } from '../../../src/core/publish/record/decision-record.ts';
import type { Plan } from '../../../src/core/preview/plan.ts';
import { approvalAnnotation } from '../../../src/core/preview/plan-text.ts';
import { sha256 } from '../../../src/runtime/sha256.ts';
import { yaml } from '../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../app/serve/served-fleet.ts';
import { PATIENCE_MS } from '../../fakes/patience.ts';
import { type Commit, PLACEMENTS, START, stateAfter } from './commits.ts';
import { filesOf, marker, markerOf, type Said, SOURCES } from './files.ts';
import { Lives } from './lives.ts';
import { expectedAfter, type Outcome, readOutcome } from './outcome.ts';

/** A look reads the whole hub: many histories at once look less often than one would. */
const WAIT = { timeout: Number(process.env['BERTH_PLAN_WAIT_MS'] ?? PATIENCE_MS), interval: 200 };
/** Only what a commit says is to be seen: the controller is told of each one, and looks by itself only in case that was lost. */
const POLL_INTERVAL_MS = 2_000;
const NOTHING_SAID: Said = { typo: { what: undefined, placement: '' }, releases: {} };

export interface HistoryOptions {
  /** The budget lets everything go. */
  readonly isOpen: boolean;
  /** The controller follows the repository as two sources. */
  readonly isDivided: boolean;
  /** Of the test: several histories run at once. */
  readonly expect: ExpectStatic;
}

/** By source. */
type Annotations = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A hub, a repository and a controller that may be killed; each commit is planned, merged and compared. */
export class History {
  readonly #fleet: ServedFleet;
  readonly #expect: ExpectStatic;
  readonly #root = mkdtempSync(join(tmpdir(), 'berth-plan-'));
  readonly #settings: string;
  /** Their names. */
  readonly #sources: readonly string[];
  readonly #lives: Lives;
  #state = START;
  #before: Outcome | undefined;
  /** Placements that the last commit released. */
  #released: ReadonlySet<string> = new Set();
  /** The last plan. */
  #planned = '';

  private constructor(fleet: ServedFleet, { isOpen, isDivided, expect }: HistoryOptions) {
    this.#fleet = fleet;
    this.#expect = expect;
    const url = fleet.git.path;
    const sources = isDivided
      ? SOURCES.map(({ name, paths }) => ({ name, paths, url }))
      : [{ name: 'fleet', url }];
    this.#sources = sources.map(({ name }) => name);
    this.#settings = join(this.#root, 'settings.yaml');
    const planned = sources.map((source) => ({
      ...source,
      kinds: ['*'],
      ...(isOpen && { removalBudget: '100%' }),
    }));
    writeFileSync(this.#settings, yaml({ sources: planned }));
    this.#lives = new Lives(fleet, {
      sources: sources.map((source) => ({ ...source, ref: { type: 'branch', name: 'main' } as const })),
      pollIntervalMs: POLL_INTERVAL_MS,
      ...(isOpen && { budget: { percent: 100, atLeast: 0 } }),
    });
  }

  static async begin(options: HistoryOptions): Promise<History> {
    const fleet = await ServedFleet.create();
    const history = new History(fleet, options);
    const files = Object.entries(filesOf(START, NOTHING_SAID)).filter(([, text]) => text !== undefined);
    fleet.git.commit(Object.fromEntries(files), 'First');
    await history.#lives.begin();
    // Works follow the decisions; a plan that begins before them would not know them.
    await options.expect.poll(async () => missing(await history.#outcome()), WAIT).toEqual([]);
    return history;
  }

  async close(): Promise<void> {
    await this.#fleet.close();
    this.#lives.remove();
    rmSync(this.#root, { recursive: true, force: true });
  }

  async merge(change: Commit, number: number): Promise<void> {
    const { git } = this.#fleet;
    const before = await this.#rest(change);
    git.run('checkout', '-q', '-B', 'next', 'main');
    this.#state = stateAfter(this.#state, change);
    // The file as it was before still brings its release, and nobody but the controller knows whether that was used.
    const isReleased = this.#released.has(change.typo.placement);
    const { releases } = change;
    const said = {
      typo: isReleased ? NOTHING_SAID.typo : change.typo,
      releases: placementReleases(before, releases),
    };
    this.#released = new Set(Object.keys(said.releases));
    const annotations = deletionReleases(before, releases);
    this.#commit(said, number, annotations);
    let plan = await this.#plan();
    if (change.approval !== 'none') {
      const approved = change.approval === 'right' ? tokensOf(plan, number) : otherPlan(number);
      if (approved !== '')
        this.#commit(said, number, {
          ...annotations,
          fleet: { ...annotations['fleet'], 'berth.dev/plan': approved },
        });
      plan = await this.#plan();
    }
    const planned = expectedAfter(before, plan);
    if (change.kill?.when === 'before') await this.#lives.killAndBegin();
    if (change.kill?.when === 'during') this.#lives.dieAfter(change.kill);
    git.merge('next');
    this.#lives.reconcile();
    if (change.kill?.when === 'during') await this.#reviveWhenDead(planned, number);
    await this.#reaches(planned, number, notesOf(change, plan));
    if (change.kill?.when === 'after') {
      await this.#lives.killAndBegin();
      await this.#reaches(planned, number, notesOf(change, plan));
    }
    this.#before = planned;
    this.#planned = notesOf(change, plan);
  }

  /** What there is before a commit: what the last plan said, after news from outside what came of it. */
  async #rest({ scores }: Commit): Promise<Outcome> {
    const found = await this.#outcome();
    if (this.#before !== undefined) this.#expect(found, this.#planned).toEqual(this.#before);
    if (Object.keys(scores).length === 0) return found;
    await this.#tellScores(scores);
    // Nothing tells that nothing more comes of it: it is looked at until two looks in a row show the same.
    let [last, at] = [found, ''];
    await this.#expect
      .poll(
        async () => {
          await this.#fleet.until(async () => (await this.#areRecordsWritten()) || undefined);
          const now = await this.#outcome();
          const text = `${JSON.stringify(now)} ${this.#fleet.events.filter(({ kind }) => kind === 'published' || kind === 'decided').length}`;
          const isSame = text === at;
          [last, at] = [now, text];
          return isSame;
        },
        { ...WAIT, interval: 400 },
      )
      .toBe(true);
    return last;
  }

  /** @param annotations by the source whose marker has them */
  #commit(said: Said, number: number, annotations: Annotations): void {
    const { git } = this.#fleet;
    const isChanged = ([file, text]: [string, string | undefined]): boolean =>
      text !== undefined || existsSync(join(git.path, file));
    const files = Object.entries(filesOf(this.#state, said)).filter(isChanged);
    const markers = SOURCES.map(({ name, marker: file }) => [
      file,
      yaml(marker(name, number, annotations[name] ?? {})),
    ]);
    git.commit(Object.fromEntries([...files, ...markers]), `Commit ${number}`);
  }

  async #reaches(planned: Outcome, number: number, message: string): Promise<void> {
    await this.#expect.poll(() => this.#applied(), WAIT).toEqual(SOURCES.map(() => String(number)));
    try {
      await this.#expect.poll(() => this.#outcome(), { ...WAIT, message }).toEqual(planned);
    } catch (error) {
      console.error(`commit ${number}: ${this.#lives.trace(this.#fleet.events)}`);
      throw error;
    }
    // A process that was killed left records to the next one.
    await this.#lives.whenReady();
    await this.#expect.poll(() => this.#areRecordsWritten(), WAIT).toBe(true);
  }

  /** A commit that takes fewer writes than that kills nobody. */
  async #reviveWhenDead(planned: Outcome, number: number): Promise<void> {
    const isThere = async (): Promise<boolean> => {
      const isApplied = (await this.#applied()).every((commit) => commit === String(number));
      return isApplied && isDeepStrictEqual(await this.#outcome(), planned);
    };
    const isOver = this.#expect.poll(async () => this.#lives.isDead || (await isThere()), WAIT);
    // Where it is not, the next process shows what differs.
    await isOver.toBe(true).catch(() => undefined);
    await this.#lives.killAndBegin();
  }

  /** What a plan knows of the past it reads there: a process that began after a kill records later what it found. */
  async #areRecordsWritten(): Promise<boolean> {
    const { items } = await this.#fleet.hub.api.list(CONFIG_MAP, { labelSelector: RECORDS_LABEL });
    const onHub = items.reduce((all, item) => ({ ...all, ...dataOf(item) }), {});
    const written = new Set(recordsOf(onHub).map(({ hash }) => hash));
    const last = new Map((await this.#lives.records()).map((record) => [record.placement, record]));
    // What a restart found and the hub knew already is not written again.
    const isKnown = (record: DecisionRecord): boolean =>
      written.has(record.hash) || selectNewRecords(onHub, [compactRecord(sha256, record)]).length === 0;
    const { placements } = await this.#outcome();
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

  async #plan(): Promise<Plan> {
    const { kubeconfig } = this.#fleet.hub;
    const plan = await this.#planOn('--kubeconfig', kubeconfig);
    const inventory = join(this.#root, 'inventory.json');
    await this.#expect
      .poll(async () => {
        await this.#fleet.berth('snapshot', '--kubeconfig', kubeconfig, '--file', inventory);
        const { notEvaluated, ...planned } = await this.#planOn('--inventory', inventory, '--now', plan.now);
        // What was not evaluated begins with the age of the inventory.
        const [, ...others] = notEvaluated;
        return { ...planned, ...withContentOf(plan, { workloads: planned.workloads, notEvaluated: others }) };
      }, WAIT)
      .toEqual(plan);
    return plan;
  }

  async #planOn(...hub: readonly string[]): Promise<Plan> {
    const words = [
      'plan',
      '--base',
      'main',
      '--head',
      'next',
      ...hub,
      '-o',
      'json',
      '--config',
      this.#settings,
    ];
    const { stdout, stderr } = await this.#fleet.berth(
      ...words,
      ...this.#sources.flatMap((name) => ['--source', name]),
    );
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as Plan;
  }

  /** The commit that each source has applied, as the hub shows it. */
  #applied(): Promise<readonly (string | undefined)[]> {
    const commitOf = async (source: string): Promise<string | undefined> =>
      (
        (await this.#fleet.hub.api.get(CONFIG_MAP, markerOf(source)))?.['data'] as
          | { commit?: string }
          | undefined
      )?.commit;
    return Promise.all(SOURCES.map(({ name }) => commitOf(name)));
  }

  #outcome(): Promise<Outcome> {
    return readOutcome(this.#fleet.hub.api, this.#fleet.decisions);
  }

  async #tellScores(scores: Commit['scores']): Promise<void> {
    const { api } = this.#fleet.hub;
    for (const [cluster, { value, validUntil }] of Object.entries(scores)) {
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
function notesOf(change: Commit, plan: Plan): string {
  const { placements, workloads, objects, deletionsHeld, notEvaluated } = plan;
  const changed = objects.map(({ change: how, ref }) => `${how} ${formatRef(ref)}`);
  return JSON.stringify(
    { change, placements, workloads, changed, deletionsHeld, notEvaluated },
    undefined,
    1,
  );
}

/** A plan that is not this one. */
function otherPlan(number: number): string {
  return `team-a/web=${String(number).padStart(12, '0')}`;
}

/** One that a commit repeats counts only while it was not met, which nobody but the controller knows: each of these is another one. */
function tokensOf(plan: Plan, number: number): string {
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
  return Object.fromEntries(entries.map(([source, token]) => [source, { 'berth.dev/release': token }]));
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
