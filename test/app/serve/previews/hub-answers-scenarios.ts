import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { serveController } from '../../../../src/app/serve/serve-controller.ts';
import { runCli } from '../../../../src/app/cli/program.ts';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { CONFIG_MAP, MANAGED_CLUSTER, PLACEMENT } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Plan } from '../../../../src/core/preview/plan.ts';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { GitFixture } from '../../../../packages/git-reader/test/fakes/git-fixture.ts';
import { makeCliIo } from '../../cli-harness.ts';
import { capped, type AnsweringHub, forbid, hook, takeField } from './answering-hub.ts';
import { baseFiles, binding, cluster, namespace, placement, replicaSet, yaml } from '../fleet-fixture.ts';
import { decisionsOn } from '../served-fleet.ts';

const CLUSTER = 'cluster.open-cluster-management.io';
/** For decisions that follow an applied commit. */
const SETTLE_MS = 400;

interface Scenario {
  readonly name: string;
  /** What the pull request changes; undefined: the file goes. */
  readonly files: Readonly<Record<string, string | undefined>>;
  /** What was merged before, one commit each. */
  readonly earlier?: readonly Readonly<Record<string, string | undefined>>[];
  /** What others do on the hub before that, and after it. */
  readonly others?: (hub: AnsweringHub) => Promise<void>;
  readonly othersThen?: (hub: AnsweringHub) => Promise<unknown>;
  /** What the plan says, as far as it is compared: exit code, and parts of its output. */
  readonly code: number;
  readonly says: readonly string[];
  readonly saysNot?: readonly string[];
  /** Only the hub itself knows it: a plan on an inventory says otherwise. */
  readonly knownBy?: 'hub';
}

const one = (name: string, spec: object = {}) => yaml(placement(name, { numberOfClusters: 1, ...spec }));
const START = {
  ...baseFiles,
  'web.yaml': one('web'),
  'batch.yaml': one('batch'),
  'replicas.yaml': yaml(replicaSet),
};

const refusal = (message: string): object => ({ allowed: false, status: { code: 403, message } });

const settings = (text: string): string =>
  yaml({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'team-a' } },
    ...{ data: { text }, immutable: true },
  });

/** A kind whose objects keep their name of a port. */
const BOATS = yaml({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'boats.example.org' },
  spec: {
    group: 'example.org',
    names: { kind: 'Boat', plural: 'boats' },
    scope: 'Namespaced',
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              port: {
                type: 'string',
                'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'a boat keeps its port' }],
              },
            },
          },
        },
      },
    ],
  },
});
const boat = (port: string): string =>
  yaml({ apiVersion: 'example.org/v1', kind: 'Boat', metadata: { name: 'one', namespace: 'team-a' }, port });

const scale = (hub: AnsweringHub): Promise<void> =>
  takeField(hub, 'autoscaler', PLACEMENT, {
    metadata: { name: 'web', namespace: 'team-a' },
    spec: { numberOfClusters: 2 },
  });

const prefers = (scoreCoordinate: object): object => ({
  prioritizerPolicy: { mode: 'Exact', configurations: [{ scoreCoordinate, weight: 1 }] },
});
const SCORED = prefers({ type: 'AddOn', addOn: { resourceName: 'usage', scoreName: 'cpu' } });
const ROOMY = prefers({ type: 'BuiltIn', builtIn: 'ResourceAllocatableMemory' });

/** What the score provider of a cluster once said, as Git records it. */
const score = (name: string, value: number) => ({
  apiVersion: `${CLUSTER}/v1alpha1`,
  kind: 'AddOnPlacementScore',
  metadata: { name: 'usage', namespace: name },
  status: { scores: [{ name: 'cpu', value }] },
});

/** The clusters, of which one has more memory than the others. */
const memory = (largest: string): string =>
  yaml(
    ...['c1', 'c2', 'c3', 'c4', 'c5', 'c6'].map((name) => ({
      ...cluster(name),
      status: { allocatable: { memory: name === largest ? '64Gi' : '8Gi' }, capacity: { memory: '64Gi' } },
    })),
  );

/** A cluster set of all clusters, and its binding. */
const BLUE = yaml(
  {
    ...{ apiVersion: `${CLUSTER}/v1beta2`, kind: 'ManagedClusterSet', metadata: { name: 'blue' } },
    spec: { clusterSelector: { selectorType: 'LabelSelector', labelSelector: {} } },
  },
  { ...binding(), metadata: { name: 'blue', namespace: 'team-a' }, spec: { clusterSet: 'blue' } },
);
const MORE = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6'];

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a misspelt field',
    files: {
      'web.yaml': one('web').replace('numberOfClusters', 'numberOfCluster'),
      'new.yaml': `${one('new')}  zone: a\n`,
    },
    code: 1,
    says: [
      'spec.numberOfCluster: is not a field',
      'did you mean numberOfClusters',
      'spec.zone',
      'No changes.',
    ],
  },
  {
    name: 'a null in a field that is not declared, beside a placement that nobody edits',
    files: {
      'web.yaml': yaml(
        placement('web', {
          numberOfClusters: 5,
          prioritizerPolicy: { mode: 'Additive', configurations: [] },
        }),
      ).replace('spec:\n', 'spec:\n  zones: null\n'),
    },
    code: 1,
    says: ['spec.zones', 'No changes.'],
  },
  {
    name: 'a value that the definition of the kind does not have',
    files: { 'web.yaml': one('web', { prioritizerPolicy: { mode: 'Some' } }) },
    code: 1,
    says: ['spec.prioritizerPolicy.mode: got string "Some"', 'No changes.'],
  },
  {
    name: 'a replica set with a strategy that its kind does not have',
    files: {
      'replicas.yaml': yaml({
        ...replicaSet,
        spec: { ...replicaSet.spec, placementRefs: [{ name: 'batch', rolloutStrategy: { type: 'Some' } }] },
      }),
    },
    code: 1,
    says: ['rolloutStrategy', 'No changes.'],
  },
  {
    name: 'fields of other managers',
    others: async (hub) => {
      await scale(hub);
      await takeField(hub, 'cmdb', MANAGED_CLUSTER, { metadata: { name: 'c1', labels: { tier: 'gold' } } });
    },
    files: {
      'web.yaml': one('web', { numberOfClusters: 3 }),
      'clusters.yaml': baseFiles['clusters.yaml'].replace(
        'name: c1\n  labels:\n',
        'name: c1\n  labels:\n    tier: silver\n',
      ),
    },
    code: 2,
    says: [
      'spec.numberOfClusters: belongs to autoscaler on the hub and stays as it is there',
      'metadata.labels.tier: belongs to cmdb on the hub',
    ],
    saysNot: ['→ 3'],
  },
  {
    name: 'nothing of what other managers own already',
    others: scale,
    earlier: [{ 'web.yaml': one('web', { numberOfClusters: 3 }) }],
    files: { 'batch.yaml': one('batch', { numberOfClusters: 2 }) },
    code: 2,
    says: ['team-a/batch'],
    saysNot: ['team-a/web', 'autoscaler'],
  },
  {
    name: 'policies that refuse a change and a deletion',
    others: async (hub) => {
      await forbid(
        hub,
        'max-2',
        'UPDATE',
        '!has(object.spec.numberOfClusters) || object.spec.numberOfClusters <= 2',
      );
      await forbid(hub, 'keep-batch', 'DELETE', "oldObject.metadata.name != 'batch'");
    },
    files: { 'web.yaml': one('web', { numberOfClusters: 3 }), 'batch.yaml': undefined },
    code: 1,
    says: [
      'not with max-2',
      'Placement team-a/batch: left Git and stays, because the hub refuses its deletion',
      'not with keep-batch',
    ],
    saysNot: ['→ 3', '→ none', '- Placement'],
    knownBy: 'hub',
  },
  {
    name: 'nothing of a deletion that a policy refused before',
    others: (hub) => forbid(hub, 'keep-batch', 'DELETE', "oldObject.metadata.name != 'batch'"),
    earlier: [{ 'batch.yaml': undefined }],
    files: { 'web.yaml': one('web', { numberOfClusters: 2 }) },
    code: 2,
    says: ['team-a/web: 1 → 2 clusters'],
    saysNot: ['team-a/batch'],
    knownBy: 'hub',
  },
  {
    name: 'a webhook that changes objects',
    others: (hub) =>
      hook(
        hub,
        'MutatingWebhookConfiguration',
        { resource: 'placements', operations: ['CREATE', 'UPDATE'] },
        capped,
      ),
    files: {
      'web.yaml': one('web', { numberOfClusters: 5 }),
      'new.yaml': one('new', { numberOfClusters: 4 }),
    },
    code: 2,
    says: ['team-a/web: 1 → 2 clusters', 'team-a/new: none → 2 clusters'],
    knownBy: 'hub',
  },
  {
    name: 'nothing of what a webhook changed before',
    others: (hub) =>
      hook(
        hub,
        'MutatingWebhookConfiguration',
        { resource: 'placements', operations: ['CREATE', 'UPDATE'] },
        capped,
      ),
    earlier: [{ 'web.yaml': one('web', { numberOfClusters: 5 }) }],
    files: { 'batch.yaml': one('batch', { numberOfClusters: 2 }) },
    code: 2,
    says: ['team-a/batch: 1 → 2 clusters'],
    saysNot: ['~ team-a/web'],
    knownBy: 'hub',
  },
  {
    name: 'a webhook that refuses a deletion',
    others: (hub) =>
      hook(
        hub,
        'ValidatingWebhookConfiguration',
        { resource: 'managedclusters', operations: ['DELETE'] },
        () => refusal('clusters are kept'),
      ),
    files: {
      'clusters.yaml': yaml(...['c1', 'c2', 'c3', 'c4', 'c5'].map((name) => cluster(name))),
      'web.yaml': one('web', { numberOfClusters: 6 }),
    },
    code: 1,
    says: [
      'ManagedCluster c6: left Git and stays, because the hub refuses its deletion',
      'clusters are kept',
      'team-a/web: 1 → 6 clusters',
    ],
    saysNot: ['- ManagedCluster'],
    knownBy: 'hub',
  },
  {
    name: 'a policy that refuses what is new, also for the placements beside it',
    others: (hub) => forbid(hub, 'no-new', 'CREATE', 'false'),
    files: {
      'new.yaml': one('new', { numberOfClusters: 6 }),
      'web.yaml': one('web', { numberOfClusters: 2 }),
    },
    code: 1,
    says: [
      'Placement team-a/new: the hub refuses the object',
      'not with no-new',
      'team-a/web: 1 → 2 clusters',
    ],
    saysNot: ['+ team-a/new', '+ Placement'],
    knownBy: 'hub',
  },
  {
    name: 'fields that must not change',
    earlier: [{ 'boats.yaml': BOATS, 'settings.yaml': settings('one') }, { 'boat.yaml': boat('Kiel') }],
    files: { 'settings.yaml': settings('two'), 'boat.yaml': boat('Riga') },
    code: 1,
    says: ['field is immutable when `immutable` is set', 'a boat keeps its port', 'No changes.'],
    knownBy: 'hub',
  },
  {
    name: 'the status that Git records of clusters and scores',
    earlier: [
      { 'web.yaml': one('web', SCORED), 'scores.yaml': yaml(namespace('c4'), score('c4', 50)) },
      { 'batch.yaml': one('batch', ROOMY), 'clusters.yaml': memory('c2') },
    ],
    files: {
      'scores.yaml': yaml(namespace('c4'), score('c4', -50), namespace('c5'), score('c5', 70)),
      'clusters.yaml': memory('c6'),
    },
    code: 2,
    says: [
      '+ c5: score usage changes',
      '- c4: score usage',
      '+ c6: resources change',
      '- c2: resources change',
    ],
  },
  {
    name: 'the deletion of an object that the hub refused before',
    earlier: [{ 'bad.yaml': `${one('bad', { numberOfClusters: 5 })}  zone: a\n` }],
    files: { 'bad.yaml': undefined },
    code: 0,
    says: ['No changes.'],
    saysNot: ['as it is'],
  },
  {
    name: 'other deletions beside that of an object that the hub refused before',
    earlier: [
      { 'bad.yaml': `${one('bad', { numberOfClusters: 5 })}  zone: a\n` },
      { 'more.yaml': yaml(...MORE.map((name) => placement(name, { numberOfClusters: 1 }))) },
    ],
    files: { 'bad.yaml': undefined, 'more.yaml': undefined },
    code: 3,
    says: ['6 of 18 objects left Git (budget 4); these stay: Placement team-a/m1'],
    saysNot: ['team-a/bad'],
  },
  {
    name: 'the deletion of a set whose placement would leave it, if the hub did not refuse that',
    earlier: [{ 'blue.yaml': BLUE, 'web.yaml': one('web', { clusterSets: ['blue'], numberOfClusters: 3 }) }],
    files: { 'blue.yaml': undefined, 'web.yaml': `${one('web', { clusterSets: ['prod'] })}  zone: a\n` },
    code: 1,
    says: ['blue take away 3 of 3 clusters of Placement team-a/web'],
  },
  {
    name: 'the deletion of a set whose placement had a held deletion, and comes back with an error',
    earlier: [
      { 'blue.yaml': BLUE, 'web.yaml': one('web', { clusterSets: ['blue'], numberOfClusters: 3 }) },
      { 'web.yaml': undefined },
    ],
    files: {
      'blue.yaml': undefined,
      'web.yaml': `${one('web', { clusterSets: ['blue'], numberOfClusters: 3 })}  zone: a\n`,
    },
    code: 1,
    says: ['blue take away 3 of 3 clusters of Placement team-a/web'],
  },
  {
    name: 'another object beside one that the hub refused before',
    earlier: [{ 'web.yaml': one('web', { numberOfClusters: 5 }).replace('spec:\n', 'spec:\n  zone: a\n') }],
    files: { 'batch.yaml': one('batch', { numberOfClusters: 2 }) },
    code: 2,
    says: ['team-a/batch', 'The hub refuses Placement team-a/web on the base as well'],
    saysNot: ['~ team-a/web'],
  },
  {
    name: 'what a placement lists that the hub refused before, and that somebody deleted',
    earlier: [
      { 'web.yaml': one('web', { numberOfClusters: 3 }) },
      { 'web.yaml': `${one('web', { numberOfClusters: 3 })}  zone: a\n` },
    ],
    othersThen: ({ api }) => api.delete(PLACEMENT, { namespace: 'team-a', name: 'web' }),
    files: { 'web.yaml': one('web', { numberOfClusters: 2 }) },
    code: 2,
    says: ['+ Placement team-a/web', '~ team-a/web', '3 → 2 clusters'],
  },
];

/** Each scenario is planned and merged, and then the hub publishes what the plan said. */
export function hubAnswers(open: () => Promise<AnsweringHub>): void {
  it.each(SCENARIOS)(
    '$name',
    async ({ files, earlier = [], others, othersThen, code, says, saysNot = [], knownBy }) => {
      const hub = await open();
      const git = new GitFixture();
      git.commit(START);
      const { controller, follows } = await serve(hub, git);
      try {
        const isDecided = async (): Promise<boolean> =>
          Object.values(await published(hub.api)).filter(({ length }) => length > 0).length === 2;
        await expect.poll(isDecided, { timeout: PATIENCE_MS }).toBe(true);
        await others?.(hub);
        // fixed wait: nothing says that what others write moves nothing
        await sleep(SETTLE_MS);
        for (const commit of earlier) {
          git.commit(commit);
          await follows();
        }
        await othersThen?.(hub);
        const before = await published(hub.api);
        git.run('checkout', '-q', '-b', 'next');
        git.commit(files);
        const onHub = ['--kubeconfig', hub.kubeconfig];
        const inventory = join(hub.dataDir, 'inventory.json');
        await berth(git, 'snapshot', ...onHub, '--file', inventory);
        const run = async (...more: string[]) => {
          const words = ['plan', '--base', 'main', '--head', 'next', '--kind', '*', '--embedded'];
          return berth(git, ...words, ...more);
        };
        const text = await run(...onHub);
        const unasked = [await run(...onHub, '--no-dry-runs'), await run('--inventory', inventory)];
        expect(unasked[0]?.text).toContain('The hub is not asked');
        for (const planned of [text, ...(knownBy === 'hub' ? [] : unasked)]) {
          for (const part of says) expect(planned.text).toContain(part);
          for (const part of saysNot) expect(planned.text).not.toContain(part);
          expect(planned.code, planned.text).toBe(code);
        }
        const plan = JSON.parse((await run(...onHub, '-o', 'json')).out) as Plan;
        git.run('checkout', '-q', 'main');
        git.merge('next');
        await follows();
        await expect.poll(() => published(hub.api), { timeout: PATIENCE_MS }).toEqual(after(before, plan));
        // fixed wait: what the plan does not say would come later
        await sleep(SETTLE_MS);
        expect(await published(hub.api), text.text).toEqual(after(before, plan));
        expect(await heldCodes(hub.api)).toEqual(plan.deletionsHeld.map(({ token }) => token));
      } finally {
        await controller.close();
        git.remove();
      }
    },
  );
}

async function berth(git: GitFixture, ...words: readonly string[]) {
  const { io, stdout, stderr } = makeCliIo({ cwd: git.path });
  return { code: await runCli([...words], io), text: stdout() + stderr(), out: stdout() };
}

async function serve({ api, dataDir }: AnsweringHub, git: GitFixture) {
  const controller = await serveController({
    ...{ api, dataDir, clock: systemClock, log: new SilentLogger(), random: Math.random },
    ...{ engineVersion: 'test', env: process.env, embedded: true, pollIntervalMs: 100 },
    sources: [{ url: git.path, ref: { type: 'branch', name: 'main' }, kinds: ['*'] }],
  });
  const synced = new Set<string>();
  let read = '';
  void (async () => {
    for await (const event of controller.events) {
      if (event.kind === 'commit-read') read = event.commit?.id ?? '';
      if (event.kind === 'synced') synced.add(read);
    }
  })();
  /** The controller applied the commit of main, and decided by it. */
  const follows = async (): Promise<void> => {
    const commit = git.run('rev-parse', 'main').trim();
    await expect.poll(() => synced.has(commit), { timeout: PATIENCE_MS }).toBe(true);
    await controller.whenReady();
    // fixed wait: nothing says that a commit moves nothing
    await sleep(SETTLE_MS);
  };
  return { controller, follows };
}

/** The published clusters of each placement. */
async function published(api: KubeApi): Promise<Readonly<Record<string, readonly string[]>>> {
  const { items } = await api.list(PLACEMENT, { namespace: 'team-a' });
  const names = items.map(({ metadata }) => metadata.name);
  const clusters = names.map(async (name) => [name, (await decisionsOn(api, name)).toSorted()] as const);
  return Object.fromEntries(await Promise.all(clusters));
}

/** The approval codes of deletions that are held. */
async function heldCodes(api: KubeApi): Promise<readonly string[]> {
  const { items } = await api.list(CONFIG_MAP);
  return items.flatMap(({ metadata }) => metadata.annotations?.['berth.dev/held-token'] || []);
}

function after(before: Readonly<Record<string, readonly string[]>>, { placements }: Plan): object {
  const outcome = { ...before };
  for (const { name, change, added, removed, ...sides } of placements) {
    const gone = new Set(removed.map(({ cluster: lost }) => lost));
    const kept = (before[name] ?? sides.before?.clusters ?? []).filter((known) => !gone.has(known));
    outcome[name] = [...kept, ...added.map(({ cluster: gained }) => gained)].toSorted();
    if (change === 'deleted') delete outcome[name];
  }
  return outcome;
}
