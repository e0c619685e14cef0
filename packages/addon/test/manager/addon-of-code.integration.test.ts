import {
  ADDON_DEPLOYMENT_CONFIG,
  CERTIFICATE_REQUEST,
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  CONFIG_MAP,
  DEPLOYMENT,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  ROLE,
  ROLE_BINDING,
  SECRET,
} from '@berth/kube/model/kinds';
import { configSpecHash } from '../../src/rules/config-hash.ts';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  type AddOnContext,
  type AddOnDefinition,
  bindRole,
  createAddOnManager,
  runAddOnManager,
  signWithAuthority,
  SubjectNotReadyError,
} from '@berth/addon';
import { keepLease } from '../../src/agent.ts';
import { withHub } from '../../src/testing.ts';
import { signingAuthority } from '../../../../test/interop/registration/addon-objects.ts';
import { conditionOf, configMap, HELLO, install, make, workOf } from './addon-of-code.ts';

const READ = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }];
const BASIC: AddOnDefinition = { name: 'hello', manifests: async () => [configMap('1')] };

describe('an add-on written in code', () => {
  it('is deployed, registered, healthy by its lease, and removed with its rights', async () => {
    await withHub(async ({ hub, cluster, run, waitFor }) => {
      const addOn: AddOnDefinition = {
        ...BASIC,
        manifests: async ({ cluster: of, addon, installNamespace }) => [
          configMap(`${of.metadata.name} ${addon.metadata.name}`, installNamespace),
        ],
        registration: {
          configurations: [{ type: 'KubeClient' }],
          permissions: async (context) => bindRole(context, READ),
        },
      };
      run((signal) => runAddOnManager({ hub, addOns: [addOn], signal }));
      await install(hub);
      const applied = await waitFor(() => cluster.get(CONFIG_MAP, { namespace: 'default', name: 'hello' }));
      expect(applied['data']).toEqual({ value: 'cluster1 hello' });
      await waitFor(() => cluster.get(SECRET, { namespace: 'default', name: 'hello-hub-kubeconfig' }));
      const [request] = (await hub.list(CERTIFICATE_REQUEST)).items.filter(({ metadata }) =>
        metadata.name.startsWith('addon-cluster1-hello-'),
      );
      expect(request?.['status']).toMatchObject({ conditions: [{ type: 'Approved' }] });
      const rights = { namespace: 'cluster1', name: 'open-cluster-management:hello:agent' };
      expect((await hub.get(ROLE, rights))?.['rules']).toEqual(READ);
      expect((await hub.get(ROLE_BINDING, rights))?.['subjects']).toHaveLength(2);
      run((signal) => keepLease({ cluster, name: 'hello', namespace: 'default', signal }));
      await waitFor(async () => (await conditionOf(hub, 'Available'))?.startsWith('True'), {
        patienceMs: 60_000,
      });
      expect(await conditionOf(hub, 'Available')).toContain('ManagedClusterAddOnLeaseUpdated');
      await hub.delete(MANAGED_CLUSTER_ADDON, HELLO);
      await waitFor(async () => (await hub.get(ROLE, rights)) === undefined);
      await waitFor(async () => (await workOf(hub)) === undefined);
      await waitFor(async () => (await hub.get(ROLE_BINDING, rights)) === undefined);
    });
  });

  it('keeps what it has when its functions throw, and says why', async () => {
    let fails = false;
    const orFail = <T>(value: T): T => {
      if (fails) throw new Error('the vault is sealed');
      return value;
    };
    await withHub(async ({ hub, run, waitFor }) => {
      const manager = createAddOnManager({
        hub,
        addOns: [
          {
            ...BASIC,
            manifests: async () => orFail([configMap('1')]),
            registration: {
              configurations: async () => [{ type: 'KubeClient' }],
              permissions: async (context) => orFail(bindRole(context, READ)),
            },
          },
        ],
      });
      run((signal) => manager.run(signal));
      await install(hub);
      const before = await waitFor(() => workOf(hub));
      const rights = { namespace: 'cluster1', name: 'open-cluster-management:hello:agent' };
      await waitFor(() => hub.get(ROLE_BINDING, rights));
      fails = true;
      manager.trigger('cluster1', 'hello');
      await waitFor(async () => (await conditionOf(hub, 'ManifestApplied'))?.startsWith('False'));
      expect(await conditionOf(hub, 'ManifestApplied')).toBe(
        'False ManifestWorkApplyFailed: failed to get manifest from agent interface: the vault is sealed',
      );
      await waitFor(async () => (await conditionOf(hub, 'RegistrationApplied'))?.startsWith('False'));
      expect(await conditionOf(hub, 'RegistrationApplied')).toContain('the vault is sealed');
      expect(await workOf(hub)).toEqual(before);
      expect(await hub.get(ROLE_BINDING, rights)).toBeDefined();
      fails = false;
      manager.trigger('cluster1', 'hello');
      await waitFor(async () => (await conditionOf(hub, 'ManifestApplied'))?.startsWith('True'));
      expect(await workOf(hub)).toEqual(before);
    });
  });

  it.each([
    {
      name: 'nothing',
      thrown: undefined,
      want: 'True SetPermissionApplied: Registration of the addon agent is configured',
    },
    {
      name: 'that the subject is not ready',
      thrown: new SubjectNotReadyError(),
      want: 'False PermissionConfigPending: registration subject not ready',
    },
    {
      name: 'anything else',
      thrown: new Error('no'),
      want: 'False SetPermissionFailed: Failed to set permission for hub agent: no',
    },
  ])('has the condition RegistrationApplied when its rights throw $name', async ({ thrown, want }) => {
    await withHub(async ({ hub, run, waitFor }) => {
      const permissions = async () => {
        if (thrown !== undefined) throw thrown;
        return [];
      };
      const registration = { configurations: [{ type: 'KubeClient' as const }], permissions };
      run((signal) => runAddOnManager({ hub, addOns: [{ ...BASIC, registration }], signal }));
      await install(hub);
      await waitFor(() => conditionOf(hub, 'RegistrationApplied'));
      expect(await conditionOf(hub, 'RegistrationApplied')).toBe(want);
    });
  });

  it('is rendered with its configuration, and keeps what it has until the rollout reaches it', async () => {
    await withHub(async ({ hub, run, waitFor }) => {
      const addOn: AddOnDefinition = {
        ...BASIC,
        supportedConfigs: [ADDON_DEPLOYMENT_CONFIG, CONFIG_MAP],
        manifests: async ({ values, configs, installNamespace }) => [
          configMap(`${values['SIZE']} ${configs(CONFIG_MAP).length} ${installNamespace}`),
        ],
      };
      run((signal) => runAddOnManager({ hub, addOns: [addOn], signal }));
      const of = { namespace: 'default', name: 'small' };
      const spec = { agentInstallNamespace: 'agents', customizedVariables: [{ name: 'SIZE', value: 's' }] };
      const config = await make(hub, ADDON_DEPLOYMENT_CONFIG, { metadata: of, spec });
      await install(hub);
      await waitFor(async () => (await workOf(hub))?.value === 'undefined 0 default');
      const kind = { group: 'addon.open-cluster-management.io', resource: 'addondeploymentconfigs' };
      const refer = (specHash: string) =>
        hub.mergePatch(
          MANAGED_CLUSTER_ADDON,
          HELLO,
          {
            status: {
              configReferences: [
                { ...kind, ...of, lastObservedGeneration: 1, desiredConfig: { ...of, specHash } },
              ],
            },
          },
          { subresource: 'status' },
        );
      await refer('0'.repeat(64));
      await refer(configSpecHash(config));
      await waitFor(async () => (await workOf(hub))?.value === 's 0 agents');
      expect((await workOf(hub))?.generation).toBe(2);
      const addon = await hub.get(MANAGED_CLUSTER_ADDON, HELLO);
      expect(addon?.['status']).toMatchObject({
        namespace: 'agents',
        supportedConfigs: [kind, { group: '', resource: 'configmaps' }],
      });
    });
  });

  it('writes the hashes of the configurations that the cluster’s add-on names itself', async () => {
    await withHub(async ({ hub, run, waitFor }) => {
      const addOn = { ...BASIC, supportedConfigs: [CONFIG_MAP] };
      run((signal) => runAddOnManager({ hub, addOns: [addOn], signal }));
      const of = { namespace: 'default', name: 'mine' };
      const config = await make(hub, CONFIG_MAP, { metadata: of, data: { a: '1' } });
      await install(hub);
      await hub.mergePatch(MANAGED_CLUSTER_ADDON, HELLO, {
        spec: { configs: [{ group: '', resource: 'configmaps', ...of }] },
      });
      const reference = { group: '', resource: 'configmaps', ...of, lastObservedGeneration: 0 };
      const status = { configReferences: [{ ...reference, desiredConfig: { ...of, specHash: '' } }] };
      await hub.mergePatch(MANAGED_CLUSTER_ADDON, HELLO, { status }, { subresource: 'status' });
      await waitFor(async () =>
        JSON.stringify((await hub.get(MANAGED_CLUSTER_ADDON, HELLO))?.['status']).includes(
          configSpecHash(config),
        ),
      );
    });
  });

  it('signs with its own authority, and approves by its own rule', async () => {
    const { secret } = await signingAuthority();
    const pem = (key: string): string =>
      Buffer.from((secret['data'] as Record<string, string>)[key] ?? '', 'base64').toString();
    const pair = { certPem: pem('tls.crt'), keyPem: pem('tls.key') };
    const asked: string[] = [];
    let allows = false;
    await withHub(async ({ hub, cluster, run, waitFor }) => {
      const manager = createAddOnManager({
        hub,
        addOns: [
          {
            ...BASIC,
            registration: {
              configurations: [
                {
                  ...{ type: 'CustomSigner', signerName: 'example.com/hello', user: 'hello-agent' },
                  ...{ groups: ['agents'], organizationUnits: ['unit'] },
                },
              ],
              approve: async ({ problem, request }) => {
                asked.push(`${request.commonName} ${problem}`);
                return allows;
              },
              sign: async ({ request }) => signWithAuthority(pair, request),
            },
          },
        ],
      });
      run((signal) => manager.run(signal));
      await install(hub);
      await waitFor(() => asked.length > 0);
      expect(asked[0]).toBe('hello-agent undefined');
      const [open] = (await hub.list(CERTIFICATE_REQUEST)).items.filter(({ metadata }) =>
        metadata.name.startsWith('addon-cluster1-hello-'),
      );
      expect((open?.['status'] as object | undefined) ?? {}).toEqual({});
      allows = true;
      manager.trigger('cluster1', 'hello');
      const made = await waitFor(() =>
        cluster.get(SECRET, { namespace: 'default', name: 'hello-example.com-hello-client-cert' }),
      );
      expect(Object.keys(made['data'] as object)).toContain('tls.crt');
    });
  });

  it.each([
    { health: 'works' as const, want: 'True WorkApplied: Addon manifestWork is applied' },
    { health: 'deployments' as const, want: 'True ProbeAvailable: hello add-on is available.' },
    {
      health: {
        fields: [
          {
            resource: { group: 'apps', resource: 'deployments', namespace: 'default', name: 'hello*' },
            rules: [{ type: 'WellKnownStatus' as const }],
          },
        ],
        check: async (results: readonly { readonly resource: { readonly name?: string | undefined } }[]) =>
          `${results.map(({ resource }) => resource.name).join()} is too small`,
      },
      want: 'False ProbeUnavailable: Probe addon unavailable with err hello is too small',
    },
  ])('is healthy as it says: $want', async ({ health, want }) => {
    await withHub(async ({ hub, run, waitFor }) => {
      const spec = {
        replicas: 1,
        selector: { matchLabels: { app: 'hello' } },
        template: {
          metadata: { labels: { app: 'hello' } },
          spec: { containers: [{ name: 'hello', image: 'hello' }] },
        },
      };
      const metadata = { namespace: 'default', name: 'hello' };
      const deployment = { apiVersion: 'apps/v1', kind: DEPLOYMENT.kind, metadata, spec };
      const addOn = { name: 'hello', manifests: async () => [deployment], health };
      run((signal) => runAddOnManager({ hub, addOns: [addOn], signal }));
      await install(hub);
      await waitFor(async () => (await conditionOf(hub, 'Available')) === want, { patienceMs: 60_000 });
    });
  });

  it('has the rights that its list names, each its own, whatever somebody changes by hand', async () => {
    const reader = { namespace: '', name: 'hello-cluster1' };
    const clusterRole = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', rules: READ };
    let objects: (name: string) => readonly KubeObject[] = () => [];
    await withHub(
      async ({ hub, run, waitFor }) => {
        const registration = {
          configurations: [{ type: 'KubeClient' as const }],
          permissions: async ({ cluster }: AddOnContext) => objects(cluster.metadata.name),
        };
        const manager = createAddOnManager({ hub, addOns: [{ ...BASIC, registration }] });
        run((signal) => manager.run(signal));
        const applied = () => conditionOf(hub, 'RegistrationApplied');
        const change = async (next: typeof objects, want: string) => {
          objects = next;
          for (const cluster of ['cluster1', 'cluster2']) manager.trigger(cluster, 'hello');
          await waitFor(async () => (await applied())?.includes(want));
        };
        await make(hub, CLUSTER_ROLE, { metadata: { name: 'of-others' }, rules: READ });
        await install(hub, ['cluster1', 'cluster2']);
        await waitFor(applied);
        await change((name) => [{ ...clusterRole, metadata: { name: `hello-${name}` } }], 'True');
        await waitFor(() => hub.get(CLUSTER_ROLE, reader));
        await waitFor(() => hub.get(CLUSTER_ROLE, { ...reader, name: 'hello-cluster2' }));
        await hub.mergePatch(CLUSTER_ROLE, reader, { rules: [] });
        const rules = async () => JSON.stringify((await hub.get(CLUSTER_ROLE, reader))?.['rules']);
        await waitFor(async () => (await rules()) === JSON.stringify(READ));
        await change(() => [{ ...clusterRole, metadata: { name: 'shared' } }], 'must contain cluster1');
        objects = () => [{ ...clusterRole, metadata: { name: 'cluster1-cluster2' } }];
        for (const cluster of ['cluster1', 'cluster2']) manager.trigger(cluster, 'hello');
        const other = { namespace: 'cluster2', name: 'hello' };
        await waitFor(async () =>
          [await applied(), await conditionOf(hub, 'RegistrationApplied', other)].some((text) =>
            text?.includes('has the rights of add-on'),
          ),
        );
        expect(await hub.get(CLUSTER_ROLE, { namespace: '', name: 'shared' })).toBeUndefined();
        await change(
          () => [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }],
          'gives no rights',
        );
        await change(() => [], 'True');
        await waitFor(async () => (await hub.get(CLUSTER_ROLE, reader)) === undefined);
        expect(await hub.get(CLUSTER_ROLE, { namespace: '', name: 'of-others' })).toBeDefined();
      },
      { clusters: 2 },
    );
  });

  it('is split between its cluster and the one that hosts it', async () => {
    await withHub(
      async ({ hub, clusters, run, waitFor }) => {
        const location = 'addon.open-cluster-management.io/hosted-manifest-location';
        const hosted = configMap('there');
        const annotations = { [location]: 'hosting' };
        const addOn: AddOnDefinition = {
          ...BASIC,
          hostedMode: true,
          manifests: async ({ hostingCluster }) => [
            configMap(`for ${hostingCluster}`),
            { ...hosted, metadata: { namespace: 'default', name: 'agent', annotations } },
          ],
        };
        run((signal) => runAddOnManager({ hub, addOns: [addOn], signal }));
        await make(hub, CLUSTER_MANAGEMENT_ADDON, { metadata: { name: 'hello' }, spec: {} });
        await make(hub, MANAGED_CLUSTER_ADDON, {
          metadata: {
            ...HELLO,
            annotations: { 'addon.open-cluster-management.io/hosting-cluster-name': 'cluster2' },
          },
          spec: {},
        });
        const read = (cluster: string, name: string) =>
          clusters.get(cluster)?.get(CONFIG_MAP, { namespace: 'default', name });
        expect((await waitFor(() => read('cluster1', 'hello')))['data']).toEqual({ value: 'for cluster2' });
        await waitFor(() => read('cluster2', 'agent'));
        expect(await read('cluster1', 'agent')).toBeUndefined();
        await hub.delete(MANAGED_CLUSTER_ADDON, HELLO);
        await waitFor(async () => (await read('cluster2', 'agent')) === undefined);
      },
      { clusters: 2 },
    );
  });

  it('is made again when a label of its cluster changes, and not written without a difference', async () => {
    let calls = 0;
    await withHub(async ({ hub, run, waitFor }) => {
      const addOn: AddOnDefinition = {
        ...BASIC,
        manifests: async ({ cluster }) => {
          calls += 1;
          return [configMap(cluster.metadata.labels?.['size'] ?? 'none')];
        },
      };
      run((signal) => runAddOnManager({ hub, addOns: [addOn], signal }));
      await install(hub);
      await waitFor(async () => (await workOf(hub))?.value === 'none');
      const label = (labels: object) =>
        hub.mergePatch(MANAGED_CLUSTER, { namespace: '', name: 'cluster1' }, { metadata: { labels } });
      await label({ size: 'l' });
      await waitFor(async () => (await workOf(hub))?.value === 'l');
      const before = calls;
      await label({ other: 'x' });
      await waitFor(() => calls > before);
      expect((await workOf(hub))?.generation).toBe(2);
    });
  });
});

it('two add-ons of one name are refused', () => {
  expect(() => createAddOnManager({ hub: undefined as never, addOns: [BASIC, BASIC] })).toThrow(
    'add-on hello: is given twice',
  );
});
