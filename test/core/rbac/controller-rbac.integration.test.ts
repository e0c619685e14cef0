import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hubAdmission } from '../../../src/controllers/admission/hub-admission.ts';
import type { ControllerDuties } from '../../../src/core/rbac/controller-rbac.ts';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { KubeLeaseStore } from '@berth/kube/kube-lease-store';
import { DEFAULT_TIMING } from '@berth/kube/leader-election/lease';
import { LeaderElector } from '@berth/kube/leader-election/leader-elector';
import { SecretAuth } from '../../../src/app/settings/serve-source.ts';
import {
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  OCM_KINDS,
  SECRET,
  type KindInfo,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import { PlacementEvents } from '../../../src/controllers/events/placement-events.ts';
import { GitFixture } from '../../../packages/git-reader/test/fakes/git-fixture.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { adminToken, askDashboard } from '../../app/serve/dashboard/dashboard-client.ts';
import { baseFiles, namespace, placement, yaml } from '../../app/serve/fleet-fixture.ts';
import { printedRights, restrictedClient } from '../../app/serve/restricted-controller.ts';
import { ServedFleet } from '../../app/serve/served-fleet.ts';

const WORK = 'work.open-cluster-management.io';
const EVERYTHING: ControllerDuties = {
  listens: true,
  applies: true,
  schedule: 'berth',
  works: true,
  embedded: false,
  secrets: [{ namespace: 'berth-system', name: 'git' }],
};
/** What admission asks for beside the request: no request is named like them. */
const ASKED_BY_ADMISSION = [
  'create managedclustersets/join',
  'create managedclustersets/bind',
  'update managedclusters/accept',
  'execute-as manifestworks',
];

const clusters = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
const namespaces = yaml(...clusters.map(namespace));
const executor = {
  subject: { type: 'ServiceAccount', serviceAccount: { namespace: 'team', name: 'runner' } },
};
const workload = (value: string) => ({
  manifests: [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'team' }, data: { value } },
  ],
});
const score = {
  apiVersion: 'cluster.open-cluster-management.io/v1alpha1',
  kind: 'AddOnPlacementScore',
  metadata: { name: 'load', namespace: 'c1' },
  status: { scores: [{ name: 'cpu', value: 5 }] },
};
const work = {
  apiVersion: `${WORK}/v1`,
  kind: 'ManifestWork',
  metadata: { name: 'single', namespace: 'c1' },
  spec: { workload: workload('1'), executor },
};
const replicaSet = (value: string, annotations: object = {}) => ({
  apiVersion: `${WORK}/v1alpha1`,
  kind: 'ManifestWorkReplicaSet',
  metadata: {
    name: 'web',
    namespace: 'team-a',
    annotations: { 'berth.dev/rollback': 'manual', ...annotations },
  },
  spec: { manifestWorkTemplate: { workload: workload(value), executor }, placementRefs: [{ name: 'web' }] },
});
const GROUPS = {
  groupStrategy: {
    decisionGroups: [
      {
        groupName: 'canary',
        groupClusterSelector: { claimSelector: {}, labelSelector: { matchLabels: {} } },
      },
    ],
    clustersPerDecisionGroup: 2,
  },
};
const EVERY_KIND = {
  ...baseFiles,
  'namespaces.yaml': namespaces,
  'score.yaml': yaml(score),
  'work.yaml': yaml(work),
  'web.yaml': yaml(placement('web', { numberOfClusters: 4 })),
  'rollout.yaml': yaml(replicaSet('1')),
};

let fleet: ServedFleet;
let restricted: Awaited<ReturnType<typeof restrictedClient>>;
beforeEach(async () => {
  fleet = await ServedFleet.create({ admission: hubAdmission() });
});
afterEach(async () => {
  await fleet.close();
  restricted.close();
});

async function listed(kind: KindInfo): Promise<readonly KubeObject[]> {
  return (await fleet.hub.api.list(kind)).items;
}

/** As the agents would; until every cluster has the value. */
async function reportWorks(value: string, count: number): Promise<void> {
  const works = await fleet.until(async () => {
    const found = (await listed(MANIFEST_WORK)).filter(({ metadata }) => metadata.name !== 'single');
    const current = found.every((one) => JSON.stringify(one['spec']).includes(`"value":"${value}"`));
    return found.length === count && current ? found : undefined;
  });
  for (const { metadata } of works) {
    const lastTransitionTime = new Date().toISOString();
    const conditions = ['Applied', 'Available'].map((type) => ({
      type,
      status: 'True',
      reason: 'Test',
      message: '',
      observedGeneration: metadata.generation,
      lastTransitionTime,
    }));
    const key = { namespace: metadata.namespace ?? '', name: metadata.name };
    await fleet.hub.api.mergePatch(MANIFEST_WORK, key, { status: { conditions } }, { subresource: 'status' });
  }
}

/** Waits until another template than `before` is the last good one; its hash. */
function lastGood(before?: string): Promise<string> {
  return fleet.until(async () => {
    const live = await fleet.hub.api.get(MANIFEST_WORK_REPLICA_SET, { namespace: 'team-a', name: 'web' });
    const hash = live?.metadata.annotations?.['berth.dev/last-good-template'];
    return hash === before ? undefined : hash;
  });
}

/** The controller renews the Event of a hold after half an hour. */
async function renewedHold(api: KubeApi & { readonly used: ReadonlySet<string> }): Promise<void> {
  const condition = {
    ...{ type: 'berth.dev/Held', status: 'True' as const, reason: 'WouldEmpty', message: 'held' },
    lastTransitionTime: new Date(Date.now() - 3_600_000).toISOString(),
  };
  const held = { ...placement('web'), status: { conditions: [condition] } } as unknown as Placement;
  const events = new PlacementEvents({ api, clock: systemClock, random: () => 0, log: new SilentLogger() });
  const stop = new AbortController();
  const renewing = events.renew(() => [held], stop.signal);
  await fleet.until(() =>
    [...api.used].some((right) => right.startsWith('patch events')) ? true : undefined,
  );
  stop.abort();
  await renewing;
}

/** Somebody logs in and looks: the hub is asked who it is, and what he may see. */
async function lookAtDashboard(url: string | undefined): Promise<void> {
  const token = adminToken(fleet.hub.kubeconfig);
  expect((await askDashboard(url, '/ui/api/fleet', { token })).status).toBe(200);
}

describe('the permissions that berth serve --print-rbac prints', () => {
  it('are enough for everything that the controller does, and all used', async () => {
    restricted = await restrictedClient(fleet, EVERYTHING);
    const { api, releaser } = restricted;
    const { git, hub } = fleet;
    const asReleaser = ['--kubeconfig', await releaser()];
    const other = new GitFixture();
    other.commit({ 'taken.yaml': yaml(namespace('team-a')) });
    git.commit(EVERY_KIND);
    await fleet.serve({ api, embedded: false });

    await reportWorks('1', 4);
    const first = await lastGood();
    // The namespace of an object is still to come.
    const late = placement('late');
    git.commit({ 'late.yaml': yaml({ ...late, metadata: { ...late.metadata, namespace: 'late' } }) });
    await fleet.until(() => (api.used.has('watch namespaces') ? true : undefined));
    git.commit({ 'late.yaml': undefined });
    await fleet.stop();
    const sources = [{ url: git.path }, { name: 'other', url: other.path }];
    const { url } = await fleet.serve({ api, embedded: false, sources, http: fleet.http() });
    await lookAtDashboard(url);
    await fleet.event('sync-problem', ({ message }) => message.includes('belongs to source fleet'));
    const grouped = placement('web', { numberOfClusters: 4, decisionStrategy: GROUPS });
    git.commit({ 'web.yaml': yaml(grouped), 'rollout.yaml': yaml(replicaSet('2')) });
    await reportWorks('2', 4);
    await lastGood(first);
    git.commit({ 'rollout.yaml': yaml(replicaSet('3', { 'berth.dev/rollout': 'abort' })) });
    await fleet.until(() => (api.used.has('get controllerrevisions') ? true : undefined));

    git.commit({ 'web.yaml': yaml(placement('web', { numberOfClusters: 1 })) });
    const { token: code } = await fleet.event('held');
    expect(await fleet.berth('release', 'team-a/web', '--token', code, ...asReleaser)).toMatchObject({
      code: 0,
    });
    await fleet.until(async () => ((await fleet.decisions('web')).length === 1 ? true : undefined));

    const files = Object.keys(EVERY_KIND).filter((file) => file !== 'namespaces.yaml');
    git.commit(Object.fromEntries(files.map((file) => [file, undefined])));
    const { message } = await fleet.event('sync-problem', (problem) => problem.message.includes('release'));
    const [pruneCode = ''] = /[0-9a-f]{12}/.exec(message) ?? [];
    const releasing = ['release', '--source', 'fleet', '--token', pruneCode, ...asReleaser];
    expect(await fleet.berth(...releasing)).toMatchObject({ code: 0 });
    await fleet.until(async () => {
      const left = await Promise.all(OCM_KINDS.map((kind) => listed(kind)));
      return left.flat().length === 0 ? true : undefined;
    });
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'git', namespace: 'berth-system' } };

    await hub.api.create(SECRET, { ...secret, stringData: { bearerToken: 'x' } });
    const key = { namespace: 'berth-system', name: 'git' };
    const dir = join(fleet.dataDir, 'credentials');
    expect(await new SecretAuth({ api, key, dir, nowMs: Date.now }).get()).toMatchObject({ token: 'x' });
    await renewedHold(api);
    await fleet.stop();
    other.remove();

    expect([...api.refused]).toEqual([]);
    const printed = [...printedRights(EVERYTHING)].filter((right) => !ASKED_BY_ADMISSION.includes(right));
    expect([...api.used].sort()).toEqual(printed.sort());
  });

  it('are enough to be elected, for the Lease that they name and no other', async () => {
    const duties = { ...EVERYTHING, lease: 'berth-fleet' };
    restricted = await restrictedClient(fleet, duties);
    const { api } = restricted;
    const elect = (name: string) =>
      new LeaderElector({
        store: new KubeLeaseStore(api, { namespace: 'berth-system', name }),
        identity: 'me',
        timing: DEFAULT_TIMING,
        clock: systemClock,
        random: Math.random,
        log: new SilentLogger(),
      });
    const stop = new AbortController();
    const elector = elect('berth-fleet');
    elector.start();
    await elector.whenHeld(stop.signal);
    await elector.close();
    const more = [...printedRights(duties)].filter((right) => !printedRights(EVERYTHING).has(right));
    expect([...api.used].sort()).toEqual(more.sort());
    expect([...api.refused]).toEqual([]);
    const other = elect('berth-other');
    other.start();
    await fleet.until(() => (api.refused.has('get leases') ? true : undefined));
    await expect
      .poll(() => other.status())
      .toMatchObject({ role: 'deciding', problem: expect.stringContaining('403') as string });
    await other.close();
  });

  it('are enough for a hub that is Berth’s alone, and what they add is used', async () => {
    const duties = { ...EVERYTHING, embedded: true };
    restricted = await restrictedClient(fleet, duties);
    const { api } = restricted;
    const { 'namespaces.yaml': _made, 'clusters.yaml': text, ...files } = EVERY_KIND;
    const status = 'status: {clusterClaims: [{name: a, value: b}]}\n';
    fleet.git.commit({ ...files, 'clusters.yaml': text.replace(/(?=---|$(?![^]))/g, status) });
    await fleet.serve({ api, embedded: true });
    await fleet.published('web');
    const more = [...printedRights(duties)].filter((right) => !printedRights(EVERYTHING).has(right));
    expect(more).toEqual(['patch managedclusters/status', 'patch addonplacementscores/status']);
    expect([...more, 'get namespaces', 'create namespaces'].filter((right) => !api.used.has(right))).toEqual(
      [],
    );
    expect([...api.refused]).toEqual([]);
  });

  it.each([
    { name: 'only watches', sync: 'observe', schedule: 'upstream', works: false },
    { name: 'only decides', sync: 'observe', schedule: 'berth', works: false },
    { name: 'only writes works', sync: 'observe', schedule: 'upstream', works: true },
    { name: 'only follows Git', sync: 'apply', schedule: 'upstream', works: false },
  ] as const)('are enough when the controller $name', async ({ sync, schedule, works }) => {
    const duties = { ...EVERYTHING, applies: sync === 'apply', schedule, works };
    restricted = await restrictedClient(fleet, duties);
    const { api } = restricted;
    fleet.git.commit(EVERY_KIND);
    if (sync === 'observe') {
      // Somebody else fills the hub, and decides what Berth shall not.
      await fleet.serve({ schedule: schedule === 'berth' ? 'upstream' : 'berth', works: false });
      await fleet.event('synced');
      if (schedule === 'upstream') await fleet.published('web');
      await fleet.stop();
    }
    const controller = await fleet.serve({
      api,
      embedded: false,
      schedule,
      works,
      sources: [{ url: fleet.git.path, sync }],
      http: fleet.http(),
    });
    await controller.whenReady();
    await lookAtDashboard(controller.url);
    if (schedule === 'berth') await fleet.published('web');
    if (sync === 'apply') await fleet.event('synced');
    if (works) await reportWorks('1', 4);
    await fleet.stop();
    expect([...api.refused]).toEqual([]);
    const unprinted = [...api.used].filter((right) => !printedRights(duties).has(right));
    expect(unprinted).toEqual([]);
    // A controller that only watches asks for nothing else.
    if (sync === 'observe' && schedule === 'upstream' && !works)
      expect([...api.used, 'get secrets'].sort()).toEqual([...printedRights(duties)].sort());
  });

  it.each([
    ...[
      'get namespaces',
      'list placements',
      'watch managedclusters',
      'create placementdecisions',
      'patch placementdecisions/status',
      'patch placements/status',
      'create manifestworks',
      'patch manifestworkreplicasets/status',
    ].map((missing) => ({ missing, refused: missing })),
    { missing: 'create managedclusters', refused: 'patch managedclusters' },
    { missing: 'create managedclustersets/join', refused: 'patch managedclusters' },
    { missing: 'update managedclusters/accept', refused: 'patch managedclusters' },
    { missing: 'create managedclustersets/bind', refused: 'patch managedclustersetbindings' },
    { missing: 'execute-as manifestworks', refused: /cannot manipulate the Manifestwork with executor/ },
    { missing: 'create configmaps', refused: 'patch configmaps' },
  ])('without "$missing" something is refused', async ({ missing, refused }) => {
    expect(printedRights(EVERYTHING)).toContain(missing);
    restricted = await restrictedClient(fleet, EVERYTHING, missing);
    const { api } = restricted;
    fleet.git.commit(EVERY_KIND);
    await fleet.serve({ api, embedded: false });
    if (typeof refused === 'string') await fleet.until(() => (api.refused.has(refused) ? true : undefined));
    else await fleet.event('sync-problem', ({ message }) => refused.test(message));
  });
});
