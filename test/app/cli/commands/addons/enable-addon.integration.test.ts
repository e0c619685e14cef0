import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { load, loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ADDON_TEMPLATE,
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import { runCli } from '../../../../../src/app/cli/program.ts';
import { startEmbeddedHub } from '../../../../fakes/embedded-hub.ts';
import { makeCliIo } from '../../../cli-harness.ts';

const MANIFESTS = `apiVersion: apps/v1
kind: Deployment
metadata: {name: agent, namespace: web}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: 'quay.io/team/agent:v1'}]}
`;

const CONFIG = `apiVersion: addon.open-cluster-management.io/v1alpha1
kind: AddOnDeploymentConfig
metadata: {name: small, namespace: cluster1}
spec: {agentInstallNamespace: web}
`;

let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
let folder: string;

async function write(kind: KindInfo, metadata: ObjectMeta, rest: { spec?: object; status?: object } = {}) {
  const { status, ...content } = rest;
  const { name, namespace = '' } = metadata;
  await hub.api.create(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...content });
  if (status !== undefined)
    await hub.api.mergePatch(kind, { namespace, name }, { status }, { subresource: 'status' });
}

async function berth(command: string) {
  const { io, stdout, stderr } = makeCliIo({ cwd: folder });
  const code = await runCli([...command.split(' '), '--kubeconfig', hub.kubeconfig], io);
  return { code, stdout: stdout(), stderr: stderr() };
}

const addonOf = (namespace: string, name: string) => hub.api.get(MANAGED_CLUSTER_ADDON, { namespace, name });

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'berth-enable-addon-'));
  await writeFile(path.join(folder, 'web.yaml'), MANIFESTS);
  await writeFile(path.join(folder, 'config.yaml'), CONFIG);
  hub = await startEmbeddedHub();
  for (const name of ['cluster1', 'cluster2', 'stranger', 'team-a']) await write(NAMESPACE, { name });
  for (const name of ['cluster1', 'cluster2'])
    await write(MANAGED_CLUSTER, { name }, { spec: { hubAcceptsClient: true } });
  await write(MANAGED_CLUSTER, { name: 'stranger' }, { spec: { hubAcceptsClient: false } });
  for (const name of ['hello', 'world']) await write(CLUSTER_MANAGEMENT_ADDON, { name }, { spec: {} });
  const placements = [{ namespace: 'team-a', name: 'some' }];
  await write(
    CLUSTER_MANAGEMENT_ADDON,
    { name: 'placed' },
    { spec: { installStrategy: { type: 'Placements', placements } } },
  );
  await write(PLACEMENT, { name: 'some', namespace: 'team-a' }, { spec: {} });
  const labels = { 'cluster.open-cluster-management.io/placement': 'some' };
  const decisions = [{ clusterName: 'cluster1', reason: '' }];
  await write(PLACEMENT_DECISION, { name: 'some-1', namespace: 'team-a', labels }, { status: { decisions } });
});
afterAll(async () => {
  await hub.close();
  await rm(folder, { recursive: true, force: true });
});

describe('berth addon enable', () => {
  it('installs add-ons on clusters as clusteradm says it, and a second time changes nothing', async () => {
    const command = 'addon enable --names hello,world --clusters cluster1,cluster2 --namespace web';
    expect(await berth(`${command} --dry-run`)).toMatchObject({ code: 0, stderr: '' });
    expect(await addonOf('cluster1', 'hello')).toBeUndefined();
    const lines = ['hello', 'world'].flatMap((name) =>
      ['cluster1', 'cluster2'].map((cluster) => [name, cluster] as const),
    );
    expect((await berth(command)).stdout).toBe(
      lines
        .map(([name, on]) => `Deploying ${name} add-on to namespaces web of managed cluster: ${on}.\n`)
        .join(''),
    );
    expect(await addonOf('cluster2', 'world')).toMatchObject({ spec: { installNamespace: 'web' } });
    expect((await berth(command)).stdout).toBe(
      lines.map(([name, on]) => `${name} add-on is enabled in managed cluster: ${on}.\n`).join(''),
    );
  });

  it('changes only what its flags name', async () => {
    const { stdout } = await berth(
      'addon enable --names hello -c cluster1 --labels team=a,tier=b --annotate example.com/values={"a":1,"b":2}',
    );
    expect(stdout).toBe(
      'Changing hello add-on in managed cluster: cluster1 (label team, label tier, annotation example.com/values).\n',
    );
    await berth('addon enable --names hello -c cluster1 --labels team=z');
    expect(await addonOf('cluster1', 'hello')).toMatchObject({
      metadata: {
        labels: { team: 'z', tier: 'b' },
        annotations: { 'example.com/values': '{"a":1,"b":2}' },
      },
      spec: { installNamespace: 'web' },
    });
  });

  it('writes configurations, and lets the add-on use them', async () => {
    const { stdout } = await berth(
      'addon enable --names hello --clusters cluster1 --config-file config.yaml',
    );
    expect(stdout).toBe(
      'AddOnDeploymentConfig cluster1/small is applied\nChanging hello add-on in managed cluster: cluster1 (configurations).\n',
    );
    expect(await addonOf('cluster1', 'hello')).toMatchObject({
      spec: {
        configs: [
          {
            group: 'addon.open-cluster-management.io',
            resource: 'addondeploymentconfigs',
            namespace: 'cluster1',
            name: 'small',
          },
        ],
      },
    });
  });

  it('takes every accepted cluster with --all-clusters, and prints objects', async () => {
    const { stdout } = await berth('addon enable --names world --all-clusters --dry-run -o yaml');
    const objects = loadAll(stdout) as readonly KubeObject[];
    expect(objects.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
      ['ManagedClusterAddOn', 'cluster1'],
      ['ManagedClusterAddOn', 'cluster2'],
    ]);
  });

  it.each([
    [
      '--names nope --clusters cluster1',
      /ClusterManagementAddOn nope: enabling the unknown addon nope is not supported\nhint: the hub has hello, placed, world\n$/,
    ],
    ['--names hello --clusters nobody', /ManagedCluster nobody: the hub has no such cluster/],
    ['--names hello', /--clusters, --all-clusters: expected exactly one of the two/],
    ['--names hello --all-clusters --clusters cluster1', /expected exactly one of the two/],
    ['--names hello --clusters cluster1 --labels team', /--labels: got "team", expected KEY=VALUE/],
    [
      '--names placed --clusters cluster2',
      /its placements decide on which clusters it is, so it would leave cluster2 again\nhint: change placement team-a\/some, so that it selects these clusters/,
    ],
  ])('refuses %s', async (flags, want) => {
    const { code, stderr, stdout } = await berth(`addon enable ${flags}`);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(want);
  });
});

describe('berth addon disable', () => {
  it('says what goes, and takes it away', async () => {
    const labels = { 'open-cluster-management.io/addon-name': 'world' };
    const manifests = load(
      `[{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: web}}, {apiVersion: v1, kind: Namespace, metadata: {name: web}}]`,
    );
    const orphaningRules = [{ group: '', resource: 'namespaces', name: 'web' }];
    const deleteOption = { propagationPolicy: 'SelectivelyOrphan', selectivelyOrphans: { orphaningRules } };
    for (const namespace of ['cluster1', 'cluster2'])
      await write(
        MANIFEST_WORK,
        { name: 'addon-world-deploy-0', namespace, labels },
        { spec: { workload: { manifests }, deleteOption } },
      );
    const registrations = [
      { signerName: 'kubernetes.io/kube-apiserver-client', subject: { user: 'agent-of-world' } },
      { signerName: 'example.com/signer' },
    ];
    await hub.api.mergePatch(
      MANAGED_CLUSTER_ADDON,
      { namespace: 'cluster1', name: 'world' },
      { status: { registrations } },
      { subresource: 'status' },
    );
    const command = 'addon disable --names world,nope --clusters cluster1';
    const lines = [
      'Undeploying world add-on in managed cluster: cluster1.',
      '  removes ManifestWork cluster1/addon-world-deploy-0 with ConfigMap web/a',
      '  keeps Namespace web',
      '  removes its access to the hub as agent-of-world',
      '  removes its certificate of example.com/signer',
      'nope add-on not found in cluster: cluster1.',
    ];
    expect((await berth(`${command} --dry-run`)).stdout).toBe(
      [`${lines[0] ?? ''} (dry run)`, ...lines.slice(1), ''].join('\n'),
    );
    expect(await addonOf('cluster1', 'world')).toBeDefined();
    expect((await berth(command)).stdout).toBe([...lines, ''].join('\n'));
    expect(await addonOf('cluster1', 'world')).toBeUndefined();
    expect(await addonOf('cluster2', 'world')).toBeDefined();
  });

  it('takes every cluster that has the add-on with --all-clusters', async () => {
    const { stdout } = await berth('addon disable --names hello,nope --all-clusters');
    expect(stdout).toBe(
      'Undeploying hello add-on in managed cluster: cluster1.\nUndeploying hello add-on in managed cluster: cluster2.\nnope add-on is in no cluster.\n',
    );
  });

  it('refuses what a placement or Git would bring back, and takes what a hold keeps', async () => {
    for (const namespace of ['cluster1', 'cluster2'])
      await write(MANAGED_CLUSTER_ADDON, { name: 'placed', namespace }, { spec: {} });
    const { stderr } = await berth('addon disable --names placed --all-clusters');
    expect(stderr).toContain(
      'ClusterManagementAddOn placed: placement team-a/some selects cluster cluster1, so the add-on would come back\n',
    );
    expect((await berth('addon disable --names placed --clusters cluster2')).stdout).toBe(
      'Undeploying placed add-on in managed cluster: cluster2.\n',
    );
    const labels = { 'applyset.kubernetes.io/part-of': 'a-source' };
    await write(MANAGED_CLUSTER_ADDON, { name: 'hello', namespace: 'cluster1', labels }, { spec: {} });
    const refused = await berth('addon disable --names hello --clusters cluster1');
    expect(refused.stderr).toBe(
      'error: ManagedClusterAddOn cluster1/hello: comes from Git, which would undo this change\nhint: change it in Git\n',
    );
  });
});

describe('berth addon create', () => {
  it('makes a template and its add-on of manifests', async () => {
    expect((await berth('addon create web -f web.yaml --labels team=a')).stdout).toBe(
      'AddonTemplate web-0.0.1 is created\nClusterManagementAddon web is created\n',
    );
    expect(await hub.api.get(ADDON_TEMPLATE, { namespace: '', name: 'web-0.0.1' })).toMatchObject({
      metadata: { labels: { team: 'a' } },
      spec: { addonName: 'web', agentSpec: { workload: { manifests: [load(MANIFESTS)] } } },
    });
    expect(await hub.api.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: 'web' })).toMatchObject({
      metadata: {
        labels: { team: 'a' },
        annotations: { 'addon.open-cluster-management.io/lifecycle': 'addon-manager' },
      },
      spec: {
        supportedConfigs: [
          {
            group: 'addon.open-cluster-management.io',
            resource: 'addontemplates',
            defaultConfig: { name: 'web-0.0.1' },
          },
        ],
        installStrategy: { type: 'Manual' },
      },
    });
    expect((await berth('addon create web -f web.yaml --labels team=a')).stdout).toBe(
      'AddonTemplate web-0.0.1 is as it should be\nClusterManagementAddon web is as it should be\n',
    );
  });

  it('moves the add-on to another version only with --overwrite, and keeps what others wrote', async () => {
    const key = { namespace: '', name: 'web' };
    const defaultConfig = { namespace: 'team-a', name: 'small' };
    const config = {
      group: 'addon.open-cluster-management.io',
      resource: 'addondeploymentconfigs',
      defaultConfig,
    };
    const before = await hub.api.get(CLUSTER_MANAGEMENT_ADDON, key);
    const { supportedConfigs } = before?.['spec'] as { readonly supportedConfigs: readonly object[] };
    await hub.api.mergePatch(CLUSTER_MANAGEMENT_ADDON, key, {
      spec: { supportedConfigs: [...supportedConfigs, config] },
    });
    const command =
      'addon create web -f web.yaml --version 0.0.2 --hub-registration --cluster-role-bind web-agent --placement-ref team-a/some';
    expect((await berth(command)).stdout).toBe(
      'AddonTemplate web-0.0.2 is created\nClusterManagementAddon web is not updated when overwrite is disabled: it has AddonTemplate web-0.0.1\n',
    );
    expect((await berth(`${command} --overwrite`)).stdout).toBe(
      'AddonTemplate web-0.0.2 is as it should be\nClusterManagementAddon web is updated: it had AddonTemplate web-0.0.1\n',
    );
    expect(await hub.api.get(CLUSTER_MANAGEMENT_ADDON, key)).toMatchObject({
      metadata: { labels: { team: 'a' } },
      spec: {
        supportedConfigs: [config, { resource: 'addontemplates', defaultConfig: { name: 'web-0.0.2' } }],
        installStrategy: { type: 'Placements', placements: [{ namespace: 'team-a', name: 'some' }] },
      },
    });
    expect(await hub.api.get(ADDON_TEMPLATE, { namespace: '', name: 'web-0.0.2' })).toMatchObject({
      spec: {
        registration: [
          {
            type: 'KubeClient',
            kubeClient: {
              hubPermissions: [{ type: 'CurrentCluster', currentCluster: { clusterRoleName: 'web-agent' } }],
            },
          },
        ],
      },
    });
  });

  it.each([
    [
      '-f https://example.com/web.yaml',
      /--filename: got "https:\/\/example.com\/web.yaml", expected a file or a folder/,
    ],
    ['-f web.yaml --cluster-role-bind web', /--cluster-role-bind: needs --hub-registration/],
    ['-f web.yaml --placement-ref some', /--placement-ref: got "some", expected namespace\/name/],
    ['-f nothing.yaml', /nothing.yaml/],
  ])('refuses %s', async (flags, want) => {
    const { code, stderr } = await berth(`addon create other ${flags}`);
    expect(code).toBe(1);
    expect(stderr).toMatch(want);
  });
});

describe('berth get addons -o wide', () => {
  it('has a row for each add-on of a cluster, and says who chose it', async () => {
    const { stdout } = await berth('get addons -o wide');
    const rows = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {3,}/));
    expect(rows.map((row) => row[0])).toEqual(['NAME', 'hello', 'placed', 'web', 'world']);
    expect(rows.map((row) => row.at(-1))).toEqual([
      'CLUSTERS CHOSEN BY',
      'people',
      'team-a/some',
      'team-a/some',
      'people',
    ]);
  });

  it('lists add-ons of one cluster, and prints them as the hub has them', async () => {
    expect((await berth('get addons --clusters cluster2')).stdout).toMatch(/^NAME .*\nworld .*\n$/);
    const { stdout } = await berth('get addons --clusters cluster2 -o json');
    expect(JSON.parse(stdout)).toMatchObject({
      items: [{ kind: 'ManagedClusterAddOn', metadata: { name: 'world' } }],
    });
  });

  it('lists an add-on whose ClusterManagementAddOn is gone', async () => {
    await write(MANAGED_CLUSTER_ADDON, { name: 'lost', namespace: 'cluster1' }, { spec: {} });
    const { stdout } = await berth('get addons lost -o wide');
    expect(stdout).toContain('no ClusterManagementAddOn');
  });
});
