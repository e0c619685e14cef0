import { afterEach, expect, it } from 'vitest';
import {
  ADDON_TEMPLATE,
  CERTIFICATE_REQUEST,
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  CONFIG_MAP,
  MANAGED_CLUSTER_ADDON,
  MANIFEST_WORK,
  NAMESPACE,
  SECRET,
} from '@berth/kube/model/kinds';
import { findCondition } from '@berth/kube/model/condition-list';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import {
  HUB_NAMESPACE,
  managedAddon,
  READER_ROLE,
  signingAuthority,
  TEMPLATE_ADDON,
} from '../interop/registration/addon-objects.ts';
import { CLUSTER, ensure, ensureCreated, Joining, type Mortal, PATIENT } from './joining.ts';

const INSTALLED = 'open-cluster-management-agent-addon';
const [FIRST_TEMPLATE, ADDON] = TEMPLATE_ADDON;
const ADDON_KEY = { namespace: '', name: ADDON.metadata.name };
const ON_CLUSTER = { namespace: CLUSTER, name: ADDON.metadata.name };
const SECRETS = ['hello-hub-kubeconfig', 'hello-example.com-agents-client-cert'];

const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const ADDONS = `/apis/addon.open-cluster-management.io/v1alpha1/namespaces/${CLUSTER}/managedclusteraddons/hello`;
const WORKS = `/apis/work.open-cluster-management.io/v1/namespaces/${CLUSTER}/manifestworks`;
const MEMBER = '/clusters/cluster1/api/v1/namespaces';
const OF_AGENT = [
  `POST ${REQUESTS}`,
  `POST ${MEMBER}/${INSTALLED}/secrets`,
  `PATCH ${WORKS}/addon-hello-deploy-0`,
  `POST ${MEMBER}/default/configmaps`,
  `PATCH ${WORKS}/addon-hello-deploy-0/status`,
  `PUT ${MEMBER}/default/configmaps/hello`,
  `DELETE ${MEMBER}/${INSTALLED}/secrets/hello-hub-kubeconfig`,
  `DELETE ${MEMBER}/default/configmaps/hello`,
];
const OF_CONTROLLERS = [
  `PATCH ${ADDONS}`,
  `POST /apis/rbac.authorization.k8s.io/v1/namespaces/${CLUSTER}/rolebindings`,
  `PATCH ${ADDONS}/status`,
  `PUT ${REQUESTS}/NAME/approval`,
  `PATCH ${REQUESTS}/NAME/status`,
  `POST ${WORKS}`,
  `PUT ${WORKS}/addon-hello-deploy-0`,
];
/** The writes at which each process dies, those of the join not counted. */
const DEATHS: Readonly<Record<Exclude<Mortal, 'manager'>, readonly string[]>> = {
  agent: OF_AGENT,
  controllers: OF_CONTROLLERS,
  hub: [...OF_AGENT, ...OF_CONTROLLERS],
};
/** After each of its thirty deaths everybody waits for the hub: this takes up to ten minutes, so CI leaves it out. */
const MORTALS: readonly (keyof typeof DEATHS)[] =
  process.env['BERTH_HUB_DEATHS'] === undefined ? ['agent', 'controllers'] : ['agent', 'controllers', 'hub'];

let joining: Joining;
afterEach(() => joining.close());

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

/** The next version of the template: another content of its ConfigMap. */
function secondTemplate(): KubeObject {
  const text = JSON.stringify(FIRST_TEMPLATE).replace('"hello-1"', '"hello-2"');
  return JSON.parse(text.replace('{{CLUSTER_NAME}}', 'second of {{CLUSTER_NAME}}')) as KubeObject;
}

/** What an add-on is at both ends, as far as a death may change it; undefined while the hub is dead. */
async function stateOf(hub: KubeApi, member: KubeApi): Promise<unknown> {
  const addon = await hub.get(MANAGED_CLUSTER_ADDON, ON_CLUSTER);
  const { conditions = [] } = (addon?.['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
  const content = await member.get(CONFIG_MAP, { namespace: 'default', name: 'hello' });
  const secrets = await Promise.all(
    SECRETS.map((name) => member.get(SECRET, { namespace: INSTALLED, name })),
  );
  const { items: works } = await hub.list(MANIFEST_WORK, { namespace: CLUSTER });
  return {
    content: (content?.['data'] as { readonly cluster?: string } | undefined)?.cluster,
    missing: ['RegistrationApplied', 'Configured', 'ManifestApplied'].filter(
      (type) => findCondition(conditions, type)?.status !== 'True',
    ),
    certificates: secrets.filter((one) => one?.['data'] !== undefined && 'tls.crt' in (one['data'] as object))
      .length,
    works: works.length,
  };
}

it.each(MORTALS)(
  'an add-on is installed, updated and removed although kill -9 ends the process at every write: %s',
  async (mortal) => {
    joining = new Joining();
    const phoenix = await joining.start(mortal, ['--addons', 'all', '--removal-budget', '100%']);
    await expect.poll(() => joining.conditions(), PATIENT).toEqual(['True', 'True', 'True']);
    const { api: hub } = joining.hub;
    const member = joining.member();
    const { secret } = await signingAuthority();
    await ensureCreated(member, NAMESPACE, namespace(INSTALLED));
    await ensureCreated(hub, NAMESPACE, namespace(HUB_NAMESPACE));
    await ensureCreated(hub, SECRET, secret);
    await ensureCreated(hub, CLUSTER_ROLE, READER_ROLE);
    await ensureCreated(hub, ADDON_TEMPLATE, FIRST_TEMPLATE);
    await ensureCreated(hub, ADDON_TEMPLATE, secondTemplate());
    await ensureCreated(hub, CLUSTER_MANAGEMENT_ADDON, ADDON);
    await ensureCreated(hub, MANAGED_CLUSTER_ADDON, managedAddon(CLUSTER, ADDON.metadata.name));
    const state = () => stateOf(hub, member).catch(() => undefined);
    const installed = { content: CLUSTER, missing: [], certificates: 2, works: 1 };
    await expect.poll(state, PATIENT).toEqual(installed);

    const supportedConfigs = [{ ...ADDON.spec.supportedConfigs[0], defaultConfig: { name: 'hello-2' } }];
    await ensure(
      () => hub.mergePatch(CLUSTER_MANAGEMENT_ADDON, ADDON_KEY, { spec: { supportedConfigs } }),
      async () => JSON.stringify(await hub.get(CLUSTER_MANAGEMENT_ADDON, ADDON_KEY)).includes('hello-2'),
    );
    await expect.poll(state, PATIENT).toEqual({ ...installed, content: `second of ${CLUSTER}` });
    const requests = async () => {
      const { items } = await hub.list(CERTIFICATE_REQUEST);
      const ofAddOn = items.filter(({ metadata }) => metadata.name.startsWith(`addon-${CLUSTER}-hello`));
      return ofAddOn.filter(({ status }) => (status as { certificate?: string }).certificate !== undefined)
        .length;
    };
    await expect.poll(() => requests().catch(() => undefined), PATIENT).toBe(2);

    await ensure(
      () => hub.delete(CLUSTER_MANAGEMENT_ADDON, ADDON_KEY),
      async () => (await hub.get(CLUSTER_MANAGEMENT_ADDON, ADDON_KEY)) === undefined,
    );
    const gone = { content: undefined, missing: expect.any(Array) as unknown, certificates: 0, works: 0 };
    await expect.poll(state, PATIENT).toEqual(gone);
    expect(phoenix.end).toBeUndefined();
    expect(phoenix.deaths()).toEqual(expect.arrayContaining([...DEATHS[mortal]]));
  },
);
