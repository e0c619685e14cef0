import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { CLUSTER_MANAGEMENT_ADDON, CONFIG_MAP, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import type { ExpectStatic } from 'vitest';
import { heldRemoval } from '../../../src/core/addon/install/held-removal.ts';
import type { Plan } from '../../../src/core/preview/plan.ts';
import { CommitWriter } from '../../../packages/git-reader/test/fakes/commit-writer.ts';
import { ServedFleet } from '../../app/serve/served-fleet.ts';
import { ADD_ONS, type Commit, filesOf, START, type State, stateAfter } from './add-on-commits.ts';

/** Longer than what leaves is gathered: by then it would have left. */
const STILL_MS = 2_500;

/** By name of the add-on, while it exists: where it is, and the code of a hold. */
type AddOns = Readonly<
  Record<string, { readonly clusters: readonly string[]; readonly held: string | undefined }>
>;

export interface AddOnHistoryOptions {
  readonly seed: number;
  /** How many clusters may lose an add-on at once. */
  readonly budget: number;
  readonly expect: ExpectStatic;
}

/** A hub, a repository and a controller that manages add-ons; each commit is planned, merged and compared. */
export class AddOnHistory {
  readonly #fleet: ServedFleet;
  readonly #repository: CommitWriter;
  readonly #options: AddOnHistoryOptions;
  #state: State = START;
  #planned = '';

  private constructor(fleet: ServedFleet, options: AddOnHistoryOptions) {
    this.#fleet = fleet;
    this.#repository = new CommitWriter(fleet.git.path);
    this.#options = options;
  }

  static async begin(options: AddOnHistoryOptions): Promise<AddOnHistory> {
    const fleet = await ServedFleet.create();
    const history = new AddOnHistory(fleet, options);
    history.#repository.commit('main', filesOf(START, 0));
    await fleet.serve({
      sources: [
        {
          url: fleet.git.path,
          ref: { type: 'branch', name: 'main' },
          budget: { percent: 100, atLeast: 0 },
        },
      ],
      budget: { percent: 0, atLeast: options.budget },
      embedded: false,
      addons: { duties: ['install', 'configuration'], clock: systemClock },
      announcement: { name: 'berth-test', identity: 'test' },
      clock: systemClock,
    });
    const all = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
    await history.#becomes(0, {
      logs: { clusters: all, held: undefined },
      mesh: { clusters: all.slice(0, 5), held: undefined },
    });
    return history;
  }

  async close(): Promise<void> {
    await this.#fleet.close();
  }

  async merge(change: Commit, number: number): Promise<void> {
    const { expect, seed } = this.#options;
    const before = await this.#addOns();
    const had = await this.#configs();
    this.#state = stateAfter(this.#state, change);
    this.#repository.branch('next', 'main');
    const files = Object.entries(filesOf(this.#state, number)).filter(
      ([file, text]) => text !== undefined || this.#repository.has(file),
    );
    this.#repository.commit('next', Object.fromEntries(files));
    const plan = await this.#plan('next');
    if (number % 3 === 1) await this.#planOnInventory(plan);
    this.#planned = `commit ${number} of seed ${seed}: ${JSON.stringify({ change, before, ...partOf(plan) })}`;
    const due = plan.waiting.filter(({ kind }) => !['hold', 'deletions', 'add-on-held'].includes(kind));
    expect(due, this.#planned).toEqual([]);
    this.#repository.merge('next', 'main');
    await this.#becomes(number, expectedAfter(before, plan));
    const addOns = plan.workloads.filter(({ kind }) => kind === CLUSTER_MANAGEMENT_ADDON.kind);
    const changed = async (): Promise<readonly string[]> =>
      [...(await this.#configs())]
        .flatMap(([key, configs]) => (had.has(key) && had.get(key) !== configs ? [key] : []))
        .sort();
    const want = addOns.flatMap(({ name, changedOn }) => changedOn.map((one) => `${name} ${one}`)).sort();
    await expect.poll(changed, { timeout: PATIENCE_MS, message: this.#planned }).toEqual(want);
    await this.#planIdle();
    if (change.isReleased) await this.#release(plan);
  }

  /** It says the same, but what was not evaluated. */
  async #planOnInventory(plan: Plan): Promise<void> {
    const file = join(this.#fleet.dataDir, 'inventory.json');
    await this.#fleet.berth('snapshot', '--kubeconfig', this.#fleet.hub.kubeconfig, '--file', file);
    const { addOnsHeld, workloads } = await this.#planWith('next', '--inventory', file, '--now', plan.now);
    const want = { addOnsHeld: plan.addOnsHeld, workloads: plan.workloads };
    this.#options.expect({ addOnsHeld, workloads }, this.#planned).toEqual(want);
  }

  /** What waits on main is no part of a pull request that changes a text file. */
  async #planIdle(): Promise<void> {
    const { expect } = this.#options;
    this.#repository.branch('idle', 'main');
    this.#repository.commit('idle', { 'README.md': `${Date.now()}\n` });
    const { workloads, addOnsHeld, waiting } = await this.#plan('idle');
    const held = Object.entries(await this.#addOns()).flatMap(([name, { held: code }]) =>
      code === undefined ? [] : [name],
    );
    const waits = waiting.flatMap(({ kind, subject }) => (kind === 'add-on-held' ? [subject] : []));
    const want = { workloads: [], addOnsHeld: [], waits: held };
    expect({ workloads, addOnsHeld, waits }, this.#planned).toEqual(want);
  }

  /** The codes of the plan approve what it says: first those of placements, then those of add-ons. */
  async #release({ placements, addOnsHeld }: Plan): Promise<void> {
    const { expect } = this.#options;
    const heldPlacements = placements.filter(({ held }) => held !== undefined);
    for (const { name, token } of heldPlacements) await this.#runRelease(`team-a/${name}`, token);
    // Its placements take an add-on from more clusters than the plan said of the merge alone.
    const names = [...new Set(addOnsHeld.map(({ addOn }) => addOn))];
    for (const name of names) {
      const all = addOnsHeld.filter(({ addOn }) => addOn === name);
      const last = all.find(({ ifApproved }) => ifApproved === true) ?? all[0];
      if (last === undefined) continue;
      const { token, clusters } = last;
      await expect
        .poll(async () => (await this.#addOns())[name]?.held, {
          timeout: PATIENCE_MS,
          message: this.#planned,
        })
        .toBe(token);
      await this.#runRelease('--addon', name, token);
      const left = async (): Promise<boolean> => {
        const now = (await this.#addOns())[name];
        return now?.held === undefined && clusters.every((one) => now?.clusters.includes(one) !== true);
      };
      await expect.poll(left, { timeout: PATIENCE_MS, message: this.#planned }).toBe(true);
    }
    // fixed wait: what a release takes away later would be no part of the next plan
    if (heldPlacements.length + names.length > 0) await sleep(STILL_MS);
  }

  async #runRelease(...words: readonly string[]): Promise<void> {
    const token = words.at(-1) ?? '';
    const { kubeconfig } = this.#fleet.hub;
    const args = [...words.slice(0, -1), '--token', token, '--kubeconfig', kubeconfig];
    const { code, stderr } = await this.#fleet.berth('release', ...args);
    this.#options.expect({ code, stderr }, this.#planned).toEqual({ code: 0, stderr: '' });
  }

  /** And stays so. */
  async #becomes(number: number, want: AddOns): Promise<void> {
    const { expect } = this.#options;
    const isThere = async (): Promise<boolean> =>
      (await this.#applied()) === String(number) && isDeepStrictEqual(await this.#addOns(), want);
    const deadlineMs = Date.now() + PATIENCE_MS;
    // fixed wait: the pace of a poll
    while (!(await isThere()) && Date.now() < deadlineMs) await sleep(50);
    // fixed wait: what leaves later than that is judged by itself
    await sleep(STILL_MS);
    expect(await this.#addOns(), this.#planned).toEqual(want);
  }

  async #applied(): Promise<string | undefined> {
    const found = await this.#fleet.hub.api.get(CONFIG_MAP, { namespace: 'team-a', name: 'marker' });
    return (found?.['data'] as { readonly commit?: string } | undefined)?.commit;
  }

  async #addOns(): Promise<AddOns> {
    const { api } = this.#fleet.hub;
    const [managed, installed] = [
      await api.list(CLUSTER_MANAGEMENT_ADDON),
      await api.list(MANAGED_CLUSTER_ADDON),
    ];
    const clustersOf = (name: string): readonly string[] =>
      installed.items
        .filter(({ metadata }) => metadata.name === name)
        .map(({ metadata }) => metadata.namespace ?? '')
        .sort();
    const known = managed.items.map((object) => {
      const { name } = object.metadata;
      return [name, { clusters: clustersOf(name), held: heldRemoval(object)?.code }] as const;
    });
    // Without its ClusterManagementAddOn, an add-on is gone.
    const orphans = ADD_ONS.filter(
      (name) => !known.some(([one]) => one === name) && clustersOf(name).length > 0,
    );
    return Object.fromEntries([
      ...known,
      ...orphans.map((name) => [
        `${name} without its owner`,
        { clusters: clustersOf(name), held: undefined },
      ]),
    ]);
  }

  /** By `ADD-ON CLUSTER`: the configurations that its status names. */
  async #configs(): Promise<ReadonlyMap<string, string>> {
    const { items } = await this.#fleet.hub.api.list(MANAGED_CLUSTER_ADDON);
    const entries = items.map(({ metadata, status }) => {
      const { configReferences = [] } = (status ?? {}) as {
        readonly configReferences?: readonly { readonly desiredConfig?: object }[];
      };
      const desired = configReferences.map(({ desiredConfig }) => JSON.stringify(desiredConfig));
      return [`${metadata.name} ${metadata.namespace}`, desired.sort().join()] as const;
    });
    return new Map(entries);
  }

  #plan(head: 'next' | 'idle'): Promise<Plan> {
    return this.#planWith(head, '--kubeconfig', this.#fleet.hub.kubeconfig);
  }

  async #planWith(head: string, ...hub: readonly string[]): Promise<Plan> {
    const words = ['plan', '--base', 'main', '--head', head, ...hub, '-o', 'json'];
    const { stdout, stderr } = await this.#fleet.berth(...words);
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as Plan;
  }
}

function partOf({ placements, workloads, addOnsHeld, waiting, deletionsHeld, notEvaluated }: Plan): object {
  const moves = placements.map(({ name, added, removed, held }) => ({
    name,
    added,
    removed,
    held: held?.reason,
  }));
  return { moves, workloads, addOnsHeld, waiting, deletionsHeld, notEvaluated };
}

function expectedAfter(before: AddOns, plan: Plan): AddOns {
  const waiting = plan.waiting.flatMap(({ kind, subject }) => (kind === 'add-on-held' ? [subject] : []));
  const after = Object.fromEntries(
    Object.entries(before).map(([name, { clusters, held }]) => [
      name,
      { clusters, held: waiting.includes(name) ? held : undefined },
    ]),
  );
  for (const { change, ref } of plan.objects) {
    if (ref.kind !== CLUSTER_MANAGEMENT_ADDON.kind) continue;
    if (change === 'created') after[ref.name] = { clusters: [], held: undefined };
    if (change === 'deleted') delete after[ref.name];
  }
  for (const { kind, name, added, removed } of plan.workloads) {
    const known = after[name];
    if (kind !== CLUSTER_MANAGEMENT_ADDON.kind || known === undefined) continue;
    const clusters = [...known.clusters.filter((one) => !removed.includes(one)), ...added].sort();
    after[name] = { ...known, clusters };
  }
  for (const { addOn, ifApproved, token } of plan.addOnsHeld) {
    const known = after[addOn];
    if (known !== undefined && ifApproved !== true) after[addOn] = { ...known, held: token };
  }
  return after;
}
