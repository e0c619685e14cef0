import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { build, type BuildOptions, type Plugin } from 'esbuild';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import {
  ADDON_DEPLOYMENT_CONFIG,
  CERTIFICATE_REQUEST,
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  CONFIG_MAP,
  kind,
  type KindInfo,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
  ROLE,
  ROLE_BINDING,
  SECRET,
} from '@berth/kube/model/kinds';
import { findCondition } from '@berth/kube/model/condition-list';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition } from '@berth/kube/model/object-meta';
import { secretTexts } from '@berth/kube/secret-texts';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import { readHeldAddOn, releaseAddOnRemovals } from '../../src/controllers/releases/release-held.ts';
import { HUB_NAMESPACE, signingAuthority } from '../interop/registration/addon-objects.ts';
import { CLUSTER, ensure, ensureCreated, Joining, type Mortal, PATIENT } from './joining.ts';

const { href } = new URL('../../scripts/own-packages.mjs', import.meta.url);
const { FOR_NODE, OWN_PACKAGES } = (await import(/* @vite-ignore */ href)) as {
  readonly FOR_NODE: BuildOptions;
  readonly OWN_PACKAGES: Plugin;
};

const JOB = kind('batch', 'v1', 'Job', 'Namespaced');
const GROUP = 'addon.open-cluster-management.io';
const OCM = 'cluster.open-cluster-management.io';
const AT = { namespace: 'default', name: 'hello' };
const ON_CLUSTER = { namespace: CLUSTER, name: 'hello' };
const CONFIGS = { group: GROUP, resource: 'addondeploymentconfigs' };
const STATUS = { subresource: 'status' } as const;
const SECRETS = ['hello-hub-kubeconfig', 'hello-example.com-agents-client-cert'];

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const ADDONS = `/apis/${GROUP}/v1alpha1/namespaces/${CLUSTER}/managedclusteraddons`;
const WORKS = `/apis/work.open-cluster-management.io/v1/namespaces/${CLUSTER}/manifestworks`;
const MEMBER = '/clusters/cluster1/api/v1/namespaces/default';
const OF_AGENT = [
  `POST ${REQUESTS}`,
  `POST ${MEMBER}/secrets`,
  `PATCH ${WORKS}/addon-hello-deploy-0`,
  `POST ${MEMBER}/configmaps`,
  `PATCH ${WORKS}/addon-hello-deploy-0/status`,
  `PUT ${MEMBER}/configmaps/hello`,
  'POST /clusters/cluster1/apis/batch/v1/namespaces/default/jobs',
  `DELETE ${MEMBER}/secrets/hello-hub-kubeconfig`,
  `DELETE ${MEMBER}/configmaps/hello`,
];
const OF_MANAGER = [
  `PATCH ${ADDONS}/hello`,
  `PATCH ${ADDONS}/hello/status`,
  `POST ${RBAC}/clusterroles`,
  `POST ${RBAC}/clusterrolebindings`,
  `POST ${RBAC}/namespaces/${CLUSTER}/roles`,
  `POST ${RBAC}/namespaces/${CLUSTER}/rolebindings`,
  `PUT ${REQUESTS}/NAME/approval`,
  `PATCH ${REQUESTS}/NAME/status`,
  `POST ${WORKS}`,
  `PUT ${WORKS}/addon-hello-deploy-0`,
  `DELETE ${RBAC}/clusterroles/hello-${CLUSTER}-small`,
  `DELETE ${RBAC}/clusterrolebindings/hello-${CLUSTER}-large`,
];
const OF_CONTROLLERS = [`POST ${ADDONS}`, `PATCH ${ADDONS}/hello/status`, `DELETE ${ADDONS}/hello`];
/** The writes at which each process dies, among others. */
const DEATHS: Readonly<Record<Mortal, readonly string[]>> = {
  agent: OF_AGENT,
  manager: OF_MANAGER,
  controllers: OF_CONTROLLERS,
  hub: [...OF_AGENT, ...OF_MANAGER, ...OF_CONTROLLERS],
};
/** After each of its deaths everybody waits for the hub: this takes minutes, so CI leaves it out. */
const MORTALS: readonly Mortal[] =
  process.env['BERTH_HUB_DEATHS'] === undefined ? ['manager', 'agent', 'controllers'] : ['hub'];

const dir = mkdtempSync(path.join(import.meta.dirname, '../../.cache/code-addon-'));
const manager = path.join(dir, 'manager.mjs');
let joining: Joining;
beforeAll(() =>
  build({
    ...FOR_NODE,
    entryPoints: [path.join(import.meta.dirname, 'code-addon-manager.ts')],
    outfile: manager,
    plugins: [OWN_PACKAGES],
  }),
);
afterEach(() => joining.close());
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** An add-on that a placement installs, with what its manager needs. The test decides the placement. */
async function install(hub: KubeApi): Promise<void> {
  const create = (of: KindInfo, content: object) => ensureCreated(hub, of, content);
  await create(NAMESPACE, { metadata: { name: HUB_NAMESPACE } });
  await create(SECRET, (await signingAuthority()).secret);
  await create(ADDON_DEPLOYMENT_CONFIG, { metadata: AT, spec: { customizedVariables: [size('small')] } });
  const annotations = { [`${OCM}/experimental-scheduling-disable`]: 'true' };
  await create(PLACEMENT, { metadata: { ...AT, annotations }, spec: {} });
  const labels = { [PLACEMENT_LABEL]: 'hello', [`${OCM}/decision-group-index`]: '0' };
  await create(PLACEMENT_DECISION, { metadata: { ...AT, labels } });
  await decide(hub, [CLUSTER]);
  await create(CLUSTER_MANAGEMENT_ADDON, {
    metadata: { name: 'hello' },
    spec: {
      supportedConfigs: [{ ...CONFIGS, defaultConfig: AT }],
      installStrategy: { type: 'Placements', placements: [AT] },
    },
  });
}

const size = (value: string) => ({ name: 'SIZE', value });

function decide(hub: KubeApi, clusters: readonly string[]): Promise<void> {
  const decisions = clusters.map((clusterName) => ({ clusterName, reason: '' }));
  return ensure(
    () => hub.mergePatch(PLACEMENT_DECISION, AT, { status: { decisions } }, STATUS),
    async () => {
      const { status } = (await hub.get(PLACEMENT_DECISION, AT)) as { status?: { decisions?: unknown[] } };
      return status?.decisions?.length === clusters.length;
    },
  );
}

/** What the add-on is at both ends, as far as a death may change it. */
async function stateOf(hub: KubeApi, member: KubeApi) {
  const addon = await hub.get(MANAGED_CLUSTER_ADDON, ON_CLUSTER);
  const { conditions = [] } = (addon?.['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
  const content = await member.get(CONFIG_MAP, AT);
  const secrets = await Promise.all(SECRETS.map((name) => member.get(SECRET, { ...AT, name })));
  const { items: works } = await hub.list(MANIFEST_WORK, { namespace: CLUSTER });
  const kinds = [ROLE, ROLE_BINDING, CLUSTER_ROLE, CLUSTER_ROLE_BINDING];
  const rights = await Promise.all(kinds.map((one) => hub.list(one)));
  return {
    addons: addon === undefined ? 0 : 1,
    text: (content?.['data'] as { readonly text?: string } | undefined)?.text,
    conditions: ['RegistrationApplied', 'Configured', 'ManifestApplied', 'Available'].filter(
      (type) => findCondition(conditions, type)?.status === 'True',
    ),
    certificates: secrets.filter((one) => one !== undefined && 'tls.crt' in secretTexts(one)).length,
    works: works.map(({ metadata }) => metadata.name),
    rights: rights
      .flatMap(({ items }) => items.map(({ kind: of, metadata }) => `${of} ${metadata.name}`))
      .filter((text) => /hello/.test(text))
      .sort(),
  };
}

const stateWith = (value: string) => ({
  addons: 1,
  text: `${value} ${CLUSTER}`,
  conditions: ['RegistrationApplied', 'Configured', 'ManifestApplied', 'Available'],
  certificates: 2,
  works: ['addon-hello-deploy-0'],
  rights: [
    `ClusterRole hello-${CLUSTER}-${value}`,
    `ClusterRoleBinding hello-${CLUSTER}-${value}`,
    'Role open-cluster-management:hello:agent',
    'RoleBinding open-cluster-management:hello:agent',
  ],
});
const NOTHING = { addons: 0, text: undefined, conditions: [], certificates: 0, works: [], rights: [] };

/** How many certificates the add-on got. */
async function certificatesOf(hub: KubeApi): Promise<number> {
  const { items } = await hub.list(CERTIFICATE_REQUEST);
  const ofAddOn = items.filter(({ metadata }) => metadata.name.startsWith(`addon-${CLUSTER}-hello`));
  return ofAddOn.filter(({ status }) => (status as { certificate?: string }).certificate !== undefined)
    .length;
}

it.each(MORTALS)(
  'an add-on of @berth/addon is installed, upgraded, held and removed although kill -9 ends the process at every write: %s',
  async (mortal) => {
    joining = new Joining();
    const flags = ['--addons', 'install', 'configuration', '--removal-budget', '0'];
    const phoenix = await joining.start(mortal, flags, manager);
    await expect.poll(() => joining.conditions(), PATIENT).toEqual(['True', 'True', 'True']);
    const { api: hub } = joining.hub;
    const member = joining.member();
    const state = () => stateOf(hub, member).catch(() => undefined);
    await install(hub);
    await expect.poll(state, PATIENT).toEqual(stateWith('small'));

    const customizedVariables = [size('large')];
    await ensure(
      () => hub.mergePatch(ADDON_DEPLOYMENT_CONFIG, AT, { spec: { customizedVariables } }),
      async () => JSON.stringify(await hub.get(ADDON_DEPLOYMENT_CONFIG, AT)).includes('large'),
    );
    await expect.poll(state, PATIENT).toEqual(stateWith('large'));

    await decide(hub, []);
    const held = () => readHeldAddOn(hub, 'hello').catch(() => undefined);
    await expect.poll(held, PATIENT).toMatchObject({ clusters: [CLUSTER] });
    // What somebody takes away meanwhile comes back, because the add-on is still there.
    const binding = { namespace: CLUSTER, name: 'open-cluster-management:hello:agent' };
    const before = (await hub.get(ROLE_BINDING, binding).catch(() => undefined))?.metadata.uid;
    await ensure(
      () => hub.delete(ROLE_BINDING, binding),
      async () => (await hub.get(ROLE_BINDING, binding))?.metadata.uid !== before,
    );
    await expect.poll(state, PATIENT).toEqual(stateWith('large'));
    await expect.poll(held, PATIENT).toMatchObject({ clusters: [CLUSTER] });
    await expect.poll(() => certificatesOf(hub).catch(() => undefined), PATIENT).toBe(2);

    const release = async () => {
      const { code = '' } = (await held()) ?? {};
      await releaseAddOnRemovals(hub, 'hello', { code, releasedBy: 'test' });
    };
    const isLeaving = async () => {
      const addon = await hub.get(MANAGED_CLUSTER_ADDON, ON_CLUSTER);
      return addon?.metadata.deletionTimestamp !== undefined;
    };
    await ensure(release, isLeaving);
    const job = { ...AT, name: 'bye' };
    const done = { conditions: [{ type: 'Complete', status: 'True' }] };
    await ensure(
      () => member.mergePatch(JOB, job, { status: done }, STATUS),
      async () => (await hub.get(MANAGED_CLUSTER_ADDON, ON_CLUSTER)) === undefined,
    );
    await expect.poll(state, PATIENT).toEqual(NOTHING);
    expect(await certificatesOf(hub)).toBe(2);
    expect(phoenix.end).toBeUndefined();
    expect(phoenix.deaths()).toEqual(expect.arrayContaining([...DEATHS[mortal]]));
  },
);
