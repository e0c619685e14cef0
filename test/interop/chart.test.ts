import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findHelm } from '../../packages/addon/test/sources/find-helm.ts';
import { CHART as FOLDER } from '../deploy/generated-files.ts';
import { copyChart, renderChart, type Values } from '../deploy/render-chart.ts';
import { BerthProcess } from '../e2e/berth-process.ts';
import { GuideShell } from '../e2e/guide-shell.ts';
import { hasKubectl } from '../e2e/kubectl-program.ts';
import { CONTROL_PLANE_PROGRAMS, type ControlPlane, startControlPlane } from './peers/control-plane.ts';
import { freePort } from './peers/free-port.ts';
import { startPeer } from './peers/peer-process.ts';
import { hasPeers } from './peers/peer-programs.ts';

const helm = findHelm();
const isPossible =
  helm !== undefined && hasPeers(...CONTROL_PLANE_PROGRAMS, 'kube-controller-manager') && hasKubectl();

/** Values that turn everything on that needs no kinds of others. */
const EVERYTHING: Values = {
  controller: { replicas: 2, secrets: ['git'], podAnnotations: { team: 'platform' } },
  serve: {
    ...{ leaderElect: true, repo: ['https://git.example.org/fleet.git'], kind: ['/ConfigMap'] },
    ...{ argocdWaves: true, argocdPull: true, argocdClusterSecrets: true },
  },
  ...{ tls: { secretName: 'berth-tls' }, tokens: { secretName: 'berth-tokens' } },
  ...{ persistence: { enabled: true, storageClass: 'fast' }, connection: { enabled: true } },
  ...{ priorityClass: { create: true }, podDisruptionBudget: { enabled: true } },
  networkPolicy: { enabled: true, from: [{ namespaceSelector: {} }] },
};
const HUB: Values = { hub: { enabled: true, service: { type: 'NodePort', nodePort: 30_443 } } };
const AGENT: Values = { controller: { enabled: false }, agent: { enabled: true, clusterName: 'c1' } };
const NAMESPACES = ['berth-system', 'argocd', 'open-cluster-management', 'open-cluster-management-agent'];

describe.skipIf(!isPossible)('the chart on a real API server', () => {
  let plane: ControlPlane;
  let shell: GuideShell;
  let dir: string;
  let real: string;
  let chart: string;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'berth-chart-'));
    // No controller makes service accounts here.
    plane = await startControlPlane(['--disable-admission-plugins=ServiceAccount']);
    chart = copyChart(dir);
    real = `--kubeconfig ${plane.kubeconfig}`;
    shell = await GuideShell.open('cluster1');
  });
  afterAll(async () => {
    await shell.close();
    await plane.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const helmSays = (command: string): Promise<string> => shell.says(`${helm ?? ''} ${command} ${real}`);
  const refused = async (command: string): Promise<string> => {
    const { code, stderr } = await shell.run(command);
    expect(code, command).not.toBe(0);
    return stderr;
  };
  const file = (name: string, value: unknown): string => {
    const path = join(dir, name);
    writeFileSync(path, JSON.stringify(value));
    return path;
  };

  it.each([
    { name: 'the first duties', values: {}, namespace: 'berth-system' },
    { name: 'everything', values: EVERYTHING, namespace: 'berth-system' },
    { name: 'the embedded hub', values: HUB, namespace: 'berth-system' },
    { name: 'the agent', values: AGENT, namespace: 'open-cluster-management-agent' },
  ])('the server accepts each object of $name, and Pod Security its pods', async ({ values, namespace }) => {
    for (const name of NAMESPACES) {
      const level = 'pod-security.kubernetes.io/enforce=restricted';
      await shell.says(
        `kubectl create namespace ${name} --dry-run=client -o yaml | kubectl apply ${real} -f -`,
      );
      await shell.says(`kubectl label namespace ${name} ${level} --overwrite ${real}`);
    }
    const objects = renderChart(helm ?? '', values, namespace);
    const list = file('list.json', { apiVersion: 'v1', kind: 'List', items: objects });
    const said = await shell.says(`kubectl apply --server-side --dry-run=server -f ${list} ${real}`);
    expect(said.match(/serverside-applied/g)?.length).toBe(objects.length);
    const pods = objects
      .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
      .map((owner) => {
        const { metadata, spec } = (owner['spec'] as { template: { metadata: object; spec: object } })
          .template;
        const pod = { ...spec, volumes: undefined, priorityClassName: undefined };
        return {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { ...metadata, name: 'pod', namespace },
          spec: withoutMounts(pod),
        };
      });
    expect(pods.length).toBeGreaterThan(0);
    for (const pod of pods)
      expect(
        await shell.says(`kubectl create --dry-run=server -f ${file('pod.json', pod)} ${real}`),
      ).toContain('created');
  });

  it('installs, upgrades, rolls back and uninstalls; OCM’s kinds stay', async () => {
    await shell.says(`kubectl delete namespace berth-system open-cluster-management ${real} --wait=false`);
    for (const name of ['berth-system', 'open-cluster-management']) await finalize(name);
    const place = '--namespace berth-system';
    await helmSays(`install berth ${chart} ${place} --create-namespace`);
    const args = `kubectl -n berth-system get deployment berth -o jsonpath={.spec.template.spec.containers[0].args} ${real}`;
    const first = await shell.says(args);
    await helmSays(
      `upgrade berth ${chart} ${place} --reuse-values --set serve.repo={https://git.example.org/fleet.git}`,
    );
    expect(await shell.says(args)).toContain('--repo=https://git.example.org/fleet.git');
    expect(await shell.says(`kubectl get clusterrole berth-sources-ocm -o name ${real}`)).toContain(
      'berth-sources-ocm',
    );
    await helmSays(`rollback berth 1 ${place}`);
    expect(await shell.says(args)).toBe(first);
    expect(await refused(`kubectl get clusterrole berth-sources-ocm ${real}`)).toContain('not found');

    // What Helm installed stays as it is.
    await shell.says(
      `echo '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}' | kubectl apply ${real} -f -`,
    );
    expect(await shell.says(`berth init ${real}`)).toContain(
      'the Helm release berth has installed the controllers',
    );
    expect(await refused(`berth init ${real} -- --poll=5s`)).toContain('have no effect');
    expect(await shell.says(args)).toBe(first);

    await helmSays(`uninstall berth ${place}`);
    expect(
      await shell.says(`kubectl get crd placements.cluster.open-cluster-management.io -o name ${real}`),
    ).toContain('placements');
    expect(await shell.says(`kubectl get namespace open-cluster-management -o name ${real}`)).toContain(
      'open-cluster-management',
    );
    expect(await shell.says(`kubectl get clusterrole,clusterrolebinding -o name ${real}`)).not.toContain(
      '/berth',
    );
  });

  it('takes the webhooks with it, so that the hub accepts new clusters', async () => {
    const place = '--namespace berth-system';
    await helmSays(`install berth ${chart} ${place} --create-namespace`);
    const args = ['--kubeconfig', plane.kubeconfig, '--controllers', 'garbage-collector-controller'];
    const collector = startPeer('kube-controller-manager', {
      args: [...args, '--leader-elect=false', '--secure-port', '0'],
      logFile: join(dir, 'collector.log'),
    });
    // The controllers with the account and the rights of the chart; no Service reaches them here.
    const token = (await shell.says(`kubectl create token berth ${place} ${real}`)).trim();
    const config = JSON.parse(readFileSync(plane.kubeconfig, 'utf8')) as object;
    const kubeconfig = file('berth.json', { ...config, users: [{ name: 'admin', user: { token } }] });
    const berth = new BerthProcess([
      ...['serve', '--embedded', '--registration=all', '--addons=all', '--kubeconfig', kubeconfig],
      ...['--data', join(dir, 'data'), '--admission-listen', `127.0.0.1:${await freePort()}`],
    ]);
    try {
      const webhooks = 'validatingwebhookconfiguration,mutatingwebhookconfiguration';
      const found = () => shell.says(`kubectl get ${webhooks} -o name ${real}`);
      await expect.poll(found).toMatch(/validating.*\nmutating/);
      const owner = 'jsonpath={.metadata.ownerReferences[*].kind}/{.metadata.ownerReferences[*].name}';
      const secret = `kubectl get secret berth-admission ${place} --ignore-not-found -o ${owner} ${real}`;
      expect(await shell.says(secret)).toBe('ClusterRole/berth-admission');
      await berth.kill();
      const cluster = file('cluster.json', {
        ...{ apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' },
        ...{ metadata: { name: 'c1' }, spec: { hubAcceptsClient: false } },
      });
      expect(await refused(`kubectl create -f ${cluster} ${real}`)).toContain('failed calling webhook');
      await helmSays(`uninstall berth ${place}`);
      await expect.poll(found).toBe('');
      await expect.poll(() => shell.says(secret)).toBe('');
      await shell.says(`kubectl create -f ${cluster} ${real}`);
      await shell.says(`kubectl delete -f ${cluster} --wait=false ${real}`);
    } finally {
      await berth.kill();
      await collector.stop();
    }
  });

  it('follows the commands of docs/install.md', async () => {
    const page = readFileSync('docs/install.md', 'utf8');
    const work = join(dir, 'work');
    cpSync(chart, join(work, FOLDER), { recursive: true });
    cpSync('deploy/kustomize', join(work, 'deploy/kustomize'), { recursive: true });
    const blockOf = (heading: string): Promise<string> => {
      const [, block = ''] =
        new RegExp(`\\n## ${heading}\\n[^#]*?\\n\`\`\`sh\\n([\\s\\S]*?)\`\`\``).exec(page) ?? [];
      expect(block, heading).not.toBe('');
      const path = `PATH=${dirname(helm ?? '')}:$PATH`;
      return shell.says(`set -e\ncd ${work}\nexport KUBECONFIG=${plane.kubeconfig} ${path}\n${block}`);
    };
    expect(await blockOf('By chart')).toContain('berth');
    expect(await blockOf('Upgrade')).toContain('REVISION: 2');
    const args = `kubectl -n berth-system get deployment berth -o jsonpath={.spec.template.spec.containers[0].args} ${real}`;
    expect(await shell.says(args)).toContain('--ref=main');
    expect(await blockOf('Roll back')).toContain('Rollback was a success');
    expect(await blockOf('Uninstall')).toContain('uninstalled');
    expect(await blockOf('By kustomize')).toContain('deployment.apps/berth serverside-applied');
    const image = `kubectl -n berth-system get deployment berth -o jsonpath={.spec.template.spec.containers[0].image} ${real}`;
    expect(await shell.says(image)).toBe('registry.example.org/team/berth:0.1.0');
    // What somebody else installed stays as it is.
    expect(await shell.says(`berth init ${real}`)).toContain('somebody else has installed the controllers');
    expect(await shell.says(image)).toBe('registry.example.org/team/berth:0.1.0');
    await shell.says(`kubectl delete -k ${work}/overlay --wait=false ${real}`);
    for (const name of ['berth-system', 'open-cluster-management']) await finalize(name);
  });

  it('does not install over berth init', async () => {
    await shell.says(`berth init ${real}`);
    expect(await refused(`${helm ?? ''} install berth ${chart} --namespace berth-system ${real}`)).toContain(
      'invalid ownership metadata',
    );
  });

  /** Nobody deletes what is in a namespace here. */
  async function finalize(name: string): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: { finalizers: [] } };
    await plane.client.call('PUT', `/api/v1/namespaces/${name}/finalize`, body);
  }
});

interface Container {
  readonly volumeMounts?: unknown;
}

/** A pod whose volumes nobody has. */
function withoutMounts(spec: object): object {
  const {
    containers = [],
    initContainers = [],
    ...rest
  } = spec as {
    containers?: readonly Container[];
    initContainers?: readonly Container[];
  };
  const bare = (list: readonly Container[]) =>
    list.map((container) => ({ ...container, volumeMounts: undefined }));
  return { ...rest, containers: bare(containers), initContainers: bare(initContainers) };
}
