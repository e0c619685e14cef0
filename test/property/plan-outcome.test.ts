import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dataOf, RECORDS_LABEL } from '../../src/app/serve/publish/hub-records.ts';
import { CONFIG_MAP, PLACEMENT } from '../../src/core/model/kinds.ts';
import { recordsOf } from '../../src/core/publish/compact-record.ts';
import type { Placement } from '../../src/core/model/placement.ts';
import { parentOfSource } from '../../src/core/sync/apply-set.ts';
import type { Plan } from '../../src/core/preview/plan.ts';
import {
  binding,
  cluster,
  clusterSet,
  namespace,
  outside,
  placement,
  yaml,
} from '../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../app/serve/served-fleet.ts';
import { PATIENCE_MS } from '../fakes/patience.ts';

/*
 * Random commits, each planned on the hub and then merged: every placement lists afterwards what the plan said, and what the plan said
 * would be held is held under the same token. BERTH_PLAN_COMMITS sets the number of commits of each
 * history, BERTH_PLAN_HISTORIES that of histories, BERTH_PROPERTY_SEED the first seed.
 */
const COMMITS = Number(process.env['BERTH_PLAN_COMMITS'] ?? 12);
const HISTORIES = Number(process.env['BERTH_PLAN_HISTORIES'] ?? 2);
const SEED = Number(process.env['BERTH_PROPERTY_SEED'] ?? 7);

const WAIT = { timeout: Number(process.env['BERTH_PLAN_WAIT_MS'] ?? PATIENCE_MS) };

const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8'];
const PLACEMENTS = ['api', 'batch', 'cache', 'web'];
const BUDGETS = ['1', '50%', '100%'] as const;

const weights = (balance: number, steady: number) => ({
  mode: 'Exact',
  configurations: [
    { scoreCoordinate: { type: 'BuiltIn', builtIn: 'Balance' }, weight: balance },
    { scoreCoordinate: { type: 'BuiltIn', builtIn: 'Steady' }, weight: steady },
  ],
});

const clusterState = fc.record({
  region: fc.constantFrom('eu', 'us'),
  tainted: fc.constantFrom(false, false, false, true),
  inSet: fc.constantFrom(true, true, true, false),
});
const placementState = fc.option(
  fc.record({
    numberOfClusters: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined, freq: 4 }),
    policy: fc.constantFrom(undefined, weights(1, 0), weights(1, 3), weights(3, 1)),
    region: fc.constantFrom(undefined, undefined, 'eu'),
    budget: fc.constantFrom(...BUDGETS),
  }),
  { freq: 6, nil: undefined },
);
/** Some of what Git says is said anew; the release of a hold comes with it, or does not. */
const commit = fc.record({
  clusters: fc.dictionary(fc.constantFrom(...CLUSTERS), clusterState, { maxKeys: 3 }),
  placements: fc.dictionary(fc.constantFrom(...PLACEMENTS), placementState, { maxKeys: 2 }),
  releases: fc.boolean(),
});
type Commit = typeof commit extends fc.Arbitrary<infer T> ? T : never;

interface State {
  readonly clusters: Readonly<Record<string, Commit['clusters'][string]>>;
  readonly placements: Readonly<Record<string, Commit['placements'][string]>>;
}

const START: State = {
  clusters: Object.fromEntries(
    CLUSTERS.map((name) => [name, { region: 'eu' as const, tainted: false as const, inSet: true as const }]),
  ),
  placements: Object.fromEntries(
    PLACEMENTS.map((name) => [
      name,
      { numberOfClusters: 3, policy: weights(1, 0), region: undefined, budget: '50%' as const },
    ]),
  ),
};

/** There is something to apply of every commit. */
const MARKER = { namespace: 'team-a', name: 'marker' };
const marker = (number: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: MARKER,
  data: { commit: String(number) },
});

function filesOf({ clusters, placements }: State, releases: Readonly<Record<string, string>>) {
  const files: Record<string, string | undefined> = {
    'set.yaml': yaml(namespace('team-a'), clusterSet, binding()),
  };
  for (const [name, { region, tainted, inSet }] of Object.entries(clusters))
    files[`clusters/${name}.yaml`] = yaml(
      cluster(name, {
        labels: { region, ...(inSet ? {} : outside.labels) },
        taints: tainted ? [{ key: 'drain', effect: 'NoSelect' }] : [],
      }),
    );
  for (const [name, state] of Object.entries(placements))
    files[`placements/${name}.yaml`] = state && yaml(placementOf(name, state, releases[name]));
  return files;
}

function placementOf(
  name: string,
  state: NonNullable<Commit['placements'][string]>,
  release: string | undefined,
) {
  const { numberOfClusters, policy, region, budget } = state;
  const selector = region && [{ requiredClusterSelector: { labelSelector: { matchLabels: { region } } } }];
  const spec = {
    ...(numberOfClusters !== undefined && { numberOfClusters }),
    ...(policy && { prioritizerPolicy: policy }),
    ...(selector && { predicates: selector }),
  };
  return placement(name, spec, {
    'berth.dev/removal-budget': budget,
    ...(release !== undefined && { 'berth.dev/release': release }),
  });
}

/** What a placement is expected to list, and the token of its hold. */
interface Outcome {
  readonly clusters: readonly string[];
  readonly held: string | undefined;
}

class History {
  readonly #fleet: ServedFleet;
  #state = START;
  #releases: Record<string, string> = {};
  #held: Record<string, string> = {};

  constructor(fleet: ServedFleet) {
    this.#fleet = fleet;
  }

  async begin(): Promise<void> {
    this.#fleet.git.commit(filesOf(this.#state, {}), 'First');
    await this.#fleet.serve({
      embedded: false,
      sources: [{ url: this.#fleet.git.path, ref: { type: 'branch', name: 'main' } }],
    });
    for (const name of PLACEMENTS) await this.#fleet.published(name);
  }

  async merge(change: Commit, number: number): Promise<void> {
    const { git } = this.#fleet;
    const before = await this.#outcomes();
    git.run('checkout', '-q', '-B', 'next', 'main');
    this.#state = {
      clusters: { ...this.#state.clusters, ...change.clusters },
      placements: { ...this.#state.placements, ...change.placements },
    };
    // A release is of the commit that brings it.
    this.#releases = change.releases ? this.#held : {};
    const files = filesOf(this.#state, this.#releases);
    const isKept = ([file, text]: [string, string | undefined]): boolean =>
      text !== undefined || existsSync(join(git.path, file));
    const kept = Object.fromEntries(Object.entries(files).filter(isKept));
    git.commit({ ...kept, 'marker.yaml': yaml(marker(number)) }, `Commit ${number}`);
    const plan = await this.#plan();
    const planned = expectedAfter(before, plan);
    const mark = this.#fleet.events.length;
    git.merge('next');
    await this.#fleet.event('synced', ({ applied }) => applied > 0, mark);
    await expect.poll(() => this.#outcomes(), WAIT).toEqual(planned);
    const tokens = plan.deletionsHeld.map(({ token }) => token);
    await expect.poll(() => this.#deletionsHeld(), WAIT).toEqual(tokens);
    await expect
      .poll(async () => [...(await this.#recordsOnHub())], WAIT)
      .toEqual(expect.arrayContaining([...this.#lastRecords()]));
    this.#held = Object.fromEntries(
      Object.entries(planned).flatMap(([name, { held }]) => (held === undefined ? [] : [[name, held]])),
    );
  }

  async #deletionsHeld(): Promise<readonly string[]> {
    const parent = await this.#fleet.hub.api.get(CONFIG_MAP, parentOfSource('main'));
    const token = parent?.metadata.annotations?.['berth.dev/held-token'] ?? '';
    return token === '' ? [] : [token];
  }

  /** What a plan knows of the past it reads there. */
  async #recordsOnHub(): Promise<ReadonlySet<string>> {
    const { items } = await this.#fleet.hub.api.list(CONFIG_MAP, { labelSelector: RECORDS_LABEL });
    return new Set(items.flatMap((item) => recordsOf(dataOf(item))).map(({ hash }) => hash));
  }

  #lastRecords(): readonly string[] {
    const last = new Map<string, string>();
    for (const event of this.#fleet.events)
      if (event.kind === 'published') last.set(event.placement, event.record);
    return [...last.values()];
  }

  async #plan(): Promise<Plan> {
    const { hub } = this.#fleet;
    const words = ['plan', '--base', 'main', '--head', 'next', '--kubeconfig', hub.kubeconfig, '-o', 'json'];
    const { stdout, stderr } = await this.#fleet.berth(...words);
    expect(stderr).toBe('');
    const plan = JSON.parse(stdout) as Plan;
    return plan;
  }

  async #outcomes(): Promise<Readonly<Record<string, Outcome>>> {
    const { items } = await this.#fleet.hub.api.list(PLACEMENT, { namespace: 'team-a' });
    const outcomes: Record<string, Outcome> = {};
    for (const { metadata, status } of items as unknown as Placement[]) {
      const hold = status?.conditions?.find(
        ({ type, status: is }) => type === 'berth.dev/Held' && is === 'True',
      );
      const clusters = (await this.#fleet.decisions(metadata.name)).toSorted();
      outcomes[metadata.name] = { clusters, held: /--token ([0-9a-f]{12})/.exec(hold?.message ?? '')?.[1] };
    }
    return outcomes;
  }
}

function expectedAfter(
  before: Readonly<Record<string, Outcome>>,
  plan: Plan,
): Readonly<Record<string, Outcome>> {
  // A placement that the plan does not name gets what is published: nothing of it is held.
  const after: Record<string, Outcome> = Object.fromEntries(
    Object.entries(before).map(([name, { clusters }]) => [name, { clusters, held: undefined }]),
  );
  for (const { name, change, added, removed, held, token } of plan.placements) {
    const stays = before[name]?.clusters ?? [];
    const gone = new Set(removed.map((move) => move.cluster));
    const clusters = [
      ...stays.filter((one) => !gone.has(one)),
      ...added.map((move) => move.cluster),
    ].toSorted();
    if (change === 'deleted') delete after[name];
    else after[name] = held === undefined ? { clusters, held: undefined } : { clusters: stays, held: token };
  }
  return after;
}

describe('what a plan says', () => {
  it.each(Array.from({ length: HISTORIES }, (_, at) => SEED + at))(
    'is what happens, commit after commit (seed %i)',
    async (seed) => {
      const fleet = await ServedFleet.create();
      try {
        const history = new History(fleet);
        await history.begin();
        const commits = fc.sample(commit, { numRuns: COMMITS, seed });
        for (const [number, change] of commits.entries()) await history.merge(change, number);
      } finally {
        await fleet.close();
      }
    },
  );
});
