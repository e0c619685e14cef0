import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { SourceContent } from '../../../src/controllers/sources/manifests/source-content.ts';
import type { GitSources } from '../../../src/controllers/sources/reading/git-source.ts';
import { DecisionRecorder } from '../../../src/controllers/publication/decision-recorder.ts';
import { CommitBarrier } from '../../../src/controllers/sources/progress/commit-barrier.ts';
import { RepositoryLoop } from '../../../src/controllers/sources/following/repository-loop.ts';
import { ObjectCache } from '@berth/kube/cache/object-cache';
import { HubInventory } from '../../../src/controllers/inventory/hub-inventory.ts';
import { HubSync } from '../../../src/controllers/sources/following/hub-sync.ts';
import { PlanApprovals } from '../../../src/controllers/publication/plan-approvals.ts';
import {
  DeclaredPlacements,
  SourceDeclarations,
} from '../../../src/controllers/sources/progress/source-declarations.ts';
import { startEngine } from '../../../packages/placement/src/incremental-scheduler.ts';
import { PreviousRecords } from '../../../src/controllers/publication/recorded-publications.ts';
import { LastTransition } from '../../../src/controllers/publication/last-transition.ts';
import type { PublishState } from '../../../src/core/publish/judge/publish-state.ts';
import type { PlacementMove } from '../../../src/core/transition/unfinished-transition.ts';
import { VolatileMemory } from '../../fakes/volatile-memory.ts';
import { PublishPipeline } from '../../../src/controllers/publication/publish-pipeline.ts';
import { PublishedPlacements } from '../../../src/core/publish/pages/published-placements.ts';
import { TransientError } from '@berth/runtime/errors';
import { PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { FinalPage } from '../../../src/core/publish/pages/plan-pages.ts';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { binding, cluster, clusterSet, namespace, placement } from './fleet-fixture.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { UnreliableKubeApi, type FaultRates } from '../../fakes/unreliable-kube-api.ts';
import { seeded } from '@berth/test-kit/seeded-random';
import { SilentLogger } from '@berth/test-kit/silent-logger';

export const FAULTS: FaultRates = { fail: 0.12, lostAnswer: 0.08, late: 0.06, watch: 0.05 };
export const NO_FAULTS: FaultRates = { fail: 0, lostAnswer: 0, late: 0, watch: 0 };
const PLACEMENTS = ['web', 'api', 'batch'];
export const HOUR = 3_600_000;

const digest = (text: string) => createHash('sha256').update(text).digest('hex');

/** Asserts after every write that no cluster that stays selected is missing. */
class WatchingClient {
  /** Per placement: the last complete publication, and everything decided since. */
  readonly #open = new Map<string, string[][]>();
  readonly #finalClusters = new Map<string, string[]>();

  decided(key: string, selected: readonly string[]): void {
    this.#open.set(key, [...(this.#open.get(key) ?? []), [...selected]]);
  }

  notePages(key: string, pages: readonly FinalPage[]): void {
    this.#finalClusters.set(
      key,
      pages.flatMap((page) => page.decisions.map((d) => d.clusterName)),
    );
    // Only the newest decision can still cause writes.
    this.#open.set(key, (this.#open.get(key) ?? []).slice(-1));
  }

  check(objects: readonly KubeObject[]): void {
    for (const [key, published] of this.#finalClusters) {
      const open = this.#open.get(key) ?? [];
      const listed = new Set(clustersOf(objects, key));
      for (const name of published)
        if (open.every((selected) => selected.includes(name)))
          expect(listed, `${key} lost ${name}`).toContain(name);
    }
  }
}

function clustersOf(objects: readonly KubeObject[], key: string): string[] {
  return objects
    .filter(
      ({ metadata }) =>
        `${metadata.namespace}/${metadata.labels?.['cluster.open-cluster-management.io/placement']}` === key,
    )
    .flatMap((page) =>
      ((page['status'] as { decisions?: { clusterName: string }[] } | undefined)?.decisions ?? []).map(
        (d) => d.clusterName,
      ),
    );
}

/** A commit: the objects it holds. */
function randomFleet(random: () => number): object[] {
  const pick = (count: number) => Math.floor(random() * count);
  const clusters = Array.from({ length: 8 }, (_, i) => {
    const tainted =
      random() < 0.2
        ? [{ key: 'drain', value: 'x', effect: 'NoSelect', timeAdded: '2026-01-01T00:00:00Z' }]
        : [];
    return cluster(`c${i}`, { labels: { zone: `z${pick(3)}`, ring: `r${pick(2)}` }, taints: tainted });
  });
  const placements = PLACEMENTS.map((name) => {
    const groups = {
      decisionStrategy: {
        groupStrategy: {
          clustersPerDecisionGroup: 1 + pick(4),
          decisionGroups: [
            {
              groupName: `g${pick(3)}`,
              groupClusterSelector: { labelSelector: { matchLabels: { ring: 'r0' } } },
            },
          ],
        },
      },
    };
    return placement(
      name,
      { numberOfClusters: 1 + pick(7), ...(random() < 0.5 ? groups : {}) },
      { 'berth.dev/removal-budget': '100%' },
    );
  });
  return [namespace('team-a'), clusterSet, binding(), ...clusters, ...placements];
}

/** A controller on a fake clock, a fake hub and a fake Git; Git holds a random fleet from the start. */
export class Simulation {
  readonly clock = new FakeClock();
  readonly hub = new FakeKubeApi();
  readonly random: () => number;
  readonly api: UnreliableKubeApi;
  readonly client = new WatchingClient();
  /** Put between the controller and the network: a test may let it die. */
  wrap: (api: KubeApi) => KubeApi;
  readonly publishStates = new VolatileMemory<PublishState>();
  readonly transitions = new VolatileMemory<readonly PlacementMove[]>();
  content: SourceContent;
  supervisor: Supervisor | undefined;
  violations: unknown[] = [];
  #commits = 0;

  constructor(seed: number, rates: FaultRates = FAULTS, wrap: (api: KubeApi) => KubeApi = (api) => api) {
    this.random = seeded(seed);
    for (const [kind, plural, namespaced] of [
      ['Namespace', 'namespaces', false],
      ['ConfigMap', 'configmaps', true],
    ] as const)
      this.hub.addKind({ group: '', version: 'v1', kind, plural, namespaced });
    this.api = new UnreliableKubeApi(this.hub, this.clock, this.random, rates);
    this.wrap = wrap;
    this.content = this.commit();
    this.#watchWrites();
  }

  commit(): SourceContent {
    const objects = randomFleet(this.random).map((object) => ({
      object: object as KubeObject,
      location: { file: 'x.yaml', line: 1, column: 1 },
    }));
    const who = { name: 'Ada', email: 'a@x', timeMs: 0 };
    const commit = {
      id: `commit-${++this.#commits}`,
      tree: '',
      parents: [],
      author: who,
      committer: who,
      subject: 's',
      signed: false,
    };
    this.content = {
      commit,
      objects,
      problems: [],
      files: 1,
      complete: true,
      textOf: async () => undefined,
    } as unknown as SourceContent;
    return this.content;
  }

  start(): void {
    const { clock, random, client, publishStates } = this;
    const api = this.wrap(this.api);
    const log = new SilentLogger();
    const supervisor = new Supervisor({ clock, random, log });
    const cache = new ObjectCache({ api, clock, random, log });
    const inventory = new HubInventory({ cache, clock, staleAfterMs: 600_000 });
    const stores = new Map(inventory.inputs.map(({ kind, store }) => [kind.kind, store]));
    const barrier = new CommitBarrier(clock, stores, ['fleet']);
    const recorder = new DecisionRecorder({
      clock,
      engineVersion: 'x',
      lastCommitOf: () => undefined,
      inventoryRevision: () => 0,
      append: () => undefined,
    });
    const publishedPlacements = new (class extends PublishedPlacements {
      override set(key: string, pages: readonly FinalPage[]): void {
        super.set(key, pages);
        client.notePages(key, pages);
      }
    })();
    const engine = startEngine();
    const pipeline = new PublishPipeline({
      api,
      clock,
      random,
      log,
      inventory,
      publishStates,
      lastTransition: new LastTransition(this.transitions, log),
      recorder,
      restoredTo: () => [],
      previousRecords: new PreviousRecords(Promise.resolve([]), log),
      publishedPlacements,
      budgetOf: () => ({ percent: 100, atLeast: 0 }),
      approvals: new PlanApprovals(new Map(), clock, ['fleet']),
      barrier,
      declared: new DeclaredPlacements([]),
      mayListNamespaces: false,
      decide: function* (snapshot) {
        // One by one, as they are asked for: a decision that nobody took was never made.
        const each = engine(snapshot);
        try {
          for (let step = each.next(); step.done !== true; ) {
            const { placement, selected } = step.value;
            client.decided(`team-a/${placement.metadata.name}`, selected);
            step = each.next(yield step.value);
          }
        } finally {
          each.return();
        }
      },
      emit: () => undefined,
      onCycle: () => undefined,
    });
    const sync = new HubSync({
      api,
      digest,
      source: 'fleet',
      namespace: 'berth-system',
      budget: { percent: 100, atLeast: 0 },
      deletionWindowMs: 600_000,
      clock,
      force: false,
      annotatePlacements: true,
      recordedStatus: false,
      createNamespaces: true,
      concurrency: 4,
      declarations: new SourceDeclarations(clock, [{ name: 'fleet', force: false }]),
      written: barrier,
    });
    const repository: GitSources = {
      repository: undefined as never,
      inProcess: false,
      fetch: async () => {
        if (random() < this.api.rates.fail)
          throw new TransientError('remote gone', { code: 'git.network', subject: 'git' });
        return { commit: this.content.commit?.id ?? '', changed: true };
      },
      last: async () => undefined,
      read: async () => [this.content],
      settle: async () => undefined,
      close: async () => undefined,
    };
    const loop = new RepositoryLoop({
      url: 'https://git.example.org/fleet.git',
      repository,
      sources: [{ name: 'fleet', sync }],
      clock,
      random,
      log,
      emit: () => undefined,
      pollIntervalMs: 5_000,
      resyncIntervalMs: 60_000,
      emitSource: (event) => barrier.handle(event),
    });
    cache.start(supervisor);
    pipeline.start(supervisor);
    supervisor.start('git', (signal) => loop.run(signal));
    this.supervisor = supervisor;
  }

  /** kill -9: nothing is awaited, nothing is cleaned up. */
  kill(): void {
    void this.supervisor?.close();
    this.api.dropLateWrites();
  }

  async pages(): Promise<readonly KubeObject[]> {
    return (await this.hub.list(PLACEMENT_DECISION)).items;
  }

  #watchWrites(): void {
    const check = (): void => {
      try {
        this.client.check(this.hub.peek(PLACEMENT_DECISION));
      } catch (error) {
        this.violations.push(error);
      }
    };
    this.hub.onWrite = check;
  }
}

/** Hub equals Git, each selected cluster is listed exactly once, status agrees, and nothing is written any more. */
export async function expectRest(sim: Simulation): Promise<void> {
  const { hub, clock } = sim;
  const before = hub.writes.length;
  await clock.advance(HOUR);
  expect(hub.writes.slice(before)).toEqual([]);
  expect(sim.violations).toEqual([]);
  const pages = await sim.pages();
  for (const { object } of sim.content.objects.filter((entry) => entry.object.kind === 'Placement')) {
    const { name } = object.metadata;
    const live = (await hub.get(PLACEMENT, { namespace: 'team-a', name })) as unknown as Placement;
    expect(live.spec).toEqual(object['spec']);
    const listed = clustersOf(pages, `team-a/${name}`);
    expect(new Set(listed).size, `${name} lists a cluster twice`).toBe(listed.length);
    expect(live.status?.numberOfSelectedClusters).toBe(listed.length);
    expect(listed.length).toBeGreaterThan(0);
  }
}
