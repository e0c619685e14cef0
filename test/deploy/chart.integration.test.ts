import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accountHubObjects } from '@berth/access/addon/managed-serviceaccount';
import { hubObjects as accessObjects } from '@berth/access/addon/hub-objects';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { AGENT_ACCOUNT } from '../../src/core/rbac/agent-rbac.ts';
import { agentObjects } from '../../src/core/registration/install/deployment.ts';
import { agentRights } from '../../src/app/cli/commands/installation/agent-installation.ts';
import { flagsBefore, hubObjects } from '../../src/app/cli/commands/installation/hub-installation.ts';
import { objectsIn } from '../../src/app/cli/commands/installation/run-installation.ts';
import { runCli } from '../../src/app/cli/program.ts';
import { makeCliIo } from '../app/cli-harness.ts';
import { findHelm } from '../../packages/addon/test/sources/find-helm.ts';
import { leavesOf } from './chart-values.ts';
import { BESIDE_OCM, CHART, chartSchema } from './generated-files.ts';
import { helm, renderChart, templateText, type Values, withValue } from './render-chart.ts';

const program = findHelm();
const HELM = program ?? '';
const IMAGE = 'berth:0.1.0';
const AGENT_NAMESPACE = 'open-cluster-management-agent';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'berth-chart-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const io = () => makeCliIo().io;
const titleOf = ({ kind, metadata: { namespace = '', name } }: KubeObject): string =>
  `${kind} ${namespace}/${name}`;
const objectOf = (objects: readonly KubeObject[], title: string): KubeObject => {
  const found = objects.find((object) => titleOf(object) === title);
  expect(found, title).toBeDefined();
  return found as KubeObject;
};

/** Without what Helm adds to each object, and with flags in one order: their order means nothing. */
function plain(objects: readonly KubeObject[]): Readonly<Record<string, unknown>> {
  const ofHelm = /^(helm\.sh\/|app\.kubernetes\.io\/)/;
  return Object.fromEntries(
    objects
      // Helm makes the namespace of a release itself.
      .filter((object) => titleOf(object) !== 'Namespace /berth-system')
      .map((object) => {
        const copy = structuredClone(object) as KubeObject & {
          metadata: Record<string, unknown>;
          spec?: PodOwner;
        };
        for (const field of ['labels', 'annotations']) {
          const entries = Object.entries(copy.metadata[field] ?? {}).filter(([key]) => !ofHelm.test(key));
          copy.metadata[field] = entries.length === 0 ? undefined : Object.fromEntries(entries);
        }
        const spec = copy.spec?.template?.spec;
        spec?.containers[0]?.args.sort();
        // The order of mounts means nothing, nor does the name of a volume.
        return [titleOf(object), JSON.parse(JSON.stringify(copy))];
      }),
  );
}

interface PodOwner {
  template?: { spec: { containers: { args: string[] }[]; volumes: unknown[] } };
}

const argsOf = (objects: readonly KubeObject[], title: string): readonly string[] =>
  (objectOf(objects, title)['spec'] as Required<PodOwner>).template.spec.containers[0]?.args ?? [];

describe.skipIf(program === undefined)('the chart', () => {
  it('passes helm lint', () => {
    const { stdout } = helm(HELM, ['lint', CHART, '--strict', '--namespace', 'berth-system'], '');
    expect(stdout).toContain('0 chart(s) failed');
  });

  it('is what berth init writes', async () => {
    const settings = { flags: flagsBefore(undefined, true), secrets: [] };
    expect(plain(renderChart(HELM, {}))).toEqual(plain(await hubObjects(io(), IMAGE, settings)));
  });

  it('is what berth init writes with other flags, beside OCM’s controllers', async () => {
    const values = {
      ...{ bootstrap: { enabled: false }, admission: { enabled: false } },
      ...{ tls: { secretName: 'berth-tls' }, tokens: { secretName: 'berth-tokens' } },
      serve: {
        ...{ embedded: false, registration: [], addons: [] },
        ...{ repo: ['https://git.example.org/fleet.git'], ref: 'main' },
      },
    };
    // Two pods may run at the same time, so that an old one answers until the Service has forgotten it.
    const flags = [...BESIDE_OCM.flags, '--shutdown-delay=5s'];
    const [, , , , ...wanted] = await hubObjects(io(), IMAGE, { ...BESIDE_OCM, flags });
    const objects = plain(renderChart(HELM, values));
    // With a leader two pods may run at the same time, so that an update has no gap.
    const { strategy: _, ...spec } = (
      plain(wanted)['Deployment berth-system/berth'] as { spec: object & { strategy?: object } }
    ).spec;
    const deployment = { ...(plain(wanted)['Deployment berth-system/berth'] as object), spec };
    expect(objects).toEqual({ ...plain(wanted), 'Deployment berth-system/berth': deployment });
  });

  it('has the managers of access to clusters as berth install hub-addon writes them', () => {
    const addresses = {
      ...{ publicUrl: 'https://hub.example.org:9092', agentAddress: 'hub.example.org:8091', replicas: 2 },
    };
    const place = { namespace: 'berth-system', image: IMAGE };
    const before = new Set(renderChart(HELM, {}).map(titleOf));
    const values = {
      ...{ proxy: { enabled: true, ...addresses }, accounts: { enabled: true, clusterProfiles: true } },
    };
    const found = plain(renderChart(HELM, values).filter((object) => !before.has(titleOf(object))));
    const written = [
      ...accessObjects({ ...place, ...addresses }),
      ...accountHubObjects({ ...place, withProfiles: true }),
    ];
    // The managers make their add-ons, which Helm must not delete.
    const wanted = plain(written.filter(({ kind }) => kind !== 'ClusterManagementAddOn'));
    expect(Object.keys(found).sort()).toEqual(Object.keys(wanted).sort());
    for (const [title, object] of Object.entries(wanted))
      expect(found[title], title).toMatchObject(object as object);
  });

  it.each([false, true])('is what berth join writes for an agent (hosted: %s)', async (isHosted) => {
    const managed = isHosted ? { managedKubeconfigSecret: 'external-managed-kubeconfig' } : {};
    const values = {
      controller: { enabled: false },
      agent: {
        enabled: true,
        clusterName: 'cluster1',
        flags: { spokeExternalServerUrls: ['https://c1'] },
        ...managed,
      },
    };
    const agent = {
      ...{ clusterName: 'cluster1', namespace: AGENT_NAMESPACE, account: AGENT_ACCOUNT, image: IMAGE },
      ...{ bootstrapKubeconfig: '', options: ['--spoke-external-server-urls=https://c1'] },
      managedKubeconfig: isHosted ? '' : undefined,
    };
    const wanted = [...(await agentRights(isHosted ? 'hosted' : 'default', agent)), ...agentObjects(agent)];
    // Secrets come from somebody else, and the namespace from Helm.
    const others = wanted.filter(({ kind }) => kind !== 'Secret' && kind !== 'Namespace');
    expect(plain(renderChart(HELM, values, AGENT_NAMESPACE))).toEqual(plain(others));
  });
});

/** Rules of each role as a sorted list, and whom each binding names. */
function rights(objects: readonly KubeObject[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    objects
      .filter(({ kind, metadata }) => /Role(Binding)?$/.test(kind) && metadata.name.startsWith('berth'))
      .map((object) => {
        const rules = (object['rules'] ?? []) as readonly Record<string, readonly string[]>[];
        const all = rules.flatMap(({ verbs = [], resources = [], apiGroups = [], resourceNames = [''] }) =>
          verbs.flatMap((verb) =>
            resources.flatMap((resource) =>
              apiGroups.flatMap((group) =>
                resourceNames.map((name) => `${verb} ${resource} ${group} ${name}`),
              ),
            ),
          ),
        );
        const { roleRef, subjects, aggregationRule } = object;
        return [titleOf(object), { rules: [...new Set(all)].sort(), roleRef, subjects, aggregationRule }];
      }),
  );
}

const none = { embedded: false, registration: [], addons: [] };
const source = { name: 'fleet', url: 'https://git.example.org/fleet.git' };
const RIGHTS: readonly { readonly name: string; readonly values: Values }[] = [
  { name: 'the first duties', values: {} },
  { name: 'a repository', values: { serve: { repo: ['https://git.example.org/fleet.git'] } } },
  {
    name: 'a repository beside OCM',
    values: { serve: { ...none, repo: ['https://git.example.org/fleet.git'] } },
  },
  {
    name: 'a repository that is observed',
    values: { serve: { ...none, repo: ['https://x'], sync: 'observe' } },
  },
  { name: 'OCM decides', values: { serve: { ...none, repo: ['https://x'], schedule: 'upstream' } } },
  { name: 'no works', values: { serve: { works: false } } },
  {
    name: 'nothing',
    values: {
      admission: { enabled: false },
      serve: { ...none, repo: ['https://x'], sync: 'observe', schedule: 'upstream', works: false },
    },
  },
  { name: 'no admission', values: { admission: { enabled: false } } },
  ...['acceptance', 'approval', 'health', 'taints', 'sets', 'cleanup'].map((duty) => ({
    name: `registration ${duty}`,
    values: { serve: { registration: [duty], addons: [] } },
  })),
  ...['install', 'configuration', 'deployment', 'registration', 'health'].map((duty) => ({
    name: `add-ons ${duty}`,
    values: { serve: { registration: [], addons: [duty] } },
  })),
  { name: 'add-ons beside OCM', values: { serve: { ...none, addons: ['install', 'health'] } } },
  { name: 'refreshes', values: { serve: { argocdRefresh: true } } },
  { name: 'waves', values: { serve: { argocdWaves: true, argocdNamespace: 'gitops' } } },
  { name: 'cluster Secrets', values: { serve: { argocdClusterSecrets: true } } },
  { name: 'the pull model', values: { serve: { ...none, argocdPull: true, repo: ['https://x'] } } },
  { name: 'an election', values: { serve: { leaderElect: true, leaderElectResourceName: 'my-lease' } } },
  { name: 'no election', values: { serve: { ...none, leaderElect: false, repo: ['https://x'] } } },
  {
    name: 'kinds',
    values: {
      serve: {
        repo: ['https://x'],
        kind: [
          '/ConfigMap',
          'argoproj.io/*',
          'example.org/Policy',
          'example.org/Bus',
          'addon.open-cluster-management.io/ClusterManagementAddOn',
        ],
      },
    },
  },
  {
    name: 'sources',
    values: {
      serve: { embedded: false },
      config: {
        sources: [
          source,
          { ...source, name: 'b', sync: 'observe', kinds: ['/Secret'] },
          { ...source, name: 'c', kinds: ['/ConfigMap', 'apps/Deployment'] },
        ],
      },
    },
  },
  {
    name: 'sources that are observed',
    values: { serve: none, config: { sources: [{ ...source, sync: 'observe' }] } },
  },
  {
    name: 'previews',
    values: {
      serve: { webhook: ['gitea=/etc/berth/hook/secret'] },
      controller: { secrets: ['hook'] },
      config: {
        sources: [
          {
            ...source,
            kinds: ['/ConfigMap'],
            credentials: { secretRef: { name: 'git' } },
            preview: {
              provider: 'gitea',
              credentials: { secretRef: { name: 'forge', namespace: 'team-a' } },
            },
          },
          { ...source, name: 'b', credentials: { secretRef: { name: 'other' } } },
        ],
      },
    },
  },
];

describe.skipIf(program === undefined)('the rights of the chart', () => {
  it.each(RIGHTS)('are those that the controllers print: $name', async ({ values }) => {
    const objects = renderChart(HELM, values);
    const file = join(dir, 'berth.yaml');
    const config = objects.find((object) => titleOf(object) === 'ConfigMap berth-system/berth-config');
    if (config !== undefined)
      writeFileSync(file, (config['data'] as Record<string, string>)['berth.yaml'] ?? '');
    const [command = '', ...flags] = argsOf(objects, 'Deployment berth-system/berth');
    const given = flags.map((flag) => flag.replace('/etc/berth/config/berth.yaml', file));
    const { io: own, stdout, stderr } = makeCliIo();
    expect(await runCli([command, ...given, '--print-rbac'], own), stderr()).toBe(0);
    expect(rights(objects)).toEqual(rights(await objectsIn(stdout())));
  });
});

/** Values without which another one has no effect, by the beginning of its path. */
const NEEDED: readonly (readonly [path: string, values: Values])[] = [
  ['persistence.', { persistence: { enabled: true } }],
  ['hub.', { hub: { enabled: true } }],
  ['hub.service.nodePort', { hub: { enabled: true, service: { type: 'NodePort' } } }],
  ['connection.', { connection: { enabled: true } }],
  [
    'proxy.',
    { proxy: { enabled: true, publicUrl: 'https://hub.example.org:9092', agentAddress: 'hub:8091' } },
  ],
  ['accounts.', { accounts: { enabled: true } }],
  ['tokens.key', { tokens: { secretName: 'berth-tokens' } }],
  ['priorityClass.', { priorityClass: { create: true } }],
  ['podDisruptionBudget.', { podDisruptionBudget: { enabled: true } }],
  ['prometheusRule.', { prometheusRule: { enabled: true } }],
  ['dashboard.', { dashboard: { enabled: true } }],
  ['networkPolicy.', { networkPolicy: { enabled: true } }],
  ['serviceMonitor.', { serviceMonitor: { enabled: true }, tls: { secretName: 'berth-tls' } }],
  ['controller.replicas', { serve: { leaderElect: true } }],
  ['agent.', { controller: { enabled: false }, agent: { enabled: true, clusterName: 'cluster0' } }],
];
/** The switch itself: what is compared is the installation without it. */
const SWITCHES: ReadonlySet<string> = new Set([
  'agent.enabled',
  'proxy.enabled',
  'accounts.enabled',
  'persistence.enabled',
  'hub.enabled',
  'connection.enabled',
  'priorityClass.create',
  'podDisruptionBudget.enabled',
  'networkPolicy.enabled',
  'serviceMonitor.enabled',
  'prometheusRule.enabled',
  'dashboard.enabled',
]);

describe.skipIf(program === undefined)('observability in the chart', () => {
  it('has the alerts and the dashboard as they are', () => {
    const objects = renderChart(HELM, { prometheusRule: { enabled: true }, dashboard: { enabled: true } });
    const rule = objectOf(objects, 'PrometheusRule berth-system/berth')['spec'];
    expect(rule).toEqual(load(readFileSync('deploy/observability/alerts.yaml', 'utf8')));
    const board = objectOf(objects, 'ConfigMap berth-system/berth-dashboard')['data'] as Values;
    expect(board['berth.json']).toBe(readFileSync('deploy/observability/dashboard.json', 'utf8'));
  });

  it('reads metrics where the Service serves them, with the authority and the token that are given', () => {
    const values = {
      tls: { secretName: 'berth-tls' },
      serviceMonitor: { enabled: true, caSecret: 'berth-ca', tokenSecret: 'berth-metrics' },
    };
    const objects = renderChart(HELM, values);
    const { endpoints, selector } = objectOf(objects, 'ServiceMonitor berth-system/berth')['spec'] as {
      endpoints: readonly object[];
      selector: { matchLabels: object };
    };
    const service = objectOf(objects, 'Service berth-system/berth');
    expect(service.metadata.labels).toMatchObject(selector.matchLabels);
    expect((service['spec'] as { ports: object[] }).ports).toEqual([
      { name: 'http', port: 8443, targetPort: 8443 },
    ]);
    expect(endpoints).toEqual([
      {
        ...{ port: 'http', path: '/metrics', interval: '30s', scheme: 'https' },
        tlsConfig: {
          serverName: 'berth.berth-system.svc',
          ca: { secret: { name: 'berth-ca', key: 'ca.crt' } },
        },
        authorization: { credentials: { name: 'berth-metrics', key: 'token' } },
      },
    ]);
  });
});

describe.skipIf(program === undefined)('each value of the chart', () => {
  const leaves = leavesOf(chartSchema())
    .filter(({ path: [first] }) => first !== 'global')
    .map((leaf) => ({ ...leaf, name: leaf.path.join('.') }));

  it.each(leaves)('$name changes something', ({ path, name, schema }) => {
    const needed = NEEDED.findLast(([start]) => name.startsWith(start))?.[1] ?? {};
    const base = SWITCHES.has(name) ? withValue(needed, path, false) : needed;
    const isOn = path.reduce<unknown>((at, key) => (at as Values | undefined)?.[key], base) ?? schema.default;
    const value = schema.type === 'boolean' ? !isOn : schema.examples?.[0];
    expect(value, 'an example').toBeDefined();
    const texts = [base, withValue(base, path, value)].map((values) =>
      templateText(HELM, values, name.startsWith('agent.') ? AGENT_NAMESPACE : undefined),
    );
    for (const { stderr } of texts) expect(stderr).toBe('');
    expect(texts[1]?.stdout).not.toBe(texts[0]?.stdout);
  });

  it.each([
    { name: 'no value of the chart', values: { replica: 2 }, says: /replica/ },
    { name: 'no flag of berth serve', values: { serve: { repos: ['x'] } }, says: /repos/ },
    { name: 'a wrong type', values: { controller: { replicas: 'two' } }, says: /replicas/ },
    {
      name: 'two pods without a leader',
      values: { controller: { replicas: 2 } },
      says: /several replicas need a leader/,
    },
    {
      name: 'two pods with the embedded hub',
      values: { controller: { replicas: 2 }, serve: { leaderElect: true }, hub: { enabled: true } },
      says: /need a leader/,
    },
    {
      name: 'an agent without a name',
      values: { controller: { enabled: false }, agent: { enabled: true } },
      says: /agent.clusterName is empty/,
    },
    {
      name: 'an agent beside controllers',
      values: { agent: { enabled: true, clusterName: 'c' } },
      says: /a release of its own/,
    },
    {
      name: 'a tunnel without addresses',
      values: { proxy: { enabled: true } },
      says: /needs proxy.publicUrl/,
    },
    {
      name: 'a tunnel of the embedded hub',
      values: {
        hub: { enabled: true },
        proxy: { enabled: true, publicUrl: 'https://hub:9092', agentAddress: 'hub:8091' },
      },
      says: /for this cluster as the hub/,
    },
    {
      name: 'a hub without controllers',
      values: { controller: { enabled: false }, hub: { enabled: true } },
      says: /hub.enabled needs controller.enabled/,
    },
    {
      name: 'a repository and a settings file',
      values: { serve: { repo: ['x'] }, config: { sources: [], decisionReasons: true } },
      says: /expected one of them/,
    },
  ])('refuses $name', ({ values, says }) => {
    expect(() => renderChart(HELM, values)).toThrow(says);
  });

  it('refuses another namespace', () => {
    expect(() => renderChart(HELM, {}, 'default')).toThrow(
      /the controllers run in the namespace berth-system, got default/,
    );
  });
});
