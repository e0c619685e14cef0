import { readFileSync } from 'node:fs';
import {
  type AddOnDefinition,
  type AddOnManager,
  bindRole,
  createAddOnManager,
  signWithAuthority,
} from '@berth/addon';
import { configSpecHash } from '@berth/addon/rules/config-hash';
import { type HubWorld, withHub } from '@berth/addon/testing';
import { KubeConfig } from '@berth/kube/config/kube-config';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import {
  ADDON_DEPLOYMENT_CONFIG,
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  CONFIG_MAP,
  type KindInfo,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  ROLE,
  ROLE_BINDING,
  SECRET,
  SERVICE_ACCOUNT,
} from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { requestToken } from '@berth/kube/request-token';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { load } from 'js-yaml';
import { expect, it } from 'vitest';
import { helloworld } from '../../examples/addon-helloworld/add-on.ts';
import { make } from '../../packages/addon/test/manager/addon-of-code.ts';
import { AuditingKubeApi } from '../fakes/auditing-kube-api.ts';
import { type RbacObject, rightsOf, withoutRight } from '../fakes/rbac-rules.ts';
import { signingAuthority } from '../interop/registration/addon-objects.ts';

/** The role that docs/addons.md shows. */
const PAGE = readFileSync('docs/addons.md', 'utf8');
const LISTED = load(/#### Rights of a manager.*?```yaml\n(.*?)```/s.exec(PAGE)?.[1] ?? '') as RbacObject;

const CONFIGS = { group: 'addon.open-cluster-management.io', resource: 'addondeploymentconfigs' };
const RBAC = 'rbac.authorization.k8s.io';
const ADDON = { namespace: 'cluster1', name: 'helloworld' };
const MANAGED = { namespace: '', name: ADDON.name };
const CONFIG = { namespace: 'default', name: 'size' };
const WORK = { namespace: 'cluster1', name: 'addon-helloworld-deploy-0' };
const AGENT = { namespace: 'cluster1', name: 'open-cluster-management:helloworld:agent' };
const OLD = { namespace: 'cluster1', name: 'helloworld-old' };
const READER = { namespace: '', name: 'helloworld-cluster1' };

/**
 * The example with all that a manager can do: a signer and configurations of its own, and rights on the whole hub. Its size `large` has less
 * than `small`: one work, one account that is bound, and no old role.
 */
async function wholeExample(): Promise<AddOnDefinition> {
  const data = (await signingAuthority()).secret['data'];
  const pem = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  const pair = { certPem: pem('tls.crt'), keyPem: pem('tls.key') };
  const configMap = (name: string, size: string | undefined, text = '') => ({
    ...{
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name },
      data: { size, text },
    },
  });
  const role = (kind: string, metadata: KubeObject['metadata'], content: object): KubeObject => ({
    apiVersion: `${RBAC}/v1`,
    kind,
    metadata,
    ...content,
  });
  return {
    ...helloworld,
    supportedConfigs: [ADDON_DEPLOYMENT_CONFIG],
    manifests: async (context) => {
      const { SIZE: size } = context.values;
      const more = size === 'large' ? [] : ['a', 'b'];
      return [
        ...(await helloworld.manifests(context)),
        configMap(CONFIG.name, size),
        ...more.map((name) => configMap(name, size, 'x'.repeat(250 * 1024))),
      ];
    },
    registration: {
      configurations: [
        { type: 'KubeClient' },
        { type: 'CustomSigner', signerName: 'example.com/helloworld' },
      ],
      permissions: async (context) => {
        const isLarge = context.values['SIZE'] === 'large';
        const subjects = context.subjects().slice(isLarge ? 1 : 0);
        const verbs = isLarge ? ['get', 'list'] : ['get'];
        const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs }];
        const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: READER.name };
        const old = [role('Role', OLD, { rules }), role('RoleBinding', OLD, { roleRef, subjects })];
        return [
          ...bindRole({ ...context, subjects: () => subjects }, rules),
          ...(isLarge ? [] : old),
          role('ClusterRole', { name: READER.name }, { rules }),
          role('ClusterRoleBinding', { name: READER.name }, { roleRef, subjects }),
        ];
      },
      sign: async ({ request }) => signWithAuthority(pair, request),
    },
  };
}

/** A client of an account that has the rights of the role, and no others. */
async function clientOf({ hub, kubeconfigs }: HubWorld, role: RbacObject): Promise<KubeApi> {
  const account = { namespace: 'default', name: 'manager' };
  await make(hub, SERVICE_ACCOUNT, { metadata: account });
  await hub.create(CLUSTER_ROLE, role);
  const { name } = role.metadata;
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name };
  const subjects = [{ kind: 'ServiceAccount', ...account }];
  await make(hub, CLUSTER_ROLE_BINDING, { metadata: { name }, roleRef, subjects });
  const config = loadKubeConfig({ file: kubeconfigs.hub });
  const user = { name: config.getCurrentUser()?.name ?? '', token: await requestToken(hub, account, 3_600) };
  return new HttpKubeApi({ config: new KubeConfig({ ...config, users: [user] }), clock: systemClock });
}

/** What a manager of configurations writes. */
async function configure({ hub }: HubWorld, config: KubeObject): Promise<void> {
  const desiredConfig = { ...CONFIG, specHash: configSpecHash(config) };
  const configReferences = [{ ...CONFIGS, ...CONFIG, lastObservedGeneration: 1, desiredConfig }];
  const options = { subresource: 'status' } as const;
  await hub.mergePatch(MANAGED_CLUSTER_ADDON, ADDON, { status: { configReferences } }, options);
}

/** Installs the add-on, changes its configuration, and removes it. */
async function live(world: HubWorld, manager: AddOnManager): Promise<void> {
  const { hub, cluster, signal } = world;
  /** Ends with the test. */
  const until = (question: () => Promise<boolean>) => world.waitFor(async () => signal.aborted || question());
  const isThere = (kind: KindInfo, key: typeof ADDON, api: KubeApi = hub) =>
    until(async () => (await api.get(kind, key)) !== undefined);
  const isGone = (kind: KindInfo, key: typeof ADDON) =>
    until(async () => (await hub.get(kind, key)) === undefined);
  const has = (kind: KindInfo, key: typeof ADDON, text: string, api: KubeApi = hub) =>
    until(async () => JSON.stringify(await api.get(kind, key)).includes(text));
  const hasWorks = (count: number) =>
    until(async () => (await hub.list(MANIFEST_WORK)).items.length === count);
  const spec = (value: string) => ({
    ...{ agentInstallNamespace: 'default', customizedVariables: [{ name: 'SIZE', value }] },
  });

  const config = await make(hub, ADDON_DEPLOYMENT_CONFIG, { metadata: CONFIG, spec: spec('small') });
  // Somebody has a work with the name that the add-on needs.
  const theirs = await make(hub, MANIFEST_WORK, { metadata: WORK, spec: { workload: { manifests: [] } } });
  const supportedConfigs = [{ ...CONFIGS, defaultConfig: CONFIG }];
  await make(hub, CLUSTER_MANAGEMENT_ADDON, { metadata: { name: ADDON.name }, spec: { supportedConfigs } });
  const defaultconfigReferences = [{ ...CONFIGS, desiredConfig: { ...CONFIG, specHash: '' } }];
  const status = { status: { defaultconfigReferences } };
  await hub.mergePatch(CLUSTER_MANAGEMENT_ADDON, MANAGED, status, { subresource: 'status' });
  await make(hub, MANAGED_CLUSTER_ADDON, { metadata: ADDON, spec: { installNamespace: 'default' } });
  await configure(world, config);
  await has(MANAGED_CLUSTER_ADDON, ADDON, 'does not belong to the add-on');
  await hub.delete(MANIFEST_WORK, WORK);
  const { uid } = theirs.metadata;
  await until(async () => (await hub.get(MANIFEST_WORK, WORK))?.metadata.uid !== uid);
  manager.trigger(ADDON.namespace, ADDON.name);
  await has(CONFIG_MAP, CONFIG, '"small"', cluster);
  await hasWorks(2);
  for (const name of ['helloworld-hub-kubeconfig', 'helloworld-example.com-helloworld-client-cert'])
    await isThere(SECRET, { namespace: 'default', name }, cluster);
  for (const kind of [ROLE, ROLE_BINDING]) {
    await isThere(kind, AGENT);
    await isThere(kind, OLD);
  }
  await isThere(CLUSTER_ROLE_BINDING, READER);
  await has(CLUSTER_MANAGEMENT_ADDON, MANAGED, configSpecHash(config));

  await configure(world, await hub.mergePatch(ADDON_DEPLOYMENT_CONFIG, CONFIG, { spec: spec('large') }));
  await has(CONFIG_MAP, CONFIG, '"large"', cluster);
  await hasWorks(1);
  await has(ROLE, AGENT, '"list"');
  await has(CLUSTER_ROLE, READER, '"list"');
  for (const kind of [ROLE, ROLE_BINDING]) await isGone(kind, OLD);
  for (const [kind, key] of [
    [ROLE_BINDING, AGENT],
    [CLUSTER_ROLE_BINDING, READER],
  ] as const)
    await until(async () => ((await hub.get(kind, key))?.['subjects'] as readonly object[]).length === 1);

  await hub.delete(MANAGED_CLUSTER_ADDON, ADDON);
  for (const kind of [CLUSTER_ROLE, CLUSTER_ROLE_BINDING]) await isGone(kind, READER);
  await hasWorks(0);
  await isGone(ROLE, AGENT);
  await isGone(MANAGED_CLUSTER_ADDON, ADDON);
}

const SETUP = { patienceMs: PATIENCE_MS };

it('a manager does everything with the rights that the documentation lists', async () => {
  const addOns = [await wholeExample()];
  await withHub(async (world) => {
    const hub = new AuditingKubeApi(await clientOf(world, LISTED));
    const manager = createAddOnManager({ hub, addOns });
    world.run((signal) => manager.run(signal));
    await live(world, manager);
    expect([...hub.refused]).toEqual([]);
    expect(manager.warnings()).toEqual([]);
  }, SETUP);
});

const GRANTS = 'is attempting to grant RBAC permissions not currently held';
/** What the hub says where it does not name the right itself. */
const SAYS: Readonly<Record<string, string>> = {
  'delete managedclusteraddons': "cannot set an ownerRef on a resource you can't delete",
  'update clustermanagementaddons/finalizers': "a resource you can't set finalizers on",
  'update managedclusteraddons/finalizers': "a resource you can't set finalizers on",
  'approve signers': 'not permitted to approve requests',
  'sign signers': 'not permitted to sign requests',
  ...Object.fromEntries(
    ['roles', 'clusterroles'].flatMap((kind) => [
      [`bind ${kind}`, GRANTS],
      [`escalate ${kind}`, GRANTS],
    ]),
  ),
};

it.each(rightsOf(LISTED.rules ?? []))('a manager without the right to %s says so', async (right) => {
  const addOns = [await wholeExample()];
  const [verb, resource] = right.split(' ');
  const names = [`cannot ${verb} resource "${resource}"`, `the right to ${verb} ${resource}.`, SAYS[right]];
  await withHub(async (world) => {
    const manager = createAddOnManager({
      hub: await clientOf(world, withoutRight(LISTED, right)),
      addOns,
    });
    world.run((signal) => manager.run(signal));
    void live(world, manager).catch(() => undefined);
    await world.waitFor(() =>
      manager.warnings().some((text) => names.some((name) => name !== undefined && text.includes(name))),
    );
  }, SETUP);
});
