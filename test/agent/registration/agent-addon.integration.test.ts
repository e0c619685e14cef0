import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startWorkloadSimulation } from '../../../packages/agent/src/simulation/workload-simulation.ts';
import type { HttpKubeApi } from '@berth/kube/http-kube-api';
import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  CLUSTER_ROLE,
  CONFIG_MAP,
  DEPLOYMENT,
  type KindInfo,
  kind,
  MANAGED_CLUSTER_ADDON,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  NAMESPACE,
  PLACEMENT,
  ROLE_BINDING,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { secretTexts } from '@berth/kube/secret-texts';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { loadAll } from 'js-yaml';
import { expect, it, onTestFinished } from 'vitest';
import { serveController } from '../../../src/app/serve/serve-controller.ts';
import {
  readHeldAddOn,
  releaseAddOnRemovals,
  releasePlacement,
} from '../../../src/controllers/releases/release-held.ts';
import { ADDON_DUTIES } from '../../../src/core/addon/addon-duties.ts';
import { GITOPS_CLUSTERS } from '../../../src/core/argocd/argocd-kinds.ts';
import { ACCEPT_NOBODY } from '../../../src/core/registration/acceptance/auto-acceptance.ts';
import { conditionsOf } from '../../interop/registration/addon-checks.ts';
import {
  HUB_NAMESPACE,
  READER,
  READER_ROLE,
  signingAuthority,
} from '../../interop/registration/addon-objects.ts';
import { crd } from '../../controllers/argocd/argocd-objects.ts';
import { callPrincipal, startPrincipal } from './principal.ts';
import { RegistrationWorld } from './registration-world.ts';

const CRD = kind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition', 'Cluster');
const NAME = 'argocd-agent';
const GROUP = 'addon.open-cluster-management.io';
const SIGNER = 'open-cluster-management.io/argocd-agent-addon';
const CLUSTERS = ['cluster1', 'cluster2'];
const ARGOCD = 'argocd';
const CERTIFICATE = `${NAME}-open-cluster-management.io-argocd-agent-addon-client-cert`;
const PLACED = { namespace: ARGOCD, name: 'fleet' };
/** A folder with the manifests of a real argocd-agent, to deploy them, too. */
const REAL = process.env['BERTH_ARGOCD_AGENT'];

/** The spec of a placement. */
const selecting = (what: 'everything' | 'nothing'): object => {
  const operator = what === 'everything' ? 'DoesNotExist' : 'Exists';
  const labelSelector = { matchExpressions: [{ key: 'off', operator }] };
  return { predicates: [{ requiredClusterSelector: { labelSelector } }] };
};

const inArgocd = (kindName: string, apiVersion: string, name: string, rest: object): object => ({
  ...{ apiVersion, kind: kindName, metadata: { name, namespace: ARGOCD } },
  ...rest,
});

/** What argocd-agent has on a cluster: where its principal is, whom it trusts, and the agent. */
function manifestsOf(authority: string): readonly object[] {
  const labels = { app: 'agent' };
  const containers = [{ name: 'agent', image: 'example.com/argocd-agent:1', args: ['agent'] }];
  const template = { metadata: { labels }, spec: { containers } };
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: ARGOCD } },
    inArgocd('ConfigMap', 'v1', 'agent-params', {
      data: { 'agent.server.port': '{{PORT}}', 'agent.mode': '{{MODE}}', 'agent.name': '{{CLUSTER_NAME}}' },
    }),
    inArgocd('ConfigMap', 'v1', 'agent-ca', { data: { 'ca.crt': authority } }),
    inArgocd('Deployment', 'apps/v1', 'agent', { spec: { selector: { matchLabels: labels }, template } }),
  ];
}

/** They name no namespace: the command that applies them does. */
function realManifests(): readonly KubeObject[] {
  if (REAL === undefined || !existsSync(REAL)) return [];
  return readdirSync(REAL)
    .filter((file) => file.startsWith('agent-') && file.endsWith('.yaml'))
    .flatMap((file) => loadAll(readFileSync(join(REAL, file), 'utf8')) as KubeObject[])
    .map((object) =>
      object.kind.startsWith('Cluster')
        ? object
        : { ...object, metadata: { ...object.metadata, namespace: ARGOCD } },
    );
}

function templateOf(authority: string): object {
  const customSigner = {
    ...{ signerName: SIGNER, subject: { user: NAME, groups: ['agents'] } },
    signingCA: { name: 'agents-ca', namespace: HUB_NAMESPACE },
  };
  const hubPermissions = [{ type: 'CurrentCluster', currentCluster: { clusterRoleName: READER } }];
  const manifests = [...manifestsOf(authority), ...realManifests()];
  return {
    metadata: { name: `${NAME}-1` },
    spec: {
      ...{ addonName: NAME, agentSpec: { workload: { manifests } } },
      registration: [
        { type: 'KubeClient', kubeClient: { hubPermissions } },
        { type: 'CustomSigner', customSigner },
      ],
    },
  };
}

/** Two clusters that have joined, and a controller that does everything. */
async function startFleet() {
  const world = await RegistrationWorld.start(CLUSTERS);
  onTestFinished(() => world.close());
  const { api } = world.hub;
  const make = (of: KindInfo, content: object): Promise<KubeObject> =>
    api.create(of, { apiVersion: apiVersionOf(of), kind: of.kind, ...content } as KubeObject);
  for (const name of [HUB_NAMESPACE, ARGOCD, 'berth-system']) await make(NAMESPACE, { metadata: { name } });
  // Argo CD's: a cluster that an Application uses is not taken away from it.
  await make(CRD, crd('argoproj.io', 'Application'));
  const shared = { clock: systemClock, random: Math.random, log: new SilentLogger() };
  const fleet = await serveController({
    ...{ ...shared, api, dataDir: join(world.dir, 'data'), sources: [], engineVersion: 'test', env: {} },
    embedded: true,
    budget: { percent: 25, atLeast: 1 },
    registration: { duties: ['sets'], autoAcceptance: ACCEPT_NOBODY, clock: systemClock },
    addons: { duties: ADDON_DUTIES, clock: systemClock },
    argocd: {
      ...{ namespace: ARGOCD, refresh: false, clusterSecrets: true, pull: false },
      ...{ pluginConfigMaps: [], clusterLabels: [] },
    },
  });
  onTestFinished(() => fleet.close());
  for (const clusterName of CLUSTERS) {
    world.run({ clusterName });
    const { clock, log } = shared;
    const simulation = startWorkloadSimulation({
      cluster: world.member(clusterName),
      ...{ clock, log, readyAfterMs: 10 },
    });
    onTestFinished(() => simulation.close());
    await expect.poll(() => world.hub.requests(clusterName)).toHaveLength(1);
    await world.hub.decide(clusterName);
    await world.hub.accept(clusterName);
  }
  return { world, api, make };
}

type Fleet = Awaited<ReturnType<typeof startFleet>>;

async function install({ make }: Fleet, port: number, ca: Awaited<ReturnType<typeof signingAuthority>>) {
  await make(SECRET, ca.secret);
  await make(CLUSTER_ROLE, READER_ROLE);
  await make(MANAGED_CLUSTER_SET_BINDING, {
    metadata: { namespace: ARGOCD, name: 'global' },
    spec: { clusterSet: 'global' },
  });
  await make(PLACEMENT, { metadata: PLACED, spec: selecting('everything') });
  await make(GITOPS_CLUSTERS[1] ?? expect.fail('no kind'), {
    metadata: PLACED,
    spec: { placementRef: { kind: 'Placement', name: PLACED.name }, argoCDAgentAddon: { mode: 'managed' } },
  });
  const customizedVariables = [
    { name: 'PORT', value: `${port}` },
    { name: 'MODE', value: 'managed' },
  ];
  await make(ADDON_DEPLOYMENT_CONFIG, {
    metadata: { namespace: ARGOCD, name: NAME },
    spec: { agentInstallNamespace: ARGOCD, customizedVariables },
  });
  await make(ADDON_TEMPLATE, templateOf(ca.certificate));
  await make(CLUSTER_MANAGEMENT_ADDON, {
    metadata: { name: NAME },
    spec: {
      supportedConfigs: [
        { group: GROUP, resource: 'addontemplates', defaultConfig: { name: `${NAME}-1` } },
        {
          group: GROUP,
          resource: 'addondeploymentconfigs',
          defaultConfig: { namespace: ARGOCD, name: NAME },
        },
      ],
      installStrategy: { type: 'Placements', placements: [PLACED] },
    },
  });
}

/** The agent of the add-on: it finds the principal, its authority and its own certificate on its cluster. */
async function runAgent(member: HttpKubeApi): Promise<string> {
  const textsOf = async (name: string): Promise<Readonly<Record<string, string>>> =>
    ((await member.get(CONFIG_MAP, { namespace: ARGOCD, name }))?.['data'] ?? {}) as Record<string, string>;
  const secret = await member.get(SECRET, { namespace: ARGOCD, name: CERTIFICATE });
  const [params, trusted] = [await textsOf('agent-params'), await textsOf('agent-ca')];
  const port = Number(params['agent.server.port'] ?? 0);
  if (secret === undefined || port === 0) return 'nothing is here';
  const known = await callPrincipal(port, secretTexts(secret), trusted['ca.crt'] ?? '').catch(() => 'nobody');
  return `${params['agent.name']} ${params['agent.mode']}: known as ${known}`;
}

/** What of the add-on is on the hub and on a cluster. */
async function remainsOf({ world, api }: Fleet, cluster: string): Promise<readonly string[]> {
  const member = world.member(cluster);
  const bindings = (await api.list(ROLE_BINDING, { namespace: cluster })).items;
  const secrets = (await member.list(SECRET, { namespace: ARGOCD })).items;
  return [
    ...(await api.list(MANAGED_CLUSTER_ADDON, { namespace: cluster })).items,
    ...(await api.list(MANIFEST_WORK, { namespace: cluster })).items,
    ...bindings.filter(({ metadata }) => metadata.name.includes(NAME)),
    ...secrets.filter(({ metadata }) => metadata.name.startsWith(NAME)),
    ...(await member.list(DEPLOYMENT, { namespace: ARGOCD })).items,
    ...(await api.list(SECRET, { namespace: ARGOCD })).items.filter(
      ({ metadata }) => metadata.name === `cluster-${cluster}`,
    ),
  ].map((object) => `${object.kind} ${object.metadata.name}`);
}

it('argocd-agent is installed by placement, connects, stays while its removal is held, and goes', async () => {
  const fleet = await startFleet();
  const { world, api } = fleet;
  const ca = await signingAuthority();
  const key = secretTexts(ca.secret)['tls.key'] ?? '';
  const principal = await startPrincipal({ certificate: ca.certificate, key });
  onTestFinished(() => void principal.close());
  await install(fleet, principal.port, ca);

  const members = CLUSTERS.map((cluster) => world.member(cluster));
  const agents = () => Promise.all(members.map(runAgent));
  const connected = CLUSTERS.map((cluster) => `${cluster} managed: known as ${NAME}`);
  await expect.poll(agents).toEqual(connected);
  for (const cluster of CLUSTERS) {
    await expect
      .poll(() => conditionsOf(api, cluster, NAME))
      .toMatchObject({ Available: 'True ProbeAvailable', Progressing: 'False Completed' });
    await expect.poll(() => remainsOf(fleet, cluster)).toContain(`Secret cluster-${cluster}`);
  }
  const before = await Promise.all(CLUSTERS.map((cluster) => remainsOf(fleet, cluster)));

  await api.mergePatch(PLACEMENT, PLACED, { spec: selecting('nothing') });
  const held = async (): Promise<string> => {
    const text = JSON.stringify((await api.get(PLACEMENT, PLACED))?.['status']);
    return /--token ([0-9a-f]{12})/.exec(text)?.[1] ?? '';
  };
  await expect.poll(held).not.toBe('');
  const remains = () => Promise.all(CLUSTERS.map((cluster) => remainsOf(fleet, cluster)));
  expect(await remains()).toEqual(before);
  expect(await agents()).toEqual(connected);

  await releasePlacement(api, PLACED, { code: await held(), releasedBy: 'test' });
  // The add-on has a budget of its own.
  await expect.poll(() => readHeldAddOn(api, NAME)).toMatchObject({ clusters: CLUSTERS });
  expect(await agents()).toEqual(connected);
  const { code = '' } = (await readHeldAddOn(api, NAME)) ?? {};
  await releaseAddOnRemovals(api, NAME, { code, releasedBy: 'test' });
  await expect.poll(remains).toEqual([[], []]);
  expect(await agents()).toEqual(CLUSTERS.map(() => 'nothing is here'));
});
