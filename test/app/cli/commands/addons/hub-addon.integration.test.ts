import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  CUSTOM_RESOURCE_DEFINITION,
  DEPLOYMENT,
  MANAGED_CLUSTER_ADDON,
  NAMESPACE,
  SERVICE_ACCOUNT,
} from '@berth/kube/model/kinds';
import { runCli } from '../../../../../src/app/cli/program.ts';
import { startEmbeddedHub } from '../../../../fakes/embedded-hub.ts';
import { makeCliIo } from '../../../cli-harness.ts';

const MANAGER = (namespace: string, version: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: observer-manager, namespace: ${namespace}}
spec:
  selector: {matchLabels: {app: observer}}
  template:
    metadata: {labels: {app: observer}}
    spec: {containers: [{name: manager, image: 'quay.io/team/observer:${version}'}]}
---
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata: {name: observer-agent}
spec: {}
`;

const DEFINITION = `apiVersion: v1
kind: ServiceAccount
metadata: {name: observer-manager}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: views.observer.example.com}
spec:
  group: observer.example.com
  scope: Namespaced
  names: {kind: View, plural: views}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`;

let hub: Awaited<ReturnType<typeof startEmbeddedHub>>;
let folder: string;

async function berth(command: string) {
  const { io, stdout, stderr } = makeCliIo({ cwd: folder });
  const code = await runCli([...command.split(' '), '--kubeconfig', hub.kubeconfig], io);
  return { code, stdout: stdout(), stderr: stderr() };
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'berth-hub-addon-'));
  for (const name of ['plain', 'templates', 'chart']) await mkdir(path.join(folder, name));
  for (const name of ['plain', 'templates'])
    await writeFile(path.join(folder, name, 'a-definition.yaml'), DEFINITION);
  await writeFile(path.join(folder, 'plain', 'manager.yaml'), MANAGER('observers', 'v1'));
  const template = MANAGER('{{ .Namespace }}', '{{ .Observer.Version }}');
  await writeFile(path.join(folder, 'templates', 'manager.yaml'), template);
  await writeFile(path.join(folder, 'values.yaml'), 'Observer: {Version: v2}\n');
  await writeFile(path.join(folder, 'chart', 'Chart.yaml'), 'name: observer\nversion: 1.0.0\n');
  hub = await startEmbeddedHub();
});
afterAll(async () => {
  await hub.close();
  await rm(folder, { recursive: true, force: true });
});

const imageOf = async (): Promise<string> => {
  const found = await hub.api.get(DEPLOYMENT, { namespace: 'observers', name: 'observer-manager' });
  return /quay.io[^"]*/.exec(JSON.stringify(found?.['spec']))?.[0] ?? '';
};

describe('berth install hub-addon', () => {
  it.each([
    ['argocd', /start berth serve --argocd-pull\. .* --manifests argocd-pull-integration/],
    ['argocd-agent', /hint: helm pull --untar argocd-agent-addon /],
    [
      'governance-policy-framework',
      /hint: they are Go templates in github\.com\/open-cluster-management-io\/clusteradm/,
    ],
    ['observer', /hint: clusteradm knows argocd, argocd-agent, governance-policy-framework\n/],
  ])('says where the manifests of %s are', async (name, want) => {
    const { code, stderr } = await berth(`install hub-addon --names ${name}`);
    expect(code).toBe(1);
    expect(stderr).toContain(`hub add-on ${name}: Berth brings no manifests of it, expected --manifests`);
    expect(stderr).toMatch(want);
  });

  it.each([
    ['--names a,b --manifests plain', /--names: expected one name with --manifests/],
    [
      '--names a --manifests plain --namespace observers',
      /Namespace observers: the hub has no such namespace/,
    ],
    ['--names a --manifests templates', /--manifests: manager.yaml is a Go template, expected --values/],
    ['--names a --manifests templates --values nothing.yaml', /--values: .*nothing.yaml cannot be read/],
    [
      '--names a --manifests plain --bundle-version latest',
      /--bundle-version: has no meaning here: Berth brings no/,
    ],
  ])('refuses %s', async (flags, want) => {
    const { code, stderr } = await berth(`install hub-addon ${flags}`);
    expect(code).toBe(1);
    expect(stderr).toMatch(want);
  });

  it('writes manifests of a folder, says what does not start here, and changes nothing a second time', async () => {
    const command =
      'install hub-addon --names observer --manifests plain --namespace observers --create-namespace';
    const dry = await berth(`${command} --dry-run`);
    expect(dry.stdout.match(/^kind: .*$/gm)).toEqual([
      'kind: Namespace',
      'kind: CustomResourceDefinition',
      'kind: ServiceAccount',
      'kind: Deployment',
      'kind: ClusterManagementAddOn',
    ]);
    expect(await hub.api.get(NAMESPACE, { namespace: '', name: 'observers' })).toBeUndefined();
    const last =
      'Installing built-in observer add-on to the Hub cluster...\nThe hub runs no pods: start the program of Deployment observers/observer-manager yourself, with a kubeconfig of the hub\n';
    expect(await berth(command)).toMatchObject({ code: 0, stderr: '', stdout: `6 objects created\n${last}` });
    expect(
      await hub.api.get(SERVICE_ACCOUNT, { namespace: 'observers', name: 'observer-manager' }),
    ).toBeDefined();
    expect((await berth(command)).stdout).toBe(last);
    expect(await imageOf()).toBe('quay.io/team/observer:v1');
  });

  it('renders Go templates with values', async () => {
    const { stdout } = await berth(
      'install hub-addon --names observer --manifests templates --values values.yaml --namespace observers',
    );
    expect(stdout).toMatch(/^1 object changed\n/);
    expect(await imageOf()).toBe('quay.io/team/observer:v2');
  });
});

describe('berth uninstall hub-addon', () => {
  const command = 'uninstall hub-addon --names observer --namespace observers';

  it('brings cluster-proxy itself, with the addresses in the values', async () => {
    const command = 'install hub-addon --names cluster-proxy --create-namespace --dry-run';
    const refused = await berth(command);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('needs publicUrl')]);
    const values =
      'publicUrl: https://clusters.example.com\nagentAddress: tunnel.example.com:8091\nimage: example/berth:1\n';
    await writeFile(path.join(folder, 'addresses.yaml'), values);
    for (const replicas of ['0', '1.5', '101', 'many']) {
      await writeFile(path.join(folder, 'replicas.yaml'), `${values}replicas: ${replicas}\n`);
      expect((await berth(`${command} --values replicas.yaml`)).stderr).toContain(
        'expected replicas: a whole number from 1 to 100',
      );
    }
    const { code, stdout } = await berth(`${command} --values addresses.yaml`);
    expect(code).toBe(0);
    for (const text of [
      'kind: Deployment',
      'tunnel.example.com:8091',
      'tokenreviews',
      'kind: ClusterManagementAddOn',
    ])
      expect(stdout).toContain(text);
  });

  it('brings several of its own at once', async () => {
    const names = 'cluster-proxy,managed-serviceaccount,cluster-gateway';
    const command = `--names ${names} --namespace own`;
    const addresses = 'publicUrl: https://x:1\nagentAddress: x:2\nplacement: fleet/all\n';
    await writeFile(path.join(folder, 'placed.yaml'), addresses);
    await writeFile(path.join(folder, 'no-placement.yaml'), 'placement: all\n');
    const unknown = await berth(`install hub-addon --names ${names},observer --values addresses.yaml`);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('hub add-on observer')]);
    const installed = await berth(`install hub-addon ${command} --create-namespace --values placed.yaml`);
    expect(installed).toMatchObject({ code: 0, stderr: '' });
    for (const name of names.split(',')) {
      expect(installed.stdout).toContain(`Installing built-in ${name} add-on`);
      expect(installed.stdout).toContain(`start the program of Deployment own/${name} yourself`);
      const addOn = await hub.api.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name });
      expect(addOn?.['spec']).toMatchObject({
        installStrategy: { type: 'Placements', placements: [{ namespace: 'fleet', name: 'all' }] },
      });
    }
    const wrong = await berth('install hub-addon --names cluster-gateway --values no-placement.yaml');
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('namespace/name')]);
    expect((await berth(`uninstall hub-addon ${command}`)).code).toBe(0);
    expect(await hub.api.get(DEPLOYMENT, { namespace: 'own', name: 'cluster-proxy' })).toBeUndefined();
  });

  it('refuses while a cluster has the add-on', async () => {
    await hub.api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cluster1' } });
    const addon = { name: 'observer-agent', namespace: 'cluster1' };
    await hub.api.create(MANAGED_CLUSTER_ADDON, {
      ...{ apiVersion: apiVersionOf(MANAGED_CLUSTER_ADDON), kind: 'ManagedClusterAddOn' },
      metadata: addon,
      spec: {},
    });
    const { code, stderr } = await berth(command);
    expect(code).toBe(1);
    expect(stderr).toBe(
      'error: add-on observer-agent: is still enabled on cluster1\nhint: berth addon disable --names observer-agent --clusters cluster1\n',
    );
    await hub.api.delete(MANAGED_CLUSTER_ADDON, addon);
  });

  it('deletes what was installed, and keeps definitions and the namespace', async () => {
    const lines =
      '  keeps Namespace observers\n  keeps CustomResourceDefinition views.observer.example.com\n';
    expect((await berth(`${command} --dry-run`)).stdout).toBe(
      `Uninstalling built-in observer add-on from the Hub cluster... (dry run)\n${lines}`,
    );
    expect(await imageOf()).not.toBe('');
    expect((await berth(command)).stdout).toBe(
      `4 objects deleted\nUninstalling built-in observer add-on from the Hub cluster...\n${lines}`,
    );
    expect(await imageOf()).toBe('');
    expect(
      await hub.api.get(CLUSTER_MANAGEMENT_ADDON, { namespace: '', name: 'observer-agent' }),
    ).toBeUndefined();
    const definition = { namespace: '', name: 'views.observer.example.com' };
    expect(await hub.api.get(CUSTOM_RESOURCE_DEFINITION, definition)).toBeDefined();
    expect((await berth(command)).stdout).toBe(
      'berth install hub-addon wrote nothing of observer in the namespace observers: there is nothing to do\n',
    );
  });
});
