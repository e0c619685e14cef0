import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notRun } from './guide-commands.ts';
import { GuideShell } from './guide-shell.ts';
import { hasKubectl } from './kubectl-program.ts';

const CLUSTERS = ['cluster1', 'cluster2'];

const EXAMPLE = path.join(import.meta.dirname, '../../scripts/run-example.mjs');
const PLACE = 'open-cluster-management-agent-addon';

/** The clusters of the guide. This pod leaves 12 of 24 CPUs, which is its score there. */
const NODE = `
apiVersion: v1
kind: Node
metadata: {name: node1}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  nodeName: node1
  containers: [{name: web, image: web, resources: {requests: {cpu: "12"}}}]
`;
const RESOURCES = '{"cpu":"24","memory":"49265496Ki","pods":"110"}';

const PLACEMENT = `cat << EOF | kubectl apply -f -
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: placement1
  namespace: default
spec:
  numberOfClusters: 1
  clusterSets:
    - default
  prioritizerPolicy:
    mode: Exact
    configurations:
      - scoreCoordinate:
          type: AddOn
          addOn:
            resourceName: resource-usage-score
            scoreName: cpuAvailable
        weight: 1
EOF`;

/**
 * Scenario 3 of Open Cluster Management's guide: its blocks with `berth` for `clusteradm`, on an embedded hub. Where the guide builds and
 * installs its add-on, the example addon-resource-usage-collect does: one command, then the containers of its Deployments run as processes.
 * What the guide asks of Pods of the add-on has no place here.
 */
describe.skipIf(!hasKubectl())('scenario 3 of the guide: placements by scores', () => {
  let shell: GuideShell;
  beforeAll(async () => {
    shell = await GuideShell.open(CLUSTERS.join());
    await shell.says('berth init --wait --context hub');
    for (const name of CLUSTERS) await join(name);
    // The add-on brings a ClusterRole, which the agent of `berth join` may not write, and OCM's klusterlet makes the namespace.
    const agent = 'open-cluster-management-agent:berth-agent';
    for (const name of CLUSTERS)
      await shell.says(`kubectl --context ${name} create namespace ${PLACE}
kubectl --context ${name} create clusterrolebinding agent --clusterrole=cluster-admin --serviceaccount=${agent}`);
  });
  afterAll(async () => {
    await shell.run('kill $(cat programs)');
    await shell.close();
  });

  const join = async (name: string): Promise<void> => {
    await shell.join(name);
    // Only now: in a cluster that has nodes the agent would be a pod.
    await shell.says(`cat <<'EOF' | kubectl apply --context ${name} -f -${NODE}EOF`);
    const status = `{"status":{"capacity":${RESOURCES},"allocatable":${RESOURCES}}}`;
    await shell.says(
      `kubectl patch node node1 --context ${name} --subresource=status --type=merge -p '${status}'`,
    );
  };
  const rows = (table: string): readonly (readonly string[])[] =>
    table
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s{2,}/));
  const lines = (text: string): readonly string[] =>
    text
      .trim()
      .split('\n')
      .map((line) => line.trim().replaceAll(/\s+/g, ' '));

  it('confirms that there are 2 ManagedClusters and a default ManagedClusterSet', async () => {
    const version: unknown = expect.stringMatching(/^v1\./);
    await expect
      .poll(async () => rows(await shell.says('berth get clusters')))
      .toEqual([
        ['NAME', 'ACCEPTED', 'AVAILABLE', 'CLUSTERSET', 'CPU', 'MEMORY', 'KUBERNETES VERSION'],
        ...CLUSTERS.map((name) => [name, 'true', 'True', 'default', '24', '49265496Ki', version]),
      ]);
    await expect
      .poll(async () => rows(await shell.says('berth get clustersets')))
      .toContainEqual(['default', '2 ManagedClusters selected']);
  });

  it('binds the default ManagedClusterSet to the Namespace default', async () => {
    expect(await shell.says('berth clusterset bind default --namespace default')).toBe(
      'Clusterset default is bound to Namespace default\n',
    );
    await expect
      .poll(async () => rows(await shell.says('berth get clustersets')))
      .toContainEqual(['default', 'default', '2 ManagedClusters selected']);
  });

  /** What the container of the add-on's Deployment would run, with its Secret in a folder. */
  const runContainer = async (name: string): Promise<void> => {
    const get = `kubectl --context ${name} -n ${PLACE} get`;
    const secret = `${get} secret resource-usage-collect-hub-kubeconfig -o go-template`;
    const part = (key: string): string => `${secret}='{{index .data "'${key}'"}}'`;
    await expect.poll(async () => (await shell.run(part('tls.crt'))).stdout).toMatch(/^LS0t/);
    await shell.says(`mkdir ${name}; kubectl config view --minify --flatten --context ${name} > ${name}.kubeconfig
for key in cluster-name kubeconfig tls.key tls.crt; do ${part('$key')} | base64 -d > ${name}/$key; done
args=$(${get} deploy resource-usage-collect-agent -o jsonpath='{.spec.template.spec.containers[0].args[*]}')
berth $(echo $args | sed s#/managed/hub-kubeconfig#${name}#) --kubeconfig ${name}.kubeconfig > ${name}.log 2>&1 & echo $! >> programs`);
  };

  it('has an AddOnPlacementScore for each managed cluster when the add-on runs', async () => {
    await shell.says(`kubectl config view --minify --flatten --context hub > hub.kubeconfig
node ${EXAMPLE} addon-resource-usage-collect --hub hub.kubeconfig > manager.log 2>&1 & echo $! >> programs`);
    for (const name of CLUSTERS) await runContainer(name);
    const age: unknown = expect.stringMatching(/^\d+[sm]/);
    await expect
      .poll(async () => rows(await shell.says('kubectl get addonplacementscore -A')))
      .toEqual([
        ['NAMESPACE', 'NAME', 'AGE'],
        ...CLUSTERS.map((name) => [name, 'resource-usage-score', age]),
      ]);
    await expect
      .poll(() => shell.says('kubectl get addonplacementscore -n cluster1 resource-usage-score -oyaml'))
      .toMatch(
        /^apiVersion: cluster\.open-cluster-management\.io\/v1alpha1\nkind: AddOnPlacementScore\n(?:.*\n)+status:\n {2}scores:\n {2}- name: cpuAvailable\n {4}value: 12\n {2}- name: memAvailable\n {4}value: 4\n {2}validUntil: /,
      );
  });

  it('selects the cluster with the highest cpuAvailable, and says so in decision and events', async () => {
    await shell.says(PLACEMENT);
    await expect
      .poll(async () =>
        lines(await shell.says('kubectl describe placementdecision -n default | grep Status -A 3')),
      )
      .toEqual(['Status:', 'Decisions:', 'Cluster Name: cluster1', 'Reason:']);
    const scores = `kubectl get addonplacementscore -A -o=jsonpath='{range .items[*]}{.metadata.namespace}{"\\t"}{.status.scores}{"\\n"}{end}'`;
    expect(await shell.says(scores)).toBe(
      CLUSTERS.map(
        (name) => `${name}\t[{"name":"cpuAvailable","value":12},{"name":"memAvailable","value":4}]\n`,
      ).join(''),
    );
    const events = 'kubectl describe placement -n default placement1 | grep Events -A 10';
    const told = async (): Promise<readonly string[]> =>
      lines(await shell.says(events)).map((line) =>
        line.replace(/ (\d+[smh]\S*) placement/, ' AGE placement'),
      );
    const decision = 'Decision placement1-decision-1 is';
    const where = 'with placement placement1 in namespace default';
    await expect
      .poll(told)
      .toEqual([
        'Events:',
        'Type Reason Age From Message',
        '---- ------ ---- ---- -------',
        `Normal DecisionCreate AGE placementController ${decision} created ${where}`,
        `Normal DecisionUpdate AGE placementController ${decision} updated ${where}`,
        'Normal ScoreUpdate AGE placementController cluster1:12 cluster2:12',
      ]);
  });

  it('moves to the other cluster when pods take the first one', async () => {
    const pod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"batch","namespace":"shop"},"spec":{"containers":[{"name":"b","image":"b","resources":{"requests":{"cpu":"10"}}}]}}`;
    await shell.says(`echo '${pod}' | kubectl apply --context cluster1 -f -`);
    await expect
      .poll(() => shell.says('kubectl describe placementdecision -n default | grep Status -A 3'))
      .toContain('cluster2');
    const explained = await shell.says(
      'berth explain default/placement1 --cluster cluster1 --embedded --kubeconfig hub.kubeconfig',
    );
    expect(explained).toMatch(/AddOn\/resource-usage-score\/cpuAvailable +2 +× 1 +=.*valid until 20/);
  });

  it('has run every command of the scenario', () => {
    expect(notRun('scenario 3', shell.ran)).toEqual([]);
  });
});
