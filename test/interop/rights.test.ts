import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../src/app/cli/program.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { makeCliIo } from '../app/cli-harness.ts';
import { binding, cluster, clusterSet, namespace, placement, yaml } from '../app/serve/fleet-fixture.ts';
import { GitFixture } from '../../packages/git-reader/test/fakes/git-fixture.ts';
import { AuditLog } from './peers/audit-log.ts';
import { CONTROL_PLANE_PROGRAMS } from './peers/control-plane.ts';
import { hasPeers } from './peers/peer-programs.ts';
import { RealHub } from './peers/real-hub.ts';

const CLUSTER = 'cluster.open-cluster-management.io';
const WORK = 'work.open-cluster-management.io';
const RBAC = 'rbac.authorization.k8s.io';
const KINDS = ['--kind', '/ConfigMap', 'apps/Deployment'];
const AGENT_KINDS = ['--kind', '/ConfigMap', `${RBAC}/Role`];
const CONTROLLER = 'system:serviceaccount:berth-system:berth';
const HUB_AGENT = 'system:serviceaccount:c1:berth-agent';
const AGENT = 'system:serviceaccount:open-cluster-management-agent:berth-agent';
/** Printed, and not seen in this test, each for a reason. */
const NOT_SEEN = [
  // Asked by OCM's webhooks, or by OwnerReferencesPermissionEnforcement, not by requests.
  `create managedclustersets/join ${CLUSTER}`,
  `create managedclustersets/bind ${CLUSTER}`,
  'update managedclusters/accept register.open-cluster-management.io',
  `execute-as manifestworks ${WORK}`,
  `update placements/finalizers ${CLUSTER}`,
  // Only where the answer to the creation of a work was lost.
  `get manifestworks ${WORK}`,
  // While an object waits for its namespace.
  'watch namespaces',
  // Half an hour after a hold began its Event is renewed.
  'patch events events.k8s.io',
  // Where a work names server-side apply for a role.
  `patch roles ${RBAC}`,
];
const VERBS = [
  ...['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  ...['impersonate', 'escalate', 'bind', 'approve', 'sign'],
];

const map = (name: string, value: string, ns = 'team-a') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: ns },
  data: { value },
});
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'team-a' },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
  },
};
const score = {
  apiVersion: `${CLUSTER}/v1alpha1`,
  kind: 'AddOnPlacementScore',
  metadata: { name: 'load', namespace: 'c1' },
};
const made = (...resourceNames: string[]) => ({
  apiVersion: `${RBAC}/v1`,
  kind: 'Role',
  metadata: { name: 'made', namespace: 'team-a' },
  rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames, verbs: ['get'] }],
});
const executor = {
  subject: { type: 'ServiceAccount', serviceAccount: { namespace: 'team-a', name: 'runner' } },
};
const work = (...names: string[]) => ({
  apiVersion: `${WORK}/v1`,
  kind: 'ManifestWork',
  metadata: { name: 'single', namespace: 'c1' },
  spec: { workload: { manifests: [made(...names)] }, executor },
});
const replicaSet = (value: string, annotations: object = {}) => ({
  apiVersion: `${WORK}/v1alpha1`,
  kind: 'ManifestWorkReplicaSet',
  metadata: {
    name: 'web',
    namespace: 'team-a',
    annotations: { 'berth.dev/rollback': 'manual', ...annotations },
  },
  spec: {
    manifestWorkTemplate: {
      workload: { manifests: [map('carried', value), map('server-side', value)] },
      manifestConfigs: [
        {
          resourceIdentifier: { resource: 'configmaps', name: 'server-side', namespace: 'team-a' },
          updateStrategy: { type: 'ServerSideApply' },
        },
      ],
    },
    placementRefs: [{ name: 'web' }],
  },
});
const runner = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'runner', namespace: 'team-a' } },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'Role',
    metadata: { name: 'runner', namespace: 'team-a' },
    rules: [
      { apiGroups: [RBAC], resources: ['roles'], verbs: ['get', 'create', 'update', 'patch', 'delete'] },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
    ],
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'runner', namespace: 'team-a' },
    roleRef: { apiGroup: RBAC, kind: 'Role', name: 'runner' },
    subjects: [{ kind: 'ServiceAccount', name: 'runner', namespace: 'team-a' }],
  },
];
const subjects = [{ kind: 'ServiceAccount', name: 'releaser', namespace: 'team-a' }];
const releaser = [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'releaser', namespace: 'team-a' } },
  ...[
    { kind: 'ClusterRole', namespace: 'team-a' },
    { kind: 'Role', namespace: 'berth-system' },
  ].map(({ kind, namespace: where }) => ({
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { name: 'berth-release', namespace: where },
    roleRef: { apiGroup: RBAC, kind, name: 'berth-release' },
    subjects,
  })),
];
const NAMESPACES = ['team-a', 'c1', 'fresh'].map(namespace);
const ONE = {
  predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { agent: 'here' } } } }],
};
/** Two clusters on two pages, and after the change one on one. */
const BUDGET = { 'berth.dev/removal-budget': '2' };
const PAGES = { decisionStrategy: { groupStrategy: { clustersPerDecisionGroup: 1 } } };
const FILES = {
  'namespaces.yaml': yaml(...NAMESPACES, clusterSet, binding()),
  'clusters.yaml': yaml(cluster('c1', { labels: { agent: 'here' } }), cluster('c2')),
  'more.yaml': yaml(score, map('settings', '1'), deployment),
  'web.yaml': yaml(placement('web', ONE), placement('pages', PAGES, BUDGET), replicaSet('1')),
};

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** `verb resource group` for each right. */
function rightsOf(objects: readonly KubeObject[], isMeant: (name: string) => boolean): ReadonlySet<string> {
  const rules = objects
    .filter(({ metadata }) => isMeant(metadata.name))
    .flatMap((object) => (object['rules'] ?? []) as readonly Rule[]);
  return new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource} ${group}`.trim())),
      ),
    ),
  );
}

async function printed(...args: readonly string[]): Promise<string> {
  const { io, stdout, stderr } = makeCliIo();
  expect(await runCli(args, io), stderr()).toBe(0);
  return stdout();
}

describe.skipIf(!hasPeers(...CONTROL_PLANE_PROGRAMS, 'kubectl'))('the printed rights on a real hub', () => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-rights-'));
  const git = new GitFixture();
  const audit = new AuditLog(dir);
  const running: { readonly stop: () => Promise<unknown>; readonly log: () => string }[] = [];
  let hub: RealHub;
  let rights: Readonly<Record<'controller' | 'hubAgent' | 'agent', ReadonlySet<string>>>;

  const kubectl = (input: string): string =>
    execFileSync('kubectl', ['--kubeconfig', hub.plane.kubeconfig, 'apply', '-f', '-'], {
      input,
      encoding: 'utf8',
    });
  const kubeconfigOf = async (namespaceName: string, name: string): Promise<string> => {
    const path = `/api/v1/namespaces/${namespaceName}/serviceaccounts/${name}/token`;
    const { status } = (await hub.call('POST', path, { spec: {} })) as unknown as {
      status: { token: string };
    };
    const admin = JSON.parse(readFileSync(hub.plane.kubeconfig, 'utf8')) as object;
    const file = join(dir, `${namespaceName}-${name}.kubeconfig`);
    writeFileSync(
      file,
      JSON.stringify({ ...admin, users: [{ name: 'admin', user: { token: status.token } }] }),
    );
    return file;
  };
  const start = (...args: readonly string[]): void => {
    const stop = new AbortController();
    const { io, stderr } = makeCliIo({ env: process.env, signal: stop.signal });
    const ended = runCli(args, io);
    running.push({ stop: () => (stop.abort(), ended), log: stderr });
  };
  const read = async (path: string): Promise<KubeObject | undefined> => {
    const { status, body } = await hub.plane.client.call('GET', path);
    return status === 200 ? (body as KubeObject) : undefined;
  };
  const inTeam = (api: string, resource: string, name: string) =>
    `/apis/${api}/namespaces/team-a/${resource}/${name}`;
  const isGone = (path: string): Promise<void> => hub.until(async () => (await read(path)) === undefined);
  const release = async (...args: readonly string[]): Promise<void> => {
    const { io, stderr } = makeCliIo({ env: process.env });
    const code = await runCli(
      ['release', ...args, '--kubeconfig', await kubeconfigOf('team-a', 'releaser')],
      io,
    );
    expect(code, stderr()).toBe(0);
  };

  beforeAll(async () => {
    hub = await RealHub.start(audit.flags);
    const controller = await printed('serve', '--print-rbac', ...KINDS);
    const ofAgent = ['agent', '--executor-cache', ...AGENT_KINDS] as const;
    const onHub = await printed(...ofAgent, '--print-rbac=hub', '--cluster-name', 'c1');
    const onCluster = await printed(...ofAgent, '--print-rbac=managed');
    for (const text of [controller, onHub, onCluster]) {
      expect(text).not.toContain('*');
      kubectl(text);
      expect(
        kubectl(text)
          .split('\n')
          .filter((line) => line !== '' && !line.endsWith('unchanged')),
      ).toEqual([]);
    }
    const objectsOf = (text: string) => loadAll(text) as KubeObject[];
    rights = {
      controller: rightsOf(objectsOf(controller), (name) => name !== 'berth-release'),
      hubAgent: rightsOf(objectsOf(onHub), () => true),
      agent: rightsOf(objectsOf(onCluster), () => true),
    };
    kubectl(yaml(namespace('team-a'), ...runner, ...releaser));
  });
  afterAll(async () => {
    for (const one of running) await one.stop();
    git.remove();
    await hub?.close();
    rmSync(dir, { recursive: true });
  });

  it('are enough for controller and agent: nothing is refused', async () => {
    git.commit({ ...FILES, 'single.yaml': yaml(work()) });
    const data = join(dir, 'data');
    const serve = await kubeconfigOf('berth-system', 'berth');
    start(...['serve', '--repo', git.path, '--kubeconfig', serve, '--data', data, '--poll', '1s'], ...KINDS);
    const ofHub = await kubeconfigOf('c1', 'berth-agent');
    const ofCluster = await kubeconfigOf('open-cluster-management-agent', 'berth-agent');
    const pair = ['--hub-kubeconfig', ofHub, '--kubeconfig', ofCluster, '--cluster-name', 'c1'];
    start('agent', ...pair, '--executor-cache');

    const goodOf = async () =>
      (await read(inTeam(`${WORK}/v1alpha1`, 'manifestworkreplicasets', 'web')))?.metadata.annotations?.[
        'berth.dev/last-good-template'
      ];
    await hub.until(async () => (await goodOf()) !== undefined);
    await hub.until(async () => (await read(inTeam(`${RBAC}/v1`, 'roles', 'made'))) !== undefined);
    const first = await goodOf();
    // A new template, other groups, and a drifting object.
    const groupStrategy = {
      decisionGroups: [{ groupName: 'one', groupClusterSelector: { labelSelector: {} } }],
    };
    const grouped = placement('web', { ...ONE, decisionStrategy: { groupStrategy } });
    git.commit({
      'web.yaml': yaml(grouped, placement('pages', { numberOfClusters: 1 }, BUDGET), replicaSet('2')),
      'single.yaml': yaml(work('a')),
    });
    await hub.until(async () => ![first, undefined].includes(await goodOf()));
    await hub.until(() => audit.rights(CONTROLLER).has(`delete placementdecisions ${CLUSTER}`));
    await hub.until(() => audit.rights(AGENT).has(`update roles ${RBAC}`));
    await hub.call('DELETE', '/api/v1/namespaces/team-a/configmaps/carried');
    await hub.until(async () => (await read('/api/v1/namespaces/team-a/configmaps/carried')) !== undefined);
    git.commit({
      'web.yaml': yaml(
        grouped,
        placement('pages', { numberOfClusters: 1 }, BUDGET),
        replicaSet('3', { 'berth.dev/rollout': 'abort' }),
      ),
    });
    await hub.until(() => audit.rights(CONTROLLER).has('get controllerrevisions apps'));

    // What leaves Git is held, released and deleted.
    const files = Object.keys(FILES).filter((file) => file !== 'namespaces.yaml');
    git.commit({
      ...Object.fromEntries(files.map((file) => [file, undefined])),
      'single.yaml': undefined,
      'namespaces.yaml': yaml(...NAMESPACES),
    });
    const held = async () =>
      (await read('/api/v1/namespaces/berth-system/configmaps/berth-fleet'))?.metadata.annotations?.[
        'berth.dev/held-token'
      ] ?? '';
    await hub.until(async () => (await held()) !== '');
    await release('--source', 'fleet', '--token', await held());
    expect(
      (await read('/api/v1/namespaces/berth-system/configmaps/berth-fleet'))?.metadata.annotations,
    ).toMatchObject({
      'berth.dev/released-by': expect.stringMatching(
        /^Kubernetes user system:serviceaccount:team-a:releaser, as recorded by the client at 20/,
      ) as string,
    });
    expect(
      await printed('history', 'team-a/web', '--kubeconfig', await kubeconfigOf('team-a', 'releaser')),
    ).toContain('team-a/web');
    await isGone(`/apis/${CLUSTER}/v1/managedclusters/c1`);
    await isGone(inTeam(`${CLUSTER}/v1beta1`, 'placements', 'web'));
    await isGone(inTeam('apps/v1', 'deployments', 'web'));
    await isGone(inTeam(`${RBAC}/v1`, 'roles', 'made'));
    await isGone('/api/v1/namespaces/team-a/configmaps/carried');
    for (const one of running) await one.stop();

    expect([CONTROLLER, HUB_AGENT, AGENT].flatMap((user) => audit.refused(user))).toEqual([]);
    // A commit id may have these digits, too, but not by themselves.
    for (const one of running) expect(one.log()).not.toMatch(/\b403\b|forbidden/i);
  });

  it.each([
    { who: 'controller', user: CONTROLLER },
    { who: 'hubAgent', user: HUB_AGENT },
    { who: 'agent', user: AGENT },
  ] as const)('are no more than $who uses', ({ who, user }) => {
    const unused = [...rights[who]].filter((right) => !audit.rights(user).has(right));
    expect(unused.filter((right) => !NOT_SEEN.includes(right))).toEqual([]);
  });

  it.each([
    { who: 'controller', user: CONTROLLER },
    { who: 'hubAgent', user: HUB_AGENT },
    { who: 'agent', user: AGENT },
  ] as const)(
    'allow $who nothing else: every other verb on every resource is denied',
    async ({ who, user }) => {
      const others = (await servedResources(hub)).flatMap(({ group, resource }) =>
        VERBS.map((verb) => ({ verb, group, resource, right: `${verb} ${resource} ${group}`.trim() })),
      );
      const asked = others.filter(({ right }) => !rights[who].has(right));
      expect(asked.length).toBeGreaterThan(500);
      const allowed: string[] = [];
      while (asked.length > 0) {
        const some = asked.splice(0, 64);
        const answers = await Promise.all(some.map((one) => isAllowed(hub, user, one)));
        allowed.push(...some.filter((_, at) => answers[at]).map(({ right }) => right));
      }
      // What Kubernetes gives every account: reviews of itself.
      expect(
        allowed.filter((right) => !/^create self(subject|subjectaccess|subjectrules)reviews /.test(right)),
      ).toEqual([]);
    },
  );

  it('a missing right is named, with the command that prints it', async () => {
    const binding = `/apis/${RBAC}/v1/clusterrolebindings/berth-sources-kinds`;
    await hub.call('DELETE', binding);
    git.commit({ ...FILES });
    const serve = await kubeconfigOf('berth-system', 'berth');
    const data = join(dir, 'again');
    start(...['serve', '--repo', git.path, '--kubeconfig', serve, '--data', data, '--poll', '1s'], ...KINDS);
    const log = (): string => running.at(-1)?.log() ?? '';
    await hub.until(() => log().includes('the right to list deployments.apps in all namespaces is missing'));
    expect(log()).toContain('(berth serve --print-rbac prints it)');
    const status = `/apis/${RBAC}/v1/clusterrolebindings/berth`;
    await hub.call('DELETE', status);
    await hub.until(() =>
      /cannot \w+ resource .*; berth serve --print-rbac, with the same flags, prints/.test(log()),
    );
  });
});

interface ServedResource {
  readonly group: string;
  readonly resource: string;
}

async function servedResources(hub: RealHub): Promise<readonly ServedResource[]> {
  const { groups } = (await hub.call('GET', '/apis')) as unknown as {
    groups: { name: string; versions: { groupVersion: string }[] }[];
  };
  const paths = groups.flatMap(({ name, versions }) =>
    versions.map(({ groupVersion }) => ({ group: name, path: `/apis/${groupVersion}` })),
  );
  const found = new Map<string, ServedResource>();
  for (const { group, path } of [{ group: '', path: '/api/v1' }, ...paths]) {
    const { resources } = (await hub.call('GET', path)) as unknown as { resources: { name: string }[] };
    for (const { name } of resources) found.set(`${name}.${group}`, { group, resource: name });
  }
  return [...found.values()];
}

/** In all namespaces, or in its own, where alone it has a role. */
async function isAllowed(
  hub: RealHub,
  user: string,
  { verb, group, resource }: ServedResource & { readonly verb: string },
): Promise<boolean> {
  const [name, subresource] = resource.split('/');
  const own = user.split(':')[2] ?? '';
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${own}`, 'system:authenticated'];
  for (const where of ['', own]) {
    const resourceAttributes = { verb, group, resource: name, subresource, namespace: where };
    const spec = { user, groups, resourceAttributes };
    const answer = await hub.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec,
    });
    if ((answer['status'] as { allowed: boolean }).allowed) return true;
  }
  return false;
}
