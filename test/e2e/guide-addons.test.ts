import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notRun } from './guide-commands.ts';
import { GuideShell } from './guide-shell.ts';
import { hasKubectl } from './kubectl-program.ts';

/**
 * Section 3 of the installation guide: each of its manifests is applied as it is written there. The guide has no add-on to install, so
 * `berth addon create` makes one of a template. `kubectl apply` replaces the list of configurations, in which the template is, so that
 * command follows each ClusterManagementAddOn of the guide. Configurations of other kinds than AddOnDeploymentConfig are listed, but a template does
 * not use them, and its status says so.
 */
describe.skipIf(!hasKubectl())('the installation guide, 3 - Add-on management', () => {
  let shell: GuideShell;
  beforeAll(async () => {
    shell = await GuideShell.open('cluster1,cluster2');
    await shell.says('berth init --wait --context hub');
    for (const name of ['cluster1', 'cluster2']) await shell.join(name);
    await shell.says(`cat <<'EOF' > agent.yaml${AGENT}EOF`);
    for (const [name, platform] of [
      ['cluster1', 'aws'],
      ['cluster2', 'gcp'],
    ] as const)
      await shell.says(
        `cat <<'EOF' | kubectl apply --context ${name} -f -\n${CLAIM.replace('PLATFORM', platform)}EOF`,
      );
  });
  afterAll(() => shell.close());

  const apply = (manifest: string): Promise<string> =>
    shell.says(`cat << EOF | kubectl apply -f -${manifest}EOF`);
  const create = (): Promise<string> =>
    shell.says('berth addon create helloworld -f agent.yaml --hub-registration --overwrite');
  const table = async (command: string): Promise<readonly string[]> =>
    (await shell.says(command))
      .trim()
      .split('\n')
      .map((line) => line.trim().replaceAll(/ +/g, ' '));
  const healthiness = (): Promise<readonly string[]> => table('kubectl get managedclusteraddon -A');
  /** `RESOURCE NAMESPACE/NAME`, of what the cluster shall use. */
  const references = async (): Promise<readonly string[]> => {
    const range = '{range .status.configReferences[*]}';
    const row = '{.resource} {.desiredConfig.namespace}/{.desiredConfig.name} {.desiredConfig.specHash}';
    const path = `jsonpath='${range}${row}{"\\n"}{end}'`;
    const lines = await table(`kubectl get managedclusteraddon -n cluster1 helloworld -o ${path}`);
    return lines.map((line) => line.replace(/[0-9a-f]{64}$/, 'HASH'));
  };
  /** The argument that the agent on cluster1 gets of its AddOnDeploymentConfig. */
  const level = (): Promise<string> =>
    shell.says(
      `kubectl --context cluster1 -n default get deploy helloworld-agent -o jsonpath='{.spec.template.spec.containers[0].args[0]}'`,
    );

  it('enables an add-on manually: a manager is missing at first', async () => {
    await apply(REGISTERED);
    await apply(ENABLED);
    expect(await table('berth get addons')).toEqual([
      'NAME AVAILABLE CLUSTERS OTHER CLUSTERS',
      expect.stringMatching(/^helloworld cluster1 \((?:not reported yet|unknown: .*)\)$/),
    ]);
    expect(await create()).toContain('ClusterManagementAddon helloworld is updated');
    await expect
      .poll(healthiness)
      .toEqual(['NAMESPACE NAME AVAILABLE DEGRADED PROGRESSING', 'cluster1 helloworld True False']);
    const requests = (await shell.says('kubectl get csr'))
      .split('\n')
      .filter((line) => line.startsWith('addon-'));
    expect(requests).toEqual([
      expect.stringMatching(
        /^addon-cluster1-helloworld-\w{5} .*kubernetes.io\/kube-apiserver-client +system:open-cluster-management:cluster1:\w{5} .*Approved,Issued$/,
      ),
    ]);
    expect(await table('kubectl --context cluster1 -n default get deploy,secret')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^deployment.apps\/helloworld-agent 1\/1 /),
        expect.stringMatching(/^secret\/helloworld-hub-kubeconfig Opaque /),
      ]) as string[],
    );
  });

  it('cleans the add-on with its ClusterManagementAddOn', async () => {
    await shell.says('kubectl delete clustermanagementaddon helloworld');
    await expect.poll(async () => (await shell.run('kubectl get managedclusteraddon -A')).stdout).toBe('');
    const left = 'kubectl --context cluster1 -n default get deploy,secret';
    await expect.poll(async () => (await shell.run(left)).stdout).toBe('');
  });

  it('enables an add-on by install strategy, on the clusters of a claim', async () => {
    await shell.says('berth clusterset bind default --namespace default');
    await apply(BY_PLACEMENT);
    await apply(PLACEMENT);
    await create();
    await expect.poll(healthiness).toContain('cluster1 helloworld True False');
    expect(await table('berth get addons -o wide')).toEqual([
      'NAME CLUSTER STATE NAMESPACE CONFIGURATION CLUSTERS CHOSEN BY',
      'helloworld cluster1 available default helloworld-0.0.1 default/placement-aws',
    ]);
    expect((await shell.run('berth addon enable --names helloworld --clusters cluster2')).stderr).toContain(
      'it would leave cluster2 again',
    );
  });

  it('rolls a configuration out', async () => {
    await shell.says(
      'kubectl create namespace open-cluster-management --dry-run=client -o yaml | kubectl apply -f -',
    );
    for (const name of ['deploy-config', 'default-deploy-config', 'cluster1-deploy-config'])
      await apply(DEPLOY_CONFIG.replaceAll('NAME', name));
    await apply(ROLLED_OUT);
    await create();
    await expect.poll(level).toBe('--level=deploy-config');
    const message = `kubectl get clustermanagementaddon helloworld -o jsonpath='{.status.installProgressions[0].conditions[0].message}'`;
    await expect.poll(() => shell.says(message)).toMatch(/^selected clusters 1\. configured addons 1\/1 /);
  });

  it('takes default configurations, then those of the install strategy, then those of the cluster', async () => {
    await apply(WITH_DEFAULTS);
    await create();
    await expect
      .poll(references)
      .toEqual([
        'addondeploymentconfigs open-cluster-management/default-deploy-config HASH',
        'addontemplates /helloworld-0.0.1 HASH',
        'exampleconfigs open-cluster-management/default-example-config',
      ]);
    await expect.poll(level).toBe('--level=default-deploy-config');
    await apply(BY_STRATEGY);
    await create();
    await expect
      .poll(references)
      .toEqual([
        'addondeploymentconfigs open-cluster-management/deploy-config HASH',
        'addontemplates /helloworld-0.0.1 HASH',
        'exampleconfigs open-cluster-management/example-config-1',
        'exampleconfigs open-cluster-management/example-config-2',
      ]);
    await expect.poll(level).toBe('--level=deploy-config');
    await apply(OF_CLUSTER);
    await expect
      .poll(references)
      .toEqual([
        'addondeploymentconfigs open-cluster-management/cluster1-deploy-config HASH',
        'addontemplates /helloworld-0.0.1 HASH',
        'exampleconfigs open-cluster-management/cluster1-example-config',
      ]);
    await expect.poll(level).toBe('--level=cluster1-deploy-config');
  });

  it('says in the status which kinds of configurations are supported', async () => {
    const of = (path: string): Promise<readonly string[]> =>
      table(`kubectl get managedclusteraddon -n cluster1 helloworld -o jsonpath='${path}'`);
    expect(await of('{.status.supportedConfigs[*].resource}')).toEqual([
      'addondeploymentconfigs addontemplates',
    ]);
    const progress = '{range .status.conditions[?(@.type=="Progressing")]}{.reason}: {.message}{end}';
    await expect
      .poll(() => of(progress))
      .toEqual([
        'ConfigurationUnsupported: Configuration with gvr example.open-cluster-management.io/exampleconfigs is not supported for this addon',
      ]);
  });

  it('has run every command of the section', () => {
    expect(notRun('installation 3', shell.ran)).toEqual([]);
  });
});

const AGENT = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: helloworld-agent, namespace: default}
spec:
  selector: {matchLabels: {app: helloworld}}
  template:
    metadata: {labels: {app: helloworld}}
    spec: {containers: [{name: agent, image: agent, args: ["--level={{LEVEL}}"]}]}
`;

const CLAIM = `
apiVersion: cluster.open-cluster-management.io/v1alpha1
kind: ClusterClaim
metadata: {name: platform.open-cluster-management.io}
spec: {value: PLATFORM}
`;

/** An empty namespace keeps that of the template. */
const DEPLOY_CONFIG = `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: AddOnDeploymentConfig
metadata: {name: NAME, namespace: open-cluster-management}
spec:
  agentInstallNamespace: ""
  customizedVariables: [{name: LEVEL, value: NAME}]
`;

const REGISTERED = `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata:
  name: helloworld
spec:
  addOnMeta:
    displayName: helloworld
`;

const ENABLED = `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ManagedClusterAddOn
metadata:
  name: helloworld
  namespace: cluster1
spec:
  installNamespace: helloworld
`;

const BY_PLACEMENT = `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata:
  name: helloworld
  annotations:
    addon.open-cluster-management.io/lifecycle: "addon-manager"
spec:
  addOnMeta:
    displayName: helloworld
  installStrategy:
    type: Placements
    placements:
    - name: placement-aws
      namespace: default
`;

const PLACEMENT = `
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: placement-aws
  namespace: default
spec:
  predicates:
    - requiredClusterSelector:
        claimSelector:
          matchExpressions:
            - key: platform.open-cluster-management.io
              operator: In
              values:
                - aws
`;

const ROLLED_OUT = `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata:
  name: helloworld
  annotations:
    addon.open-cluster-management.io/lifecycle: "addon-manager"
spec:
  addOnMeta:
    displayName: helloworld
  installStrategy:
    type: Placements
    placements:
    - name: placement-aws
      namespace: default
      configs:
      - group: addon.open-cluster-management.io
        resource: addondeploymentconfigs
        name: deploy-config
        namespace: open-cluster-management
      rolloutStrategy:
        type: Progressive
        progressive:
          mandatoryDecisionGroups:
          - groupName: "prod-canary-west"
          - groupName: "prod-canary-east"
          maxConcurrency: 25%
          minSuccessTime: 5m
          progressDeadline: 10m
          maxFailures: 2
`;

const WITH_DEFAULTS = `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata:
  name: helloworld
  annotations:
    addon.open-cluster-management.io/lifecycle: "addon-manager"
spec:
  addOnMeta:
    displayName: helloworld
  supportedConfigs:
  - defaultConfig:
      name: default-deploy-config
      namespace: open-cluster-management
    group: addon.open-cluster-management.io
    resource: addondeploymentconfigs
  - defaultConfig:
      name: default-example-config
      namespace: open-cluster-management
    group: example.open-cluster-management.io
    resource: exampleconfigs
`;

const BY_STRATEGY = `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata:
  name: helloworld
  annotations:
    addon.open-cluster-management.io/lifecycle: "addon-manager"
spec:
  addOnMeta:
    displayName: helloworld
  supportedConfigs:
  - defaultConfig:
      name: default-deploy-config
      namespace: open-cluster-management
    group: addon.open-cluster-management.io
    resource: addondeploymentconfigs
  installStrategy:
    type: Placements
    placements:
    - name: placement-aws
      namespace: default
      configs:
      - group: addon.open-cluster-management.io
        resource: addondeploymentconfigs
        name: deploy-config
        namespace: open-cluster-management
      - group: example.open-cluster-management.io
        resource: exampleconfigs
        name: example-config-1
        namespace: open-cluster-management
      - group: example.open-cluster-management.io
        resource: exampleconfigs
        name: example-config-2
        namespace: open-cluster-management
`;

const OF_CLUSTER = `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ManagedClusterAddOn
metadata:
  name: helloworld
  namespace: cluster1
spec:
  configs:
  - group: addon.open-cluster-management.io
    resource: addondeploymentconfigs
    name: cluster1-deploy-config
    namespace: open-cluster-management
  - group: example.open-cluster-management.io
    resource: exampleconfigs
    name: cluster1-example-config
    namespace: open-cluster-management
`;
