import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { load, loadAll } from 'js-yaml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { systemClock } from '@berth/runtime/clock/system-clock';
import {
  controllersFolder,
  storeFlags,
} from '../../../../src/app/cli/commands/installation/hub-installation.ts';
import { runCli } from '../../../../src/app/cli/program.ts';
import { hubAdmission } from '../../../../src/controllers/admission/hub-admission.ts';
import {
  CLUSTER_ROLE,
  DEPLOYMENT,
  kind,
  LEASE,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  NAMESPACE,
  NODE,
  POD,
  SECRET,
  SELF_SUBJECT_REVIEW,
} from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { VERSION_INFO } from '../../../../packages/embedded-hub/src/http/request-handler.ts';
import { OCM_HUB } from '../../../fakes/embedded-hub.ts';
import { startHub } from '@berth/embedded-hub/start-hub';
import {
  CLUSTER_MANAGER,
  CLUSTER_MANAGER_NAME,
} from '../../../../src/core/registration/install/operator-objects.ts';
import { makeCliIo } from '../../cli-harness.ts';

const EMBEDDED_VERSION = VERSION_INFO['gitVersion'];

let dir: string;
let hub: RunningHub;
let open: HttpKubeApi[];

beforeEach(async () => {
  open = [];
  dir = mkdtempSync(path.join(os.tmpdir(), 'berth-install-'));
  hub = await startHub({
    ...OCM_HUB,
    dataDir: path.join(dir, 'hub'),
    members: ['cluster1'],
    admission: hubAdmission(),
  });
});
afterEach(async () => {
  Object.assign(VERSION_INFO, { gitVersion: EMBEDDED_VERSION });
  for (const api of open) api.close();
  await hub.close();
  rmSync(dir, { recursive: true, force: true });
});

const connect = (source: { readonly file?: string; readonly text?: string }): HttpKubeApi => {
  const api = new HttpKubeApi({ config: loadKubeConfig(source), clock: systemClock });
  open.push(api);
  return api;
};
const onHub = (): HttpKubeApi => connect({ file: hub.adminKubeconfigPath });
const onCluster = (): HttpKubeApi => connect({ file: hub.memberKubeconfigPath('cluster1') });

/** The embedded servers say that they are another API server, one with nodes behind it. */
const asKubernetes = (): void => void Object.assign(VERSION_INFO, { gitVersion: 'v1.36.2' });

async function berth(...args: readonly string[]) {
  const env = { BERTH_HOME: path.join(dir, 'home'), KUBECONFIG: hub.adminKubeconfigPath };
  const { io, stdout, stderr } = makeCliIo({ env, cwd: dir });
  const code = await runCli(args, io);
  return { code, stdout: stdout(), stderr: stderr() };
}

async function ticket(): Promise<readonly string[]> {
  const { stdout } = await berth('init', '--no-start', '-o', 'json');
  const { 'hub-token': token, 'hub-apiserver': server } = JSON.parse(stdout) as Record<string, string>;
  return ['--hub-token', token ?? '', '--hub-apiserver', server ?? ''];
}

/** As `berth join` on the member. */
const join = async (...args: readonly string[]) =>
  berth(
    'join',
    ...(await ticket()),
    '--cluster-name',
    'edge',
    '--context',
    'cluster1',
    '--no-start',
    ...args,
  );

const POD_FLAGS = ['--data=/var/lib/berth', '--listen=0.0.0.0:8080', '--admission-listen=:9443'] as const;
const SERVE_FLAGS = ['--embedded', '--registration=all', '--addons=all'] as const;

const namespace = async (api: HttpKubeApi, name: string): Promise<KubeObject | undefined> =>
  api.get(NAMESPACE, { namespace: '', name });

describe('berth init', () => {
  it('prints with --dry-run what it would write, and writes nothing', async () => {
    const { code, stdout } = await berth('init', '--dry-run', '--output-file', 'hub.yaml');
    expect(code).toBe(0);
    const objects = loadAll(stdout) as readonly KubeObject[];
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(
      expect.arrayContaining([
        'ServiceAccount agent-registration-bootstrap',
        'ClusterRole berth-registration',
      ]),
    );
    expect(objects.every(({ metadata }) => metadata.labels?.['berth.dev/installed-by'] === 'init')).toBe(
      true,
    );
    expect(readFileSync(path.join(dir, 'hub.yaml'), 'utf8')).toBe(stdout);
    expect(statSync(path.join(dir, 'hub.yaml')).mode & 0o777).toBe(0o600);
    expect(await namespace(onHub(), 'open-cluster-management')).toBeUndefined();
  });

  it('gives its controllers the rights that berth serve prints for their flags', async () => {
    const { stdout: printed } = await berth('serve', ...SERVE_FLAGS, '--print-rbac');
    const { stdout } = await berth('init', '--dry-run');
    const roles = (text: string) =>
      (loadAll(text) as readonly KubeObject[])
        .filter(({ kind, metadata }) => /Role/.test(kind) && metadata.name.startsWith('berth'))
        .map(({ kind, metadata: { name }, ...object }) => ({ kind, name, rules: object['rules'] }));
    expect(roles(stdout)).toEqual(roles(printed));
    expect(roles(stdout).map(({ name }) => name)).toContain('berth-announcement');
  });

  it('gives tokens of the account that asks for clusters, and a second time writes nothing', async () => {
    expect(await berth('get', 'token')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('hint: run berth init to prepare the hub') as string,
    });
    const first = await berth('init', '--no-start', '--output-join-command-file', 'join.sh');
    expect(first.stdout).toMatch(/^\d+ objects created$/m);
    expect(first.stdout).toMatch(/^ {4}berth serve --embedded --registration=all /m);
    const command = readFileSync(path.join(dir, 'join.sh'), 'utf8');
    expect(first.stdout).toContain(command);
    expect((await berth('init', '--no-start')).stdout).not.toMatch(/created|changed/);

    const [, token = ''] = /--hub-token (\S+)/.exec(command) ?? [];
    const text = readFileSync(hub.adminKubeconfigPath, 'utf8').replaceAll(/token: \S+/g, `token: ${token}`);
    const review = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
      metadata: {} as ObjectMeta,
    };
    const { status } = await connect({ text }).create(SELF_SUBJECT_REVIEW, review);
    expect(status).toMatchObject({
      userInfo: {
        username: 'system:serviceaccount:open-cluster-management:agent-registration-bootstrap',
      },
    });
  });

  it('leaves objects of others alone, and so does clean', async () => {
    const name = 'open-cluster-management:bootstrap';
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name } };
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
    await onHub().create(CLUSTER_ROLE, { ...role, rules });
    const { stdout } = await berth('init', '--no-start');
    expect(stdout).toContain(`ClusterRole ${name} exists already, and is not changed`);
    expect((await berth('clean')).stdout).toMatch(/^\d+ objects deleted$/m);
    expect(await onHub().get(CLUSTER_ROLE, { namespace: '', name })).toMatchObject({ rules });
    expect(await namespace(onHub(), 'berth-system')).toBeUndefined();
    expect((await berth('clean')).stdout).toContain('there is nothing to do');
  });

  it('clean says what holds the deletion of a cluster, and waits for one that is only under way', async () => {
    await berth('init', '--no-start');
    const api = onHub();
    const key = { namespace: '', name: 'edge' };
    const spec = { hubAcceptsClient: true };
    const metadata = { name: 'edge', finalizers: ['example.org/stay'] };
    const apiVersion = 'cluster.open-cluster-management.io/v1';
    await api.create(MANAGED_CLUSTER, { apiVersion, kind: 'ManagedCluster', metadata, spec });
    const report = async (reason: string, message: string): Promise<void> => {
      const lastTransitionTime = new Date().toISOString();
      const joined = { type: 'HubAcceptedManagedCluster', status: 'True', reason: 'Test', message: '' };
      const conditions = [
        { ...joined, type: 'ManagedClusterJoined' },
        { type: 'Deleting', status: 'False', reason, message },
      ].map((condition) => ({ ...condition, lastTransitionTime }));
      await api.mergePatch(MANAGED_CLUSTER, key, { status: { conditions } }, { subresource: 'status' });
    };
    await report('RemovalHeld', 'placement shop/web selects the cluster, and its removal is held');
    expect(await berth('clean')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('edge is joined, expected no cluster') as string,
    });
    await api.delete(MANAGED_CLUSTER, key);
    for (const flags of [[], ['--dry-run']])
      expect(await berth('clean', ...flags)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /cluster edge: its deletion is held \(RemovalHeld\): placement shop\/web .*\n.*approve the removal/,
        ) as string,
      });
    await report('StillSelected', 'placement shop/web selects the cluster');
    expect((await berth('clean', '--timeout', '1')).stderr).toContain(
      'edge: is still being deleted; edge: StillSelected: placement shop/web selects the cluster',
    );
    const cleaned = berth('clean');
    await api.mergePatch(MANAGED_CLUSTER, key, { metadata: { finalizers: null } });
    expect((await cleaned).code).toBe(0);
  });

  it('leaves a hub to OCM that has its cluster manager, also one that it prepared before', async () => {
    await berth('init', '--no-start');
    expect((await berth('get', 'hub-info')).stdout).not.toContain('OCM’s cluster manager');
    const finalizers = ['operator.open-cluster-management.io/cluster-manager-cleanup'];
    const key = { namespace: '', name: CLUSTER_MANAGER_NAME };
    await onHub().mergePatch(CLUSTER_MANAGER, key, { metadata: { finalizers } });
    const { code, stdout } = await berth('init', '--no-start');
    expect(code).toBe(0);
    expect(stdout).toContain('no controllers are added');
    expect(stdout).not.toContain('berth serve');
    const info = JSON.parse((await berth('get', 'hub-info', '-o', 'json')).stdout) as object;
    expect(info).toMatchObject({ controllers: 'OCM’s cluster manager', canJoin: true });
    expect((await berth('clean')).stdout).toContain('the account and rights for joining stay');
    expect(await namespace(onHub(), 'berth-system')).toBeUndefined();
    expect(await namespace(onHub(), 'open-cluster-management')).toBeDefined();
  });

  it.each([
    ['open-cluster-management-hub', 'registration-controller-lock', 'OCM’s registration controller', false],
    ['open-cluster-management-hub', 'placement-lock', 'OCM’s placement controller', true],
    ['berth-system', 'berth-fleet', 'berth serve', false],
  ])('says what stays with the holder of the Lease %s/%s', async (namespace, name, who, makesSets) => {
    await onHub().create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const lease = (ageMs: number): KubeObject => ({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace, name },
      spec: {
        holderIdentity: 'host_1',
        leaseDurationSeconds: 60,
        renewTime: new Date(Date.now() - ageMs).toISOString().replace('Z', '000Z'),
      },
    });
    await onHub().create(LEASE, lease(0));
    // Controllers that an earlier init started here have ended: the holder of the Lease is another one.
    const { io } = makeCliIo({ env: { BERTH_HOME: path.join(dir, 'home') }, cwd: dir });
    storeFlags(controllersFolder(io, onHub().server), SERVE_FLAGS);
    const { stdout } = await berth('init', '--no-start');
    expect(stdout).toContain(
      `${who} is running (Lease ${namespace}/${name}, held by host_1) and keeps its duties: `,
    );
    expect(stdout).toContain('No controllers are added');
    expect(stdout).not.toContain('berth serve --embedded --registration=all');
    const sets = (await onHub().list(MANAGED_CLUSTER_SET)).items;
    expect(sets.map((set) => set.metadata.name)).toEqual(makesSets ? ['default', 'global'] : []);
    const info = JSON.parse((await berth('get', 'hub-info', '-o', 'json')).stdout) as object;
    expect(info).toMatchObject({ controllers: `${who} (Lease ${namespace}/${name})`, canJoin: true });
    // Nobody has held it for longer than it lasts: the hub is free.
    await onHub().delete(LEASE, { namespace, name });
    await onHub().create(LEASE, lease(61_000));
    const later = await berth('init', '--no-start');
    expect(later.stdout).not.toContain('and keeps its duties');
    expect(later.stdout).toContain('berth serve --embedded --registration=all');
  });

  it('adds flags of berth serve to those that run, and removes none without being asked', async () => {
    asKubernetes();
    await onHub().create(NODE, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    const podSpec = async () => {
      const found = await onHub().get(DEPLOYMENT, { namespace: 'berth-system', name: 'berth' });
      return (found?.['spec'] as { template: { spec: PodSpec } }).template.spec;
    };
    const argsOf = ({ containers: [container] }: PodSpec) => container?.args.slice(1);
    await berth('init');
    const repo = ['--repo=https://git.example.org/fleet.git', '--git-token-file=/etc/berth/git/token'];
    const added = await berth('init', '--secret', 'git', '--', ...repo, '--poll', '5s');
    expect(added.stdout).toContain(`    + ${repo[0]}\n    + ${repo[1]}\n    + --poll 5s\n`);
    expect(argsOf(await podSpec())).toEqual([...POD_FLAGS, ...SERVE_FLAGS, ...repo, '--poll', '5s']);
    expect((await podSpec()).containers[0]?.volumeMounts).toContainEqual({
      ...{ name: 'secret-1', mountPath: '/etc/berth/git', readOnly: true },
    });
    const changed = await berth('init', '--', '--poll=1m');
    expect(changed.stdout).toContain('    - --poll 5s\n    + --poll=1m\n');
    const again = await berth('init');
    expect(again.stdout).not.toContain('Flags of the controllers change');
    expect(argsOf(await podSpec())).toEqual([...POD_FLAGS, ...SERVE_FLAGS, ...repo, '--poll=1m']);
    const dry = await berth('init', '--dry-run', '--', '--poll=2m');
    expect(dry.stderr).toContain('    - --poll=1m\n    + --poll=2m\n');
    expect(loadAll(dry.stdout).length).toBeGreaterThan(10);
    expect(dry.stdout).not.toContain('Flags of the controllers change');
    const only = await berth(
      'init',
      '--only-these-flags',
      '--',
      '--registration=all',
      '--tls-cert=c',
      '--tls-key=k',
    );
    expect(only.stdout).toContain(`    - --addons=all\n    - ${repo[0]}\n`);
    expect(argsOf(await podSpec())).toEqual([
      ...POD_FLAGS,
      ...['--registration=all', '--tls-cert=c', '--tls-key=k'],
    ]);
    expect((await podSpec()).containers[0]?.livenessProbe.httpGet.scheme).toBe('HTTPS');
    expect((await podSpec()).volumes.some((volume) => 'secret' in volume)).toBe(false);
    const refused = await berth('init', '--', '--no-such-flag');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("'--no-such-flag'") as string });
  });

  interface PodSpec {
    readonly containers: readonly {
      readonly args: readonly string[];
      readonly volumeMounts: readonly object[];
      readonly livenessProbe: { readonly httpGet: { readonly scheme: string } };
    }[];
    readonly volumes: readonly object[];
  }

  it('runs the controllers as a Deployment where there are nodes, and says what they wait for', async () => {
    asKubernetes();
    await onHub().create(NODE, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    const image = ['--image-registry', 'registry.example.org/fleet', '--bundle-version', 'v9.8.7'];
    const { code, stderr } = await berth('init', '--wait', '--timeout', '1', ...image);
    expect(code).toBe(2);
    expect(stderr).toContain('the controllers are not ready yet');
    const key = { namespace: 'berth-system', name: 'berth' };
    expect(await onHub().get(DEPLOYMENT, key)).toMatchObject({
      spec: {
        template: {
          spec: {
            serviceAccountName: 'berth',
            containers: [
              {
                image: 'registry.example.org/fleet/berth:9.8.7',
                args: ['serve', ...POD_FLAGS, ...SERVE_FLAGS],
                readinessProbe: { httpGet: { path: '/readyz', port: 8080, scheme: 'HTTP' } },
              },
            ],
          },
        },
      },
    });
    // How the hub reaches their webhooks.
    expect(
      await onHub().get(kind('', 'v1', 'Service', 'Namespaced'), { ...key, name: 'berth-admission' }),
    ).toMatchObject({
      spec: { selector: { app: 'berth' }, ports: [{ port: 443, targetPort: 9443 }] },
    });
    expect(await onHub().get(CLUSTER_ROLE, { namespace: '', name: 'berth-admission' })).toBeDefined();
    const { stdout } = await berth('get', 'hub-info', '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({
      nodes: 1,
      canJoin: true,
      controllers: 'Deployment berth-system/berth (0/1) registry.example.org/fleet/berth:9.8.7',
      clusters: { all: 0 },
    });
  });
});

describe('berth join', () => {
  it('prints the command of the agent with --no-start, and keeps its files private', async () => {
    const { code, stdout, stderr } = await join('--klusterlet-annotation', 'a=b');
    expect(code).toBe(0);
    expect(stderr).toContain('give --ca-file');
    const [, file = '', options] = /^ {4}berth agent --clusters=(\S+) (.*)$/m.exec(stdout) ?? [];
    expect(options).toContain('--cluster-annotations=agent.open-cluster-management.io/a=b');
    expect(load(readFileSync(file, 'utf8'))).toEqual([
      {
        clusterName: 'edge',
        bootstrapKubeconfig: 'bootstrap.kubeconfig',
        hubKubeconfigSecret: 'open-cluster-management-agent/hub-kubeconfig-secret',
        kubeconfig: 'cluster.kubeconfig',
      },
    ]);
    for (const name of ['agent.yaml', 'bootstrap.kubeconfig', 'cluster.kubeconfig'])
      expect(statSync(path.join(path.dirname(file), name)).mode & 0o777).toBe(0o600);
    // The rights of the agent are its own, and no more.
    const agent = connect({ file: path.join(path.dirname(file), 'cluster.kubeconfig') });
    await agent.list(NODE);
    await expect(agent.list(CLUSTER_ROLE)).rejects.toMatchObject({ code: 'kube.forbidden' });
    expect((await join()).stdout).not.toMatch(/created/);
  });

  it.each([
    { name: 'warns that the cluster is the hub itself', context: [], warns: true },
    {
      name: 'says nothing of the kind for another cluster',
      context: ['--context', 'cluster1'],
      warns: false,
    },
  ])('$name', async ({ context, warns }) => {
    const { code, stderr } = await berth(
      ...['join', ...(await ticket()), '--cluster-name', 'edge', '--dry-run', '--no-start'],
      ...context,
    );
    expect(code).toBe(0);
    expect(stderr.includes('warning: the cluster is the hub itself')).toBe(warns);
  });

  it('trusts the authority that it is given, without a warning', async () => {
    const text = readFileSync(hub.adminKubeconfigPath, 'utf8');
    const [, data = ''] = /certificate-authority-data: (\S+)/.exec(text) ?? [];
    writeFileSync(path.join(dir, 'ca.pem'), Buffer.from(data, 'base64'));
    expect(await join('--ca-file', 'ca.pem')).toMatchObject({ code: 0, stderr: '' });
  });

  it('never puts the agent into a Deployment on an embedded member, and waits for its registration', async () => {
    await onCluster().create(NODE, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    const result = await join('--wait', '--timeout', '1');
    expect(result).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cluster edge: its agent has not asked the hub yet') as string,
    });
    const key = { namespace: 'open-cluster-management-agent', name: 'klusterlet-agent' };
    expect(await onCluster().get(DEPLOYMENT, key)).toBeUndefined();
    // A hub that expects the cluster has not heard of its agent.
    const cluster = { apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' };
    const spec = { hubAcceptsClient: true };
    await onHub().create(MANAGED_CLUSTER, { ...cluster, metadata: { name: 'edge' }, spec });
    expect((await join('--wait', '--timeout', '1')).code).toBe(2);
  });

  /** A pod of the agent's Deployment, with this state of its container. */
  async function agentPod(state: object): Promise<void> {
    const key = { namespace: 'open-cluster-management-agent', name: 'klusterlet-agent-1' };
    const metadata = { ...key, labels: { app: 'klusterlet-agent' } };
    const spec = { containers: [{ name: 'berth', image: 'berth' }] };
    await onCluster().create(POD, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
    const container = { name: 'berth', image: 'berth', imageID: '', ready: false, restartCount: 0, state };
    const status = { phase: 'running' in state ? 'Running' : 'Pending', containerStatuses: [container] };
    await onCluster().mergePatch(POD, key, { status }, { subresource: 'status' });
  }

  it('waits for the registration where the pod runs, too', async () => {
    asKubernetes();
    await onCluster().create(NODE, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    await join();
    await agentPod({ running: {} });
    const { code, stderr } = await join('--wait', '--timeout', '1');
    expect(stderr).toContain('cluster edge: its agent has not asked the hub yet');
    expect(stderr).toContain('logs deployment/klusterlet-agent');
    expect(code).toBe(2);
  });

  it('says why the pod of the agent does not start', async () => {
    asKubernetes();
    await onCluster().create(NODE, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    await join();
    await agentPod({ waiting: { reason: 'ImagePullBackOff', message: 'no such image' } });
    const { stderr } = await join('--wait', '--timeout', '1');
    expect(stderr).toContain('klusterlet-agent: its pod cannot start: ImagePullBackOff: no such image');
  });

  it('puts the agent into a Deployment where there are nodes', async () => {
    asKubernetes();
    await onCluster().create(NODE, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } });
    const { code, stderr } = await join('--wait', '--timeout', '1');
    expect(code).toBe(2);
    expect(stderr).toContain(
      'Deployment open-cluster-management-agent/klusterlet-agent: has no running pod yet',
    );
    const key = { namespace: 'open-cluster-management-agent', name: 'klusterlet-agent' };
    expect(await onCluster().get(DEPLOYMENT, key)).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                args: expect.arrayContaining([
                  '--cluster-name=edge',
                  '--bootstrap-kubeconfig=/var/run/berth/bootstrap/kubeconfig',
                ]) as unknown,
                volumeMounts: [{ mountPath: '/var/run/berth/bootstrap', readOnly: true }],
              },
            ],
          },
        },
      },
    });
  });

  it('leaves the agent of OCM alone', async () => {
    const metadata = { namespace: 'open-cluster-management-agent', name: 'bootstrap-hub-kubeconfig' };
    const { namespace: name } = metadata;
    await onCluster().create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await onCluster().create(SECRET, { apiVersion: 'v1', kind: 'Secret', metadata });
    expect(await join()).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the cluster already has an agent') as string,
    });
    expect((await berth('unjoin', '--cluster-name', 'edge', '--context', 'cluster1')).stdout).toContain(
      'there is nothing to do',
    );
  });

  it('says that a token is not known, or no longer', async () => {
    const [, , , server = ''] = await ticket();
    const args = ['--hub-token', 'old', '--hub-apiserver', server, '--cluster-name', 'edge'];
    const { code, stderr } = await berth('join', ...args, '--context', 'cluster1');
    expect(code).toBe(1);
    expect(stderr).toContain('--hub-token: the hub rejects the token');
    expect(await namespace(onCluster(), 'open-cluster-management-agent')).toBeUndefined();
  });

  it('takes no kubeconfig of a managed cluster that the agent could not use', async () => {
    writeFileSync(
      path.join(dir, 'managed'),
      readFileSync(hub.memberKubeconfigPath('cluster1'), 'utf8').replace(/token: .*/, 'tokenFile: /token'),
    );
    const { stderr } = await join('--mode', 'hosted', '--managed-cluster-kubeconfig', 'managed');
    expect(stderr).toContain('--managed-cluster-kubeconfig: has the field tokenFile');
  });
});

describe('berth unjoin of a hosted agent', () => {
  it('removes it with --force only while its cluster does not answer, and says what stays', async () => {
    writeFileSync(path.join(dir, 'managed'), readFileSync(hub.memberKubeconfigPath('cluster1'), 'utf8'));
    const agent = ['--mode', 'hosted', '--managed-cluster-kubeconfig', 'managed'];
    expect((await join(...agent)).code).toBe(0);
    const [secret] = (await onCluster().list(SECRET)).items.filter(
      ({ metadata }) => metadata.name === 'external-managed-kubeconfig',
    );
    const { namespace: place = '', name = '' } = secret?.metadata ?? {};
    const text = readFileSync(path.join(dir, 'managed'), 'utf8');
    const kubeconfig = Buffer.from(text.replace(/server: .*/, 'server: https://127.0.0.1:1')).toString(
      'base64',
    );
    await onCluster().mergePatch(SECRET, { namespace: place, name }, { data: { kubeconfig } });

    const unjoin = ['unjoin', '--cluster-name', 'edge', '--context', 'cluster1'];
    expect((await berth(...unjoin)).code).toBe(1);
    expect(await namespace(onCluster(), place)).toBeDefined();
    const { code, stdout } = await berth(...unjoin, '--force');
    expect(stdout).toContain(
      'edge does not answer, so it keeps what its agent applied, if it still exists: ',
    );
    expect(stdout).toContain('The agent of edge is removed.');
    expect(code).toBe(0);
    expect(await namespace(onCluster(), place)).toBeUndefined();
  });
});

describe('flags that mean nothing', () => {
  const JOIN = [
    'join',
    '--hub-token',
    't',
    '--hub-apiserver',
    'https://hub.example.com',
    '--cluster-name',
    'a',
  ];
  it.each([
    [['init', '--use-bootstrap-token'], '--use-bootstrap-token: has no meaning here: clusters join with'],
    [['init', '--registration-drivers', 'grpc'], '--registration-drivers: has no meaning here'],
    [['init', '--bundle-version', 'newest'], '--bundle-version: got "newest", expected default, latest'],
    [['init', '--bundle-version', 'latest'], '--bundle-version: has no effect here: the hub runs no pods'],
    [['clean', '--purge-operator=false'], '--purge-operator: has no meaning here: there is no operator'],
    [[...JOIN, '--feature-gates=A=true'], '--feature-gates: has no meaning here'],
    [[...JOIN, '--mode', 'Hosted'], '--mode: got "Hosted", expected default or hosted'],
    [[...JOIN, '--mode', 'hosted'], '--managed-cluster-kubeconfig: is missing'],
    [[...JOIN, '--managed-cluster-kubeconfig', 'f'], 'has no effect without --mode hosted'],
    [[...JOIN, '--proxy-ca-file', 'f'], '--proxy-ca-file: has no effect without --proxy-url'],
    [[...JOIN, '--proxy-url', 'proxy:3128'], '--proxy-url: got "proxy:3128", expected an address'],
    [[...JOIN, '--ca-file', 'missing.pem'], '--ca-file: cannot be read'],
    [[...JOIN, '--agent-namespace', 'default'], '--agent-namespace: got "default", expected a name'],
    [[...JOIN, '--client-cert-expiration-seconds', '60'], 'expected a whole number of at least 3600'],
    [[...JOIN, '--addon-kubeclient-registration-auth', 'grpc'], 'expected csr or token'],
    [[...JOIN, '--addon-token-expiration-seconds', '60'], 'expected a whole number of at least 600'],
    [[...JOIN.slice(0, -1), 'managed-clusters'], 'the group of this cluster is that of all agents'],
    [[...JOIN.slice(0, -1), 'CLUSTER_NAME'], '--cluster-name: got "CLUSTER_NAME"'],
    [[...JOIN.slice(0, -1), '<cluster_name>'], '--cluster-name: got "<cluster_name>"'],
  ])('%j is refused', async (args, problem) => {
    const { code, stderr } = await berth(...args);
    expect(code).toBe(1);
    expect(stderr).toContain(problem);
  });
});
