import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startAgent, type Agent, hubHashOf } from '../../src/start-agent.ts';
import { APPLIED_MANIFEST_WORK, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { OWNER_LABEL } from '../../src/rules/applied/ownership.ts';
import { CONFIG_MAP, configMap } from '../agent-harness.ts';
import { type Life, MortalKubeApi } from '@berth/test-kit/mortal-kube-api';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

/** `BERTH_HISTORIES` sets another number. */
const HISTORIES = Number(process.env['BERTH_HISTORIES'] ?? (process.env['CI'] === undefined ? 300 : 10_000));

/** More than any history takes: an agent that writes on and on dies of it, so that the history ends, and is printed. */
const MANY_WRITES = 5_000;

const OBJECTS = ['a', 'b', 'c', 'd'] as const;
const WORKS = ['one', 'two', 'three'] as const;
const STRATEGIES = ['Update', 'ServerSideApply', 'CreateOnly'] as const;

const workName = fc.constantFrom(...WORKS);
const objectName = fc.constantFrom(...OBJECTS);

type Step =
  | {
      do: 'apply';
      work: string;
      objects: readonly string[];
      content: number;
      strategy: (typeof STRATEGIES)[number];
      orphan: boolean;
    }
  | { do: 'delete' | 'forceRemove'; work: string }
  | { do: 'flaky'; of: 'hub' | 'cluster'; calls: number }
  | { do: 'createForeign'; object: string }
  | { do: 'drift' | 'deleteObject'; object: string }
  | { do: 'deleteApplied'; work: string }
  | { do: 'kill'; afterWrites: number; lastIsDone: boolean }
  | { do: 'restart' | 'cutHub' | 'cutCluster' | 'connect' | 'expire' }
  | { do: 'wait'; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('apply' as const),
      work: workName,
      objects: fc.uniqueArray(objectName, { minLength: 1, maxLength: 3 }),
      content: fc.nat(5),
      strategy: fc.constantFrom(...STRATEGIES),
      orphan: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete' as const), work: workName }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forceRemove' as const), work: workName }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('createForeign' as const), object: objectName }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('flaky' as const),
      of: fc.constantFrom('hub' as const, 'cluster' as const),
      calls: fc.integer({ min: 1, max: 6 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('drift' as const, 'deleteObject' as const),
      object: objectName,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deleteApplied' as const), work: workName }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('kill' as const),
      afterWrites: fc.integer({ min: 1, max: 8 }),
      lastIsDone: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'restart' as const,
        'cutHub' as const,
        'cutCluster' as const,
        'connect' as const,
        'expire' as const,
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 30, 500, 20_000) }),
  },
);

/** What these histories once brought to light. */
const FOUND: readonly Step[][] = [
  // Killed between the server-side apply of an object and its owner reference: nobody knew the object as theirs.
  [
    { do: 'apply', work: 'two', objects: ['b'], content: 0, strategy: 'ServerSideApply', orphan: false },
    { do: 'flaky', of: 'cluster', calls: 1 },
    { do: 'cutHub' },
    { do: 'delete', work: 'two' },
    { do: 'deleteApplied', work: 'two' },
    { do: 'kill', afterWrites: 6, lastIsDone: false },
    { do: 'apply', work: 'one', objects: ['a'], content: 0, strategy: 'Update', orphan: true },
  ],
  // Two works want the same objects otherwise and cannot report: they changed them back and forth without a pause.
  [
    { do: 'wait', ms: 30 },
    { do: 'kill', afterWrites: 6, lastIsDone: false },
    {
      do: 'apply',
      work: 'one',
      objects: ['d', 'b', 'a'],
      content: 4,
      strategy: 'ServerSideApply',
      orphan: false,
    },
    { do: 'cutCluster' },
    { do: 'wait', ms: 20000 },
    {
      do: 'apply',
      work: 'three',
      objects: ['a', 'd', 'b'],
      content: 1,
      strategy: 'ServerSideApply',
      orphan: false,
    },
    { do: 'cutCluster' },
    {
      do: 'apply',
      work: 'two',
      objects: ['d', 'b', 'c'],
      content: 3,
      strategy: 'ServerSideApply',
      orphan: false,
    },
    {
      do: 'apply',
      work: 'three',
      objects: ['a', 'b', 'd'],
      content: 0,
      strategy: 'ServerSideApply',
      orphan: false,
    },
    { do: 'deleteObject', object: 'b' },
    { do: 'restart' },
    { do: 'cutHub' },
  ],
  // A work deleted an object that another one had just taken, and the response to the write of the other one hid it.
  [
    { do: 'apply', work: 'three', objects: ['d'], content: 0, strategy: 'Update', orphan: false },
    { do: 'apply', work: 'two', objects: ['c'], content: 0, strategy: 'Update', orphan: true },
    { do: 'expire' },
    { do: 'apply', work: 'three', objects: ['a'], content: 0, strategy: 'Update', orphan: true },
    {
      do: 'apply',
      work: 'one',
      objects: ['d', 'a', 'c'],
      content: 0,
      strategy: 'ServerSideApply',
      orphan: false,
    },
  ],
];

/** Two API servers that live on, and agents that come and go. */
class History {
  readonly hub = new FakeKubeApi();
  readonly cluster = new FakeKubeApi();
  readonly clock = new FakeClock();
  /** Objects that may be there although no work wants them. */
  readonly mayStay = new Set<string>();
  #agent: Agent | undefined;
  #life: Life = { dead: false, writesLeft: MANY_WRITES, lastIsDone: false };
  #hubView = new MortalKubeApi(this.hub, this.#life);
  #clusterView = new MortalKubeApi(this.cluster, this.#life);

  constructor() {
    this.cluster.addKind(CONFIG_MAP);
    this.start();
  }

  start(): void {
    this.#life = { dead: false, writesLeft: MANY_WRITES, lastIsDone: false };
    this.#hubView = new MortalKubeApi(this.hub, this.#life);
    this.#clusterView = new MortalKubeApi(this.cluster, this.#life);
    this.#agent = startAgent({
      hub: this.#hubView,
      cluster: this.#clusterView,
      clusterName: 'cluster1',
      clock: this.clock,
      log: new SilentLogger(),
      random: () => 0.5,
      evictionGraceMs: 120_000,
    });
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const one of steps) {
      await this.#do(one);
      await this.clock.advance(5);
    }
    await this.end();
  }

  /** Whatever state things are in: a new agent, both networks up, and time. */
  async end(): Promise<void> {
    this.#life.dead = true;
    this.start();
    await this.#settle();
    await this.#agent?.close();
  }

  async #settle(): Promise<void> {
    for (let minute = 0; minute < 12; minute++) await this.clock.advance(60_000);
  }

  async #do(one: Step): Promise<void> {
    switch (one.do) {
      case 'apply':
        return this.#applyWork(one);
      case 'delete':
        await this.hub.delete(MANIFEST_WORK, { namespace: 'cluster1', name: one.work });
        return;
      case 'forceRemove':
        return this.#forceRemove(one.work);
      case 'flaky':
        return (one.of === 'hub' ? this.#hubView : this.#clusterView).failNext(one.calls);
      case 'createForeign':
        return this.#createForeign(one.object);
      case 'drift':
        return this.#patchIfThere(one.object);
      case 'deleteObject':
        await this.cluster.delete(CONFIG_MAP, { namespace: 'default', name: one.object });
        return;
      case 'deleteApplied':
        await this.cluster.delete(APPLIED_MANIFEST_WORK, {
          namespace: '',
          name: appliedName(this.hub, one.work),
        });
        return;
      case 'kill':
        // The next agent starts when this one is dead; a life long enough is just cut off.
        this.#life.writesLeft = one.afterWrites;
        Object.assign(this.#life, { lastIsDone: one.lastIsDone });
        await this.clock.advance(2_000);
        this.#life.dead = true;
        return this.start();
      case 'restart':
        await this.#agent?.close();
        return this.start();
      case 'cutHub':
        return this.#hubView.disconnect();
      case 'cutCluster':
        return this.#clusterView.disconnect();
      case 'connect':
        this.#hubView.connect();
        return this.#clusterView.connect();
      case 'expire':
        this.hub.expire();
        return this.cluster.expire();
      case 'wait':
        return this.clock.advance(one.ms);
    }
  }

  async #applyWork(one: Extract<Step, { do: 'apply' }>): Promise<void> {
    const key = { namespace: 'cluster1', name: one.work };
    const existing = await this.hub.get(MANIFEST_WORK, key);
    if (existing?.metadata.deletionTimestamp !== undefined) return;
    if (one.orphan) for (const name of one.objects) this.mayStay.add(name);
    const spec: ManifestWorkSpec = {
      ...(one.orphan ? { deleteOption: { propagationPolicy: 'Orphan' as const } } : {}),
      workload: {
        manifests: one.objects.map((name) => configMap(name, { x: `${one.work}-${one.content}` })),
      },
      manifestConfigs: [
        {
          resourceIdentifier: { resource: 'configmaps', name: '*', namespace: '*' },
          updateStrategy:
            one.strategy === 'ServerSideApply'
              ? { type: one.strategy, serverSideApply: { force: true } }
              : { type: one.strategy },
        },
      ],
    };
    if (existing === undefined)
      await this.hub.create(MANIFEST_WORK, {
        apiVersion: 'work.open-cluster-management.io/v1',
        kind: 'ManifestWork',
        metadata: key,
        spec,
      });
    else await this.hub.update(MANIFEST_WORK, { ...existing, spec });
  }

  async #forceRemove(name: string): Promise<void> {
    const key = { namespace: 'cluster1', name };
    if ((await this.hub.get(MANIFEST_WORK, key)) === undefined) return;
    await this.hub.mergePatch(MANIFEST_WORK, key, { metadata: { finalizers: [] } });
    await this.hub.delete(MANIFEST_WORK, key);
    // It may have got its finalizer back in between.
    if ((await this.hub.get(MANIFEST_WORK, key)) !== undefined) return;
  }

  async #createForeign(name: string): Promise<void> {
    if ((await this.cluster.get(CONFIG_MAP, { namespace: 'default', name })) !== undefined) return;
    this.mayStay.add(name);
    await this.cluster.create(CONFIG_MAP, configMap(name, { theirs: '1' }));
  }

  async #patchIfThere(name: string): Promise<void> {
    const key = { namespace: 'default', name };
    if ((await this.cluster.get(CONFIG_MAP, key)) === undefined) return;
    await this.cluster.mergePatch(CONFIG_MAP, key, { data: { x: 'drift' } });
  }
}

function appliedName(hub: FakeKubeApi, work: string): string {
  return `${hubHashOf(hub.server)}-${work}`;
}

/** What is there in the end, compared with what the works say. */
async function check(history: History): Promise<void> {
  expect(history.hub.writes.length + history.cluster.writes.length).toBeLessThan(MANY_WRITES);
  const works = (await history.hub.list(MANIFEST_WORK)).items;
  const applied = (await history.cluster.list(APPLIED_MANIFEST_WORK)).items;
  const objects = (await history.cluster.list(CONFIG_MAP)).items;
  expect(works.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([]);
  expect(names(applied)).toEqual(works.map(({ metadata }) => appliedName(history.hub, metadata.name)).sort());
  const wantedBy = new Map<string, KubeObject[]>();
  for (const work of works)
    for (const manifest of manifestsOf(work))
      wantedBy.set(manifest.metadata.name, [...(wantedBy.get(manifest.metadata.name) ?? []), work]);
  const unwanted = objects.filter(({ metadata }) => !wantedBy.has(metadata.name));
  expect(unwanted.filter(({ metadata }) => !history.mayStay.has(metadata.name))).toEqual([]);
  expect(unwanted.flatMap(({ metadata }) => metadata.ownerReferences ?? [])).toEqual([]);
  expect(objects.filter(({ metadata }) => metadata.labels?.[OWNER_LABEL] !== undefined)).toEqual([]);
  expect(names(objects)).toEqual(expect.arrayContaining([...wantedBy.keys()]));
  for (const object of objects) {
    const wanting = wantedBy.get(object.metadata.name) ?? [];
    if (wanting.length === 0) continue;
    const contents = wanting
      .flatMap(manifestsOf)
      .filter(({ metadata }) => metadata.name === object.metadata.name);
    // Server-side apply leaves what others set beside it, and what is only created may be anything by now.
    if (!wanting.some(createsOnly)) expect(contents.map(valueOf)).toContain(valueOf(object));
    expect((object.metadata.ownerReferences ?? []).map(({ uid }) => uid).sort()).toEqual(
      wanting
        .filter(owns)
        .map((work) => uidOf(applied, appliedName(history.hub, work.metadata.name)))
        .sort(),
    );
  }
  for (const work of works) {
    const conditions =
      (work['status'] as { conditions?: { type: string; status: string }[] }).conditions ?? [];
    expect(conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'Applied=True',
      'Available=True',
    ]);
  }
}

function manifestsOf(work: KubeObject): readonly KubeObject[] {
  return (work['spec'] as ManifestWorkSpec).workload?.manifests ?? [];
}

function owns(work: KubeObject): boolean {
  return (work['spec'] as ManifestWorkSpec).deleteOption === undefined;
}

function createsOnly(work: KubeObject): boolean {
  const [config] = (work['spec'] as ManifestWorkSpec).manifestConfigs ?? [];
  return config?.updateStrategy?.type === 'CreateOnly';
}

function valueOf(object: KubeObject): string | undefined {
  return (object['data'] as { x?: string } | undefined)?.x;
}

function names(objects: readonly KubeObject[]): string[] {
  return objects.map(({ metadata }) => metadata.name).sort();
}

function uidOf(applied: readonly KubeObject[], name: string): string {
  return applied.find(({ metadata }) => metadata.name === name)?.metadata.uid ?? 'missing';
}

describe('random histories of an agent', () => {
  it('end with the cluster equal to the works, nothing orphaned', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        const history = new History();
        await history.run(steps);
        await check(history);
      }),
      { numRuns: HISTORIES, endOnFailure: false, examples: FOUND.map((steps) => [steps]) },
    );
  });
});
