import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { SECRET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentPod, runAgent } from '../../examples/addon-helloworld/add-on.ts';
import { runManager } from '../../examples/addon-helloworld/main.ts';
import { runAgent as runHelmAgent } from '../../examples/addon-helloworld-helm/add-on.ts';
import { runManager as runHelmManager } from '../../examples/addon-helloworld-helm/main.ts';
import { findHelm } from '../../packages/addon/test/sources/find-helm.ts';
import { notRun } from './guide-commands.ts';
import { GuideShell } from './guide-shell.ts';
import { hasKubectl } from './kubectl-program.ts';

/**
 * Both add-ons bring ClusterRoles, which the agent of `berth join` may not write, and OCM's klusterlet makes the namespace in which add-ons
 * run.
 */
const PREPARED = [
  'clusterrolebinding agent --clusterrole=cluster-admin --serviceaccount=open-cluster-management-agent:berth-agent',
  'namespace open-cluster-management-agent-addon',
];

/** A hub with its controllers, a cluster that asks to join it, and what the images of the articles run. */
class Article {
  readonly shell: GuideShell;
  readonly hub: KubeApi;
  readonly #cluster: HttpKubeApi;
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>[] = [];

  private constructor(shell: GuideShell) {
    this.shell = shell;
    const [hub, cluster] = ['hub', 'cluster1'].map((context) => {
      const config = loadKubeConfig({ file: shell.hub.kubeconfig, context });
      return new HttpKubeApi({ config, clock: systemClock });
    }) as [HttpKubeApi, HttpKubeApi];
    this.hub = hub;
    this.#cluster = cluster;
  }

  static async open(): Promise<Article> {
    const shell = await GuideShell.open('cluster1');
    await shell.says('berth init --wait --context hub');
    for (const command of PREPARED) await shell.says(`kubectl --context cluster1 create ${command}`);
    return new Article(shell);
  }

  run(program: (signal: AbortSignal) => Promise<void>): void {
    this.#running.push(program(this.#stop.signal).catch((error: unknown) => error));
  }

  /** The agent, as soon as its pod could mount its access to the hub. */
  async runAgent(agent: (pod: AgentPod) => Promise<void>, secret: { namespace: string; name: string }) {
    await expect.poll(() => this.#cluster.get(SECRET, secret)).toBeDefined();
    const mounts = { '/managed/hub-kubeconfig': secret };
    this.run((signal) => agent({ cluster: this.#cluster, namespace: secret.namespace, mounts, signal }));
  }

  /** The commands that follow are run where the article runs them. */
  readonly on = async (context: 'hub' | 'cluster1'): Promise<void> =>
    void (await this.shell.says(`kubectl config use-context ${context}`));

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
    (this.hub as HttpKubeApi).close();
    this.#cluster.close();
    await this.shell.close();
  }
}

const yaml = (text: string): string => `cat << EOF | kubectl apply -f -\n${text}EOF`;

/**
 * How to develop an add-on: the blocks of the article, with the example addon-helloworld for its manager and its image. Since the article
 * was written, works got a number at the end of their names, and kubectl shows add-ons in v1beta1, which names the signer `kubeClient`.
 */
describe.skipIf(!hasKubectl())('the article about the add-on helloworld', () => {
  let article: Article;
  beforeAll(async () => {
    article = await Article.open();
  });
  afterAll(() => article.close());

  it('accepts the cluster and approves its certificate', async () => {
    const { shell } = article;
    const ticket = 'ticket=$(berth get token --context hub -o yaml)';
    const field = (key: string): string => `$(echo "$ticket" | sed -n 's/^${key}: //p')`;
    await shell.says(
      `${ticket}\nberth join --hub-token ${field('hub-token')} --hub-apiserver ${field('hub-apiserver')} --wait --cluster-name cluster1 --context cluster1`,
    );
    await article.on('hub');
    await shell.says(`kubectl patch managedcluster cluster1 -p='{"spec":{"hubAcceptsClient":true}}' --type=merge
kubectl get csr -l open-cluster-management.io/cluster-name=cluster1 | grep Pending | awk '{print $1}' | xargs kubectl certificate approve`);
    await expect
      .poll(() => shell.says('kubectl get managedcluster cluster1'))
      .toMatch(/^NAME +HUB ACCEPTED .*\ncluster1 +true +https:\S+ +True +True +\S+\n$/);
  });

  it('enables the add-on, whose agent copies a ConfigMap', async () => {
    const { shell, hub } = article;
    article.run((signal) => runManager(hub, signal));
    await shell.says(
      yaml(`apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ManagedClusterAddOn
metadata:
  name: helloworld
  namespace: cluster1
spec:
  installNamespace: default
`),
    );
    await shell.says(
      yaml(`apiVersion: v1
kind: ConfigMap
metadata:
  name: helloworld
  namespace: cluster1
data:
  value: helloworld
`),
    );
    await article.runAgent(runAgent, { namespace: 'default', name: 'helloworld-hub-kubeconfig' });
    await article.on('cluster1');
    await expect
      .poll(async () => (await shell.run('kubectl -n default get cm helloworld -oyaml')).stdout)
      .toMatch(/^apiVersion: v1\ndata:\n {2}value: helloworld\nkind: ConfigMap\n/);
  });

  it('shows on the cluster what the add-on brought', async () => {
    const { shell } = article;
    await expect
      .poll(async () => (await shell.run('kubectl get clusterrolebindings helloworld-addon')).stdout)
      .toMatch(/^helloworld-addon +ClusterRole\/helloworld-addon +\S+$/m);
    await expect
      .poll(() => shell.says('kubectl -n default get deploy,sa'))
      .toMatch(/^deployment.apps\/helloworld-agent +1\/1 +1 +1 [^]*^serviceaccount\/helloworld-agent-sa /m);
    await expect
      .poll(() => shell.says('kubectl -n default get pods'))
      .toMatch(/^helloworld-agent-[a-z0-9]{10}-[a-z0-9]{5} +1\/1 +Running /m);
    expect(await shell.says('kubectl -n default get secrets')).toMatch(
      /^helloworld-hub-kubeconfig +Opaque +4 /m,
    );
    expect(await shell.says('kubectl -n default get leases')).toMatch(/^helloworld +\S+$/m);
    await article.on('hub');
  });

  it('shows on the hub how the add-on registered, and that it is available', async () => {
    const { shell } = article;
    expect(await shell.says('kubectl -n cluster1 get manifestworks')).toMatch(/^addon-helloworld-deploy-0 /m);
    const user = 'system:open-cluster-management:cluster:cluster1:addon:helloworld';
    await expect
      .poll(() => shell.says('kubectl -n cluster1 get managedclusteraddons helloworld -oyaml'))
      .toMatch(
        /message: helloworld add-on is available\.\n +reason: ManagedClusterAddOnLeaseUpdated\n +status: "True"\n +type: Available\n/,
      );
    expect(await shell.says('kubectl -n cluster1 get managedclusteraddons helloworld -oyaml')).toMatch(
      new RegExp(
        `kubeClient:\\n +driver: csr\\n +subject:\\n +groups:\\n +- ${user}\\n +- system:open-cluster-management:addon:helloworld\\n +user: ${user}:agent:\\S+\\n +type: kubeClient\\n`,
      ),
    );
    const inArticle = await shell.says(
      'kubectl -n cluster1 get managedclusteraddons.v1alpha1.addon.open-cluster-management.io helloworld -oyaml',
    );
    expect(inArticle).toMatch(
      new RegExp(
        ` registrations:\\n +- signerName: kubernetes.io/kube-apiserver-client\\n +subject:\\n +groups:\\n +- ${user}\\n +- system:open-cluster-management:addon:helloworld\\n +user: ${user}:agent:\\S+\\n`,
      ),
    );
    const requests = (await shell.says('kubectl get csr'))
      .split('\n')
      .filter((line) => line.startsWith('addon-'));
    expect(requests).toEqual([
      expect.stringMatching(
        /^addon-cluster1-helloworld-\w{5} +\S+ +kubernetes.io\/kube-apiserver-client +system:open-cluster-management:cluster1:\w{5} .*Approved,Issued$/,
      ),
    ]);
  });

  it('has run every command of the article', () => {
    expect(notRun('article helloworld', article.shell.ran)).toEqual([]);
  });
});

const helm = findHelm();

/** The second article: an add-on from a Helm chart, with the example addon-helloworld-helm. */
describe.skipIf(!hasKubectl() || helm === undefined)('the article about the add-on helloworldhelm', () => {
  let article: Article;
  beforeAll(async () => {
    article = await Article.open();
    await article.shell.join('cluster1');
    await article.on('hub');
    article.run((signal) => runHelmManager(article.hub, signal, helm));
  });
  afterAll(() => article.close());
  const namespace = 'open-cluster-management-agent-addon';

  it('has a ClusterManagementAddOn, and enables the add-on with the command', async () => {
    const { shell } = article;
    await expect
      .poll(() => shell.says('kubectl get mcl'))
      .toMatch(/^cluster1 +true +https:\S+ +True +True +\S+$/m);
    await expect
      .poll(
        async () =>
          (
            await shell.run(
              `kubectl get clustermanagementaddons.addon.open-cluster-management.io helloworldhelm -o yaml`,
            )
          ).stdout,
      )
      .toMatch(
        / {4}description: .*helloworld.*\n {4}displayName: helloworldhelm\n[^]* {2}installStrategy:\n {4}type: Manual\n/,
      );
    expect(
      await shell.says(
        `berth addon enable --names helloworldhelm --namespace ${namespace} --clusters cluster1`,
      ),
    ).toBe(`Deploying helloworldhelm add-on to namespaces ${namespace} of managed cluster: cluster1.\n`);
  });

  it('is registered, deployed and available', async () => {
    const { shell } = article;
    await article.runAgent(runHelmAgent, { namespace, name: 'helloworldhelm-hub-kubeconfig' });
    const conditions = [
      ['RegistrationApplied', 'SetPermissionApplied'],
      ['ManifestApplied', 'AddonManifestApplied'],
      ['ClusterCertificateRotated', 'ClientCertificateUpdated'],
      ['Available', 'ManagedClusterAddOnLeaseUpdated'],
    ] as const;
    const addon =
      'kubectl get managedclusteraddons.addon.open-cluster-management.io -n cluster1 helloworldhelm -o yaml';
    for (const [type, reason] of conditions)
      await expect
        .poll(() => shell.says(addon))
        .toMatch(new RegExp(`reason: ${reason}\\n +status: "True"\\n +type: ${type}\\n`));
    expect(await shell.says(addon)).toMatch(/- addon.open-cluster-management.io\/addon-pre-delete\n/);
    expect(await shell.says('kubectl get manifestwork -n cluster1')).toMatch(
      /^addon-helloworldhelm-deploy-0 /m,
    );
    await article.on('cluster1');
    await expect
      .poll(() => shell.says(`kubectl get deployments.apps -n ${namespace}`))
      .toMatch(/^helloworldhelm-agent +1\/1 +1 +1 /m);
    expect(await shell.says(`kubectl get secret -n ${namespace}`)).toMatch(
      /^helloworldhelm-hub-kubeconfig +Opaque +4 /m,
    );
  });

  it('has run every command of the article', () => {
    expect(notRun('article helloworldhelm', article.shell.ran)).toEqual([]);
  });
});
