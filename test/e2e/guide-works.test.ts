import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notRun } from './guide-commands.ts';
import { GuideShell } from './guide-shell.ts';
import { hasKubectl } from './kubectl-program.ts';

const CLUSTERS = ['cluster1', 'cluster2'];
const RESOURCES = `apiVersion: v1
kind: ServiceAccount
metadata:
  namespace: default
  name: my-sa
---
apiVersion: apps/v1
kind: Deployment
metadata:
  namespace: default
  name: nginx-deployment
  labels:
    app: nginx
spec:
  replicas: 3
  selector:
    matchLabels:
      app: nginx
  template:
    metadata:
      labels:
        app: nginx
    spec:
      serviceAccountName: my-sa
      containers:
      - name: nginx
        image: nginx:1.14.2
        ports:
        - containerPort: 80
`;
const indented = (yaml: string, by: number): string => yaml.replaceAll(/^(?=.)/gm, ' '.repeat(by));
const WORK = `apiVersion: work.open-cluster-management.io/v1
kind: ManifestWork
metadata:
  namespace: cluster1
  name: my-first-work
spec:
  workload:
    manifests:
${RESOURCES.split('---\n')
  .map((one) => indented(one, 6).replace('      ', '    - '))
  .join('')}`;
const PLACEMENT = `cat << EOF | kubectl apply -f -
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: placement1
  namespace: default
spec:
  numberOfClusters: 2
  clusterSets:
    - default
EOF`;

/**
 * Scenarios 1 and 2 of Open Cluster Management's guide: their blocks with `berth` for `clusteradm`, on an embedded hub whose members have
 * simulated pods. Contexts have other names.
 */
describe.skipIf(!hasKubectl())('the guide about works', () => {
  let shell: GuideShell;
  beforeAll(async () => {
    shell = await GuideShell.open(CLUSTERS.join(','));
    await shell.says('berth init --wait --context hub');
    for (const name of CLUSTERS) await shell.join(name);
  });
  afterAll(() => shell.close());

  const rows = (text: string): readonly (readonly string[])[] =>
    text
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s{2,}/));
  const poll = (block: string) => expect.poll(async () => rows(await shell.says(block)));
  const age: unknown = expect.stringMatching(/^\d+[smhd]/);
  const works = (clusters: readonly string[]) => [
    ['NAMESPACE', 'NAME', 'AGE'],
    ...clusters.map((name) => [name, 'my-first-work', age]),
  ];

  describe('1 - Deploy Kubernetes resources to the managed clusters', () => {
    it('creates a work by command, and updates it by its manifest', async () => {
      await shell.says(`cat > sample.yaml << 'EOF'\n${RESOURCES}EOF`);
      await shell.says('berth create work my-first-work -f sample.yaml --clusters cluster1');
      await poll('kubectl get manifestwork -A --context hub').toEqual(works(['cluster1']));
      await shell.says(`cat > manifest-work.yaml << 'EOF'\n${WORK}EOF`);
      await shell.says('kubectl apply -f manifest-work.yaml');
    });

    it('deploys it on the cluster, and says so in the status', async () => {
      await poll('kubectl get deployment --context cluster1').toEqual([
        ['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'AGE'],
        ['nginx-deployment', '3/3', '3', '3', age],
      ]);
      await poll('kubectl --context cluster1 get pod').toEqual([
        ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'],
        ...Array.from({ length: 3 }, () => [
          expect.stringMatching(/^nginx-deployment-[a-z0-9]{10}-[a-z0-9]{5}$/),
          ...['1/1', 'Running', '0', age],
        ]),
      ]);
      await poll('kubectl get sa my-sa --context cluster1').toContainEqual(['my-sa', expect.anything(), age]);
      await expect
        .poll(() => shell.says('kubectl get manifestwork -n cluster1 my-first-work -o yaml --context hub'))
        .toMatch(/message: Resource is available\n +reason: ResourceAvailable\n +status: "True"/);
      await poll('kubectl --context cluster1 get appliedmanifestwork').toEqual([
        ['NAME', 'AGE'],
        [expect.stringMatching(/^[0-9a-f]{64}-my-first-work$/), age],
      ]);
    });

    it('finds what the troubleshooting asks for', async () => {
      const found = (name: string) => [
        ['NAME', 'CREATED AT'],
        [`${name}.work.open-cluster-management.io`, expect.stringMatching(/^20\d\d-.*Z$/)],
      ];
      const works = await shell.says('kubectl get crd manifestworks.work.open-cluster-management.io');
      expect(rows(works)).toEqual(found('manifestworks'));
      await shell.says('kubectl config use-context cluster1');
      const applied = await shell.says(
        'kubectl get crd appliedmanifestworks.work.open-cluster-management.io',
      );
      expect(rows(applied)).toEqual(found('appliedmanifestworks'));
      await shell.says('kubectl config use-context hub');
      expect(shell.logs()).toContain('cluster1');
    });

    it('removes what it deployed with the work', async () => {
      await shell.says('kubectl -n cluster1 delete manifestwork my-first-work');
      const { stdout, stderr } = await shell.run('kubectl get deployment,sa --context cluster1 -o name');
      expect(`${stdout}${stderr}`).not.toContain('nginx-deployment');
      const pods = async (): Promise<string> =>
        (await shell.run('kubectl get pod --context cluster1')).stderr;
      await expect.poll(pods).toContain('No resources found');
    });

    it('has run every command of the scenario', () => {
      expect(notRun('scenario 1', shell.ran)).toEqual([]);
    });
  });

  describe('2 - Distribute workload with placement selected managed clusters', () => {
    it('confirms the clusters, and binds their set', async () => {
      expect(rows(await shell.says('berth get clusters'))).toHaveLength(3);
      await poll('berth get clustersets').toContainEqual(['default', '2 ManagedClusters selected']);
      await shell.says('berth clusterset bind default --namespace default');
      await poll('berth get clustersets').toContainEqual([
        'default',
        'default',
        '2 ManagedClusters selected',
      ]);
    });

    it('creates a work on the clusters of a placement', async () => {
      await shell.says(PLACEMENT);
      await shell.says('cp sample.yaml work.yaml');
      expect(await shell.says('cat work.yaml')).toBe(RESOURCES);
      const decisions =
        'kubectl get placementdecision -n default -l cluster.open-cluster-management.io/placement=placement1 -oyaml';
      await expect.poll(() => shell.says(decisions)).toMatch(/clusterName: cluster1(.*\n)*.*cluster2/);
      await shell.says('berth create work my-first-work -f work.yaml --placement default/placement1');
      await poll('kubectl get manifestwork -A').toEqual(works(CLUSTERS));
    });

    it('reschedules it when the placement selects one cluster', async () => {
      await shell.says(
        `kubectl patch placement placement1 --patch '{"spec": {"clusterSets": ["default"],"numberOfClusters": 1}}' --type=merge`,
      );
      await poll('berth get placements placement1').toContainEqual(
        expect.arrayContaining(['default', 'placement1', '1/1']),
      );
      await shell.says(
        'berth create work my-first-work -f work.yaml --placement default/placement1 --overwrite',
      );
      await poll('kubectl get manifestwork -A').toEqual(works(['cluster1']));
    });

    it('has run every command of the scenario', () => {
      expect(notRun('scenario 2', shell.ran)).toEqual([]);
    });
  });
});
