import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import yaml from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTER_SET_LABEL } from '@berth/ocm/kind/managed-cluster';
import { runCli } from '../../../../src/app/cli/program.ts';
import {
  CLUSTER_MANAGEMENT_ADDON,
  apiVersionOf,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANAGED_CLUSTER_SET,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
  ROLE,
  ROLE_BINDING,
} from '@berth/kube/model/kinds';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import type { ObjectMeta } from '@berth/kube/model/object-meta';
import { startEmbeddedHub } from '../../../fakes/embedded-hub.ts';
import { makeCliIo } from '../../cli-harness.ts';

let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;

async function write(kind: KindInfo, metadata: ObjectMeta, rest: { status?: object; spec?: object } = {}) {
  const { status, ...content } = rest;
  const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...content };
  await hub.api.create(kind, object);
  const { name, namespace = '' } = metadata;
  if (status !== undefined)
    await hub.api.mergePatch(kind, { namespace, name }, { status }, { subresource: 'status' });
}

const CONDITION = { reason: 'Test', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };

async function fill(): Promise<void> {
  const labels = { [CLUSTER_SET_LABEL]: 'default' };
  for (const name of ['team-a', 'team-b', 'cluster1', 'cluster2']) await write(NAMESPACE, { name });
  await write(MANAGED_CLUSTER_SET, { name: 'default' }, { spec: {} });
  await write(
    MANAGED_CLUSTER,
    { name: 'cluster1', labels },
    {
      spec: { hubAcceptsClient: true },
      status: {
        conditions: [{ ...CONDITION, type: 'ManagedClusterConditionAvailable', status: 'True' }],
        capacity: { cpu: '24', memory: '49265496Ki' },
        version: { kubernetes: 'v1.23.4' },
      },
    },
  );
  await write(MANAGED_CLUSTER, { name: 'cluster2', labels }, { spec: { hubAcceptsClient: false } });
  await write(
    MANAGED_CLUSTER_SET,
    { name: 'tagged' },
    {
      spec: { clusterSelector: { selectorType: 'LabelSelector', labelSelector: {} } },
    },
  );
  for (const namespace of ['team-a', 'team-b'])
    await write(
      PLACEMENT,
      { name: 'web', namespace },
      {
        spec: {},
        status: {
          numberOfSelectedClusters: 2,
          decisionGroups: [],
          conditions: [
            { ...CONDITION, type: 'PlacementMisconfigured', status: 'False', reason: 'Succeedconfigured' },
          ],
        },
      },
    );
  for (const [page, clusters] of [
    ['web-1', ['cluster2']],
    ['web-2', ['cluster1']],
  ] as const)
    await write(
      PLACEMENT_DECISION,
      {
        name: page,
        namespace: 'team-a',
        labels: { 'cluster.open-cluster-management.io/placement': 'web' },
      },
      { status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) } },
    );
  await write(CLUSTER_MANAGEMENT_ADDON, { name: 'usage' }, { spec: {} });
  const conditions = [{ ...CONDITION, type: 'Available', status: 'True' }];
  await write(
    MANAGED_CLUSTER_ADDON,
    { name: 'usage', namespace: 'cluster1' },
    { spec: {}, status: { conditions } },
  );
  await write(
    MANAGED_CLUSTER_ADDON,
    { name: 'usage', namespace: 'cluster2' },
    { spec: {}, status: { conditions } },
  );
}

async function berth(command: string) {
  const { io, stdout, stderr } = makeCliIo();
  const code = await runCli([...command.split(' '), '--kubeconfig', hub.kubeconfig], io);
  return { code, stdout: stdout(), stderr: stderr() };
}

/** One blank between the cells: the seeds' tables were printed so. */
const cells = (text: string): readonly string[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll(/ +/g, ' '));

beforeAll(async () => {
  hub = await startEmbeddedHub();
  await fill();
});
afterAll(() => hub.close());

const ADDONS = 'NAME AVAILABLE CLUSTERS OTHER CLUSTERS';

describe('berth get', () => {
  it.each([
    {
      command: 'get clusters',
      want: [
        'NAME ACCEPTED AVAILABLE CLUSTERSET CPU MEMORY KUBERNETES VERSION',
        'cluster1 true True default 24 49265496Ki v1.23.4',
        'cluster2 false default',
      ],
    },
    {
      command: 'get clusters --clusters cluster1',
      want: [
        'NAME ACCEPTED AVAILABLE CLUSTERSET CPU MEMORY KUBERNETES VERSION',
        'cluster1 true True default 24 49265496Ki v1.23.4',
      ],
    },
    { command: 'get clusters --clusterset gpu', want: ['no clusters'] },
    {
      command: 'get placements -n team-a -otable',
      want: ['NAME STATUS REASON SELETEDCLUSTERS', 'web False Succeedconfigured [cluster1,cluster2]'],
    },
    {
      command: 'get placements -o clusteradm',
      want: [
        'NAME STATUS REASON SELETEDCLUSTERS',
        'team-a/web False Succeedconfigured [cluster1,cluster2]',
        'team-b/web False Succeedconfigured []',
      ],
    },
    { command: 'get addon', want: [ADDONS, 'usage cluster1 cluster2 (unknown: the cluster has not joined)'] },
    {
      command: 'get addons --clusters cluster2',
      want: [ADDONS, 'usage cluster2 (unknown: the cluster has not joined)'],
    },
  ])('$command', async ({ command, want }) => {
    const { code, stdout } = await berth(command);
    expect(code).toBe(0);
    expect(cells(stdout)).toEqual(want);
  });

  it('prints the objects as the hub has them', async () => {
    const { stdout } = await berth('get cluster cluster1 -o json');
    expect(JSON.parse(stdout)).toMatchObject({ kind: 'ManagedCluster', status: { capacity: { cpu: '24' } } });
    expect(JSON.parse((await berth('get clusters -o json')).stdout)).toMatchObject({
      ...{ apiVersion: 'v1', kind: 'List' },
      items: [{ metadata: { name: 'cluster1' } }, { metadata: { name: 'cluster2' } }],
    });
  });

  it.each([
    {
      command: 'get placements -A -o name',
      want: ['placement.cluster.open-cluster-management.io/web'],
    },
    {
      command:
        'get clusters -l cluster.open-cluster-management.io/clusterset=default -o jsonpath={.items[*].metadata.name}',
      want: ['cluster1 cluster2'],
    },
    { command: 'get cluster cluster1 -o jsonpath={.status.capacity.cpu}', want: ['24'] },
    { command: 'get clusters -l none=here', want: ['no clusters'] },
    {
      command: 'get decisions -n team-a',
      want: [
        'NAMESPACE PLACEMENT CLUSTER GROUP PAGE REASON',
        'team-a web cluster2 web-1',
        'team-a web cluster1 web-2',
      ],
    },
    { command: 'get holds', want: ['no holds'] },
    { command: 'get rollouts', want: ['no rollouts'] },
    { command: 'get sources', want: ['no sources'] },
  ])('$command', async ({ command, want }) => {
    const { code, stdout } = await berth(command);
    expect(code).toBe(0);
    expect([...new Set(cells(stdout))]).toEqual(want);
  });

  it.each([
    {
      command: 'get works -n a -A',
      want: 'error: --all-namespaces: contradicts --namespace: give one of them\n',
    },
    { command: 'get works -o jsonpath={.x', want: 'error: --output: unclosed action\n' },
    {
      command: 'get works -o xml',
      want: 'error: --output: got "xml", expected table, name, json, yaml or jsonpath=TEMPLATE\n',
    },
  ])('refuses $command', async ({ command, want }) => {
    expect(await berth(command)).toMatchObject({ code: 1, stdout: '', stderr: want });
  });

  it.each([
    {
      command: 'describe cluster cluster1',
      want: ['Name: cluster1', 'Kubernetes version: v1.23.4', 'Conditions:', 'Runs:', '  team-a/web'],
    },
    { command: 'describe clusterset default', want: ['Name: default', 'Clusters:', '  cluster1'] },
    { command: 'describe placement team-a/web', want: ['Namespace: team-a', 'Ready: 2/all', 'Ask further:'] },
    { command: 'describe placements web -n team-b', want: ['Namespace: team-b', 'Ready: 0/all'] },
    { command: 'describe decision web-1', want: ['Placement: web', 'Cluster: cluster2'] },
    { command: 'describe addon usage', want: ['Name: usage', 'Available clusters: cluster1'] },
  ])('$command', async ({ command, want }) => {
    const { code, stdout, stderr } = await berth(command);
    expect(code, stderr).toBe(0);
    const lines = stdout.split('\n');
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
    const plain = lines.map((line) => line.replace(/: +/, ': '));
    for (const line of want) expect(plain).toContain(line);
  });

  it('says what does not exist', async () => {
    const want = 'error: Placement team-a/none: not found on the hub\n';
    expect(await berth('describe placement team-a/none')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: want,
    });
  });

  it('prints rows that change until it is stopped', async () => {
    const stop = new AbortController();
    const { io, stdout } = makeCliIo({ signal: stop.signal });
    const running = runCli(['get', 'clusters', '-w', '--kubeconfig', hub.kubeconfig], io);
    await expect.poll(() => cells(stdout()), { timeout: PATIENCE_MS }).toHaveLength(3);
    await write(MANAGED_CLUSTER, { name: 'cluster3' }, { spec: { hubAcceptsClient: true } });
    await expect
      .poll(() => cells(stdout()).slice(3), { timeout: PATIENCE_MS })
      .toEqual(['cluster3 true default']);
    await hub.api.delete(MANAGED_CLUSTER, { namespace: '', name: 'cluster3' });
    await expect
      .poll(() => cells(stdout()).slice(4), { timeout: PATIENCE_MS })
      .toEqual(['ManagedCluster cluster3 is not listed any more']);
    stop.abort();
    expect(await running).toBe(0);
  });

  it('watches for somebody who may read one namespace only', async () => {
    const rules = [
      {
        apiGroups: ['cluster.open-cluster-management.io'],
        resources: ['placements', 'placementdecisions'],
        verbs: ['get', 'list', 'watch'],
      },
    ];
    const named = { namespace: 'team-b', name: 'reader' };
    const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: named };
    await hub.api.create(ROLE, { ...rbac, kind: 'Role', rules });
    await hub.api.create(ROLE_BINDING, {
      ...{ ...rbac, kind: 'RoleBinding' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'tenant' }],
    });
    const dir = mkdtempSync(join(tmpdir(), 'berth-tenant-'));
    const kubeconfig = join(dir, 'tenant.kubeconfig');
    const config = yaml.load(readFileSync(hub.kubeconfig, 'utf8')) as { users: { user: object }[] };
    for (const one of config.users) one.user = { ...one.user, as: 'tenant' };
    writeFileSync(kubeconfig, yaml.dump(config));
    const stop = new AbortController();
    const { io, stdout, stderr } = makeCliIo({ signal: stop.signal });
    const running = runCli(['get', 'placements', '-n', 'team-b', '-w', '--kubeconfig', kubeconfig], io);
    await expect.poll(() => cells(stdout()), { timeout: PATIENCE_MS }).toHaveLength(2);
    await write(PLACEMENT, { name: 'late', namespace: 'team-b' }, { spec: { numberOfClusters: 1 } });
    await expect
      .poll(() => cells(stdout())[2], { timeout: PATIENCE_MS })
      .toMatch(/^team-b late 0\/1 \d+s not decided yet$/);
    stop.abort();
    expect(await running).toBe(0);
    expect(stderr()).toBe('');
    rmSync(dir, { recursive: true });
  });

  it('says that a name is unknown', async () => {
    const { code, stderr } = await berth('get clusterset nobody');
    expect(code).toBe(1);
    expect(stderr).toBe('error: ManagedClusterSet nobody: not found on the hub\n');
  });
});

describe('berth clusterset', () => {
  it('does each step once, and a second time says that nothing is to be done', async () => {
    const steps = [
      { args: 'create gpu', first: 'Clusterset gpu is created', again: 'Clusterset gpu already exists' },
      {
        args: 'bind gpu --namespace team-a',
        first: 'Clusterset gpu is bound to Namespace team-a',
        again: 'Clusterset gpu is already bound to Namespace team-a',
      },
      {
        args: 'set gpu --clusters cluster1',
        first: 'Cluster cluster1 is set, from ClusterSet default to Clusterset gpu',
        again: 'Cluster cluster1 is already in Clusterset gpu',
      },
    ];
    for (const { args, first, again } of steps) {
      expect((await berth(`clusterset ${args} --dry-run`)).stdout).toBe(`${first} (dry run)\n`);
      expect(await berth(`clusterset ${args}`)).toMatchObject({ code: 0, stdout: `${first}\n` });
      expect(await berth(`clusterset ${args}`)).toMatchObject({ code: 0, stdout: `${again}\n` });
    }
    expect(cells((await berth('get clustersets gpu')).stdout)[1]).toMatch(/^gpu team-a/);
    const refused = await berth('clusterset delete gpu');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is still bound to team-a') });
    const back = [
      ['unset gpu --clusters cluster1', 'Cluster cluster1 is removed from Clusterset gpu'],
      ['unset gpu --clusters cluster1', 'Cluster cluster1 is not in Clusterset gpu'],
      ['unbind gpu --namespace team-a', 'Clusterset gpu is unbound from Namespace team-a'],
      ['unbind gpu --namespace team-a', 'Clusterset gpu is not bound to Namespace team-a'],
      ['delete gpu', 'Clusterset gpu is deleted'],
      ['delete gpu', 'Clusterset gpu does not exist'],
    ];
    for (const [args, line] of back)
      expect(await berth(`clusterset ${args}`)).toMatchObject({ code: 0, stdout: `${line}\n` });
  });

  it.each([
    { args: 'set nobody --clusters cluster1', problem: 'ManagedClusterSet nobody: the hub has no such set' },
    { args: 'set default --clusters cluster2,c9', problem: 'ManagedCluster c9: the hub has no such cluster' },
    { args: 'set tagged --clusters cluster2', problem: 'selects clusters by their labels' },
    { args: 'set default --clusters ,', problem: '--clusters: expected names' },
    { args: 'bind default -n nowhere', problem: 'Namespace nowhere: the hub has no such namespace' },
    { args: 'bind nobody -n team-a', problem: 'ManagedClusterSet nobody' },
    { args: 'delete global', problem: 'every hub creates this set again' },
  ])('refuses: $args', async ({ args, problem }) => {
    const before = (await hub.api.list(MANAGED_CLUSTER)).items.map(
      ({ metadata }) => metadata.resourceVersion,
    );
    const { code, stderr } = await berth(`clusterset ${args}`);
    expect(code).toBe(1);
    expect(stderr).toContain(problem);
    const after = (await hub.api.list(MANAGED_CLUSTER)).items.map(({ metadata }) => metadata.resourceVersion);
    expect(after).toEqual(before);
  });
});
