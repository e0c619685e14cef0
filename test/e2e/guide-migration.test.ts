import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import { APPLICATION_KIND, ArgoStandIn } from './argo-stand-in.ts';
import { notRun } from './guide-commands.ts';
import { GuideShell } from './guide-shell.ts';
import { hasKubectl } from './kubectl-program.ts';

const CLUSTERS = ['cluster1', 'cluster2'];
const PATIENT = { timeout: OUTAGE_PATIENCE_MS, interval: 1_000 };

/** What the guide's setup of Argo CD's pull model leaves behind, as far as the scenario looks at it. */
const PULL_MODEL = `
apiVersion: v1
kind: ConfigMap
metadata: {name: ocm-placement-generator, namespace: argocd}
data:
  apiVersion: cluster.open-cluster-management.io/v1beta1
  kind: placementdecisions
  statusListKey: decisions
  matchKey: clusterName
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: guestbook-app-placement
  namespace: argocd
spec:
  numberOfClusters: 10
`;
/** How the guide has a cluster wait before the application leaves it. */
const TOLERATION = `
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: guestbook-app-placement
  namespace: argocd
spec:
  numberOfClusters: 1
  tolerations:
    - key: cluster.open-cluster-management.io/unreachable
      operator: Exists
      tolerationSeconds: 300
`;
/** What the agent may do for Argo CD, on each cluster. */
const AGENT_ROLE = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: applications-of-works
  labels: {open-cluster-management.io/aggregate-to-work: 'true'}
rules:
- {apiGroups: [argoproj.io], resources: [applications], verbs: [get, list, watch, create, patch, delete]}
`;
/** How Argo CD on the hub knows a cluster that pulls. */
const clusterSecret = (name: string): string => `
apiVersion: v1
kind: Secret
metadata:
  name: ${name}-secret
  namespace: argocd
  labels: {argocd.argoproj.io/secret-type: cluster}
stringData: {name: ${name}, server: 'https://${name}-control-plane:6443'}
---`;
const APPLICATION_SET = `
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata:
  name: guestbook-app
  namespace: argocd
spec:
  generators:
  - clusterDecisionResource:
      configMapRef: ocm-placement-generator
      labelSelector:
        matchLabels:
          cluster.open-cluster-management.io/placement: guestbook-app-placement
      requeueAfterSeconds: 30
  template:
    metadata:
      name: '{{clusterName}}-guestbook-app'
      labels:
        apps.open-cluster-management.io/pull-to-ocm-managed-cluster: 'true'
      annotations:
        argocd.argoproj.io/skip-reconcile: 'true'
        apps.open-cluster-management.io/ocm-managed-cluster: '{{clusterName}}'
        apps.open-cluster-management.io/ocm-managed-cluster-app-namespace: argocd
    spec:
      project: default
      source:
        repoURL: https://git.example.org/argocd-example-apps.git
        targetRevision: HEAD
        path: guestbook
      destination:
        server: https://kubernetes.default.svc
        namespace: guestbook
      syncPolicy:
        automated:
          prune: true
        syncOptions:
        - CreateNamespace=true
`;

/**
 * Scenario 7 of Open Cluster Management's guide: its blocks with `berth` for `clusteradm`, on an embedded hub. `docker pause` is SIGSTOP
 * for the agent of the cluster, `docker restart` SIGCONT. Leases last two seconds, so that "a few minutes" are ten seconds. The budget is
 * for three moves within ten minutes, which are held otherwise.
 */
describe.skipIf(!hasKubectl())('scenario 7 of the guide: migration', () => {
  let shell: GuideShell;
  let argo: ArgoStandIn | undefined;
  beforeAll(async () => {
    shell = await GuideShell.open(CLUSTERS.join());
    await shell.says('berth init --no-controllers --context hub');
    await shell.says(
      'kubectl config view --minify --flatten --context hub > hub.kubeconfig\n' +
        'berth serve --kubeconfig hub.kubeconfig --embedded --registration all --argocd-pull --removal-budget 100% --data serve --listen 127.0.0.1:0 > serve.log 2>&1 & echo $! >> started',
    );
    for (const context of ['hub', ...CLUSTERS]) {
      await shell.says(`kubectl create namespace argocd --context ${context}`);
      await shell.says(`echo '${APPLICATION_KIND}' | kubectl apply --context ${context} -f -`);
    }
    for (const name of CLUSTERS) {
      await join(name);
      await shell.says(`cat <<'EOF' | kubectl apply --context ${name} -f -${AGENT_ROLE}EOF`);
    }
    await shell.says('berth clusterset bind global --namespace argocd');
    await shell.says(
      `cat <<'EOF' | kubectl apply -f -${CLUSTERS.map(clusterSecret).join('')}${PULL_MODEL}EOF`,
    );
    await shell.says(`cat > applicationset.yaml <<'EOF'${APPLICATION_SET}EOF`);
    argo = new ArgoStandIn(shell, 'applicationset.yaml', CLUSTERS);
  });
  afterAll(async () => {
    await argo?.end();
    await shell.run('kill -CONT $(cat home/agents/*/pid); kill $(cat started)');
    await shell.close();
  });

  const join = async (name: string): Promise<void> => {
    const ticket = JSON.parse(await shell.says('berth get token --context hub -o json')) as Record<
      string,
      string
    >;
    const given = `--hub-token ${ticket['hub-token'] ?? ''} --hub-apiserver ${ticket['hub-apiserver'] ?? ''}`;
    await shell.says(`berth join ${given} --wait --cluster-name ${name} --context ${name}`);
    await shell.says(`berth accept --clusters ${name} --wait --context hub`);
    await shell.says(
      `kubectl patch managedcluster ${name} --type=merge -p '{"spec":{"leaseDurationSeconds":2}}'`,
    );
  };
  const rows = (table: string): readonly (readonly string[])[] =>
    table
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s{2,}/));
  const applications = async () => rows(await shell.says('kubectl -n argocd get app'));
  const running = (...clusters: readonly string[]) => [
    ['NAME', 'SYNC STATUS', 'HEALTH STATUS'],
    ...clusters.map((name) => [`${name}-guestbook-app`, 'Synced', 'Healthy']),
  ];
  const placements = async () => rows(await shell.says('berth get placements -otable'));
  const selected = (cluster: string) => [
    ['NAME', 'STATUS', 'REASON', 'SELETEDCLUSTERS'],
    ['guestbook-app-placement', 'True', 'AllDecisionsScheduled', `[${cluster}]`],
  ];
  const clusters = async () => rows(await shell.says('kubectl get managedcluster'));
  const age: unknown = expect.stringMatching(/^\d+[smh]/);
  const url: unknown = expect.stringMatching(/^https:/);
  const available = (of: Readonly<Record<string, string>>) => [
    ['NAME', 'HUB ACCEPTED', 'MANAGED CLUSTER URLS', 'JOINED', 'AVAILABLE', 'AGE'],
    ...Object.entries(of).map(([name, status]) => [name, 'true', url, 'True', status, age]),
  ];

  it('shows the application on both clusters after the setup', async () => {
    await expect.poll(applications, PATIENT).toEqual(running('cluster1', 'cluster2'));
  });

  it('deploys the application in a single cluster', async () => {
    const patched = await shell.says(
      `kubectl patch placement -n argocd guestbook-app-placement --patch '{"spec": {"numberOfClusters": 1}}' --type=merge`,
    );
    expect(patched).toBe('placement.cluster.open-cluster-management.io/guestbook-app-placement patched\n');
    await expect.poll(placements, PATIENT).toEqual(selected('cluster1'));
    await expect.poll(applications, PATIENT).toEqual(running('cluster1'));
  });

  it('migrates it to another cluster when one is down', async () => {
    await shell.says('kill -STOP $(cat home/agents/cluster1-*/pid)');
    await expect.poll(clusters, PATIENT).toEqual(available({ cluster1: 'Unknown', cluster2: 'True' }));
    await expect.poll(placements, PATIENT).toEqual(selected('cluster2'));
    await expect.poll(applications, PATIENT).toEqual(running('cluster2'));
  });

  it('shows the taint that did it', async () => {
    expect(await shell.says('kubectl get managedcluster cluster1 -oyaml')).toMatch(
      /^ {4}cluster\.open-cluster-management\.io\/clusterset: default$[^]*^ {2}taints:\n {2}- effect: NoSelect\n {4}key: cluster\.open-cluster-management\.io\/unreachable\n {4}timeAdded: "20\S+Z"$/m,
    );
  });

  it('migrates it by a taint for a maintenance, when the first cluster is back', async () => {
    await shell.says('kill -CONT $(cat home/agents/cluster1-*/pid)');
    await expect.poll(clusters, PATIENT).toEqual(available({ cluster1: 'True', cluster2: 'True' }));
    const patched = await shell.says(
      `kubectl patch managedcluster cluster2 -p '{"spec":{"taints":[{"effect":"NoSelect","key":"maintenance"}]}}' --type=merge`,
    );
    expect(patched).toBe('managedcluster.cluster.open-cluster-management.io/cluster2 patched\n');
    await expect.poll(placements, PATIENT).toEqual(selected('cluster1'));
    await expect.poll(applications, PATIENT).toEqual(running('cluster1'));
  });

  it('tolerates the taint for a time where the placement says so', async () => {
    await shell.says(`cat <<EOF | kubectl apply -f -${TOLERATION}EOF`);
    await shell.says('kill -STOP $(cat home/agents/cluster1-*/pid)');
    await expect.poll(clusters, PATIENT).toEqual(available({ cluster1: 'Unknown', cluster2: 'True' }));
    const explained =
      'berth explain argocd/guestbook-app-placement --cluster cluster1 --embedded --kubeconfig hub.kubeconfig';
    await expect.poll(() => shell.says(explained), PATIENT).toMatch(/unreachable.*tolerated.*until 20/);
    expect(await placements()).toEqual(selected('cluster1'));
  });

  it('has run every command of the scenario', () => {
    expect(notRun('scenario 7', shell.ran)).toEqual([]);
  });
});
