// A repository of N manifests for the benches of Git ingest: of 20,000, 1,000 clusters, 4,000 placements, 4,000 replica sets, 11,000 ConfigMaps.
import { execFileSync } from 'node:child_process';

const TEAMS = 200;
/** Of twenty files: a cluster, four placements with a replica set each, and settings. */
const MIX = [cluster, ...Array(4).fill([placement, replicaSet]).flat(), ...Array(11).fill(settings)];
const kindOf = (i) => MIX[i % MIX.length];
const teamOf = (i) => `team-${Math.floor(i / MIX.length) % TEAMS}`;

export const fileOf = (i) => `teams/${teamOf(i)}/${kindOf(i).name}-${i}.yaml`;
export const manifestOf = (i) => kindOf(i)(i);
/** Numbers of the files that hold placements. */
export const placementsOf = (count) => Array.from({ length: count }, (_, i) => i).filter((i) => kindOf(i) === placement);
/** [path, text] of every file. */
export const filesOf = (count) => Array.from({ length: count }, (_, i) => [fileOf(i), manifestOf(i)]);

/** The cluster sets, and their bindings in each namespace that holds placements, without which nothing is selected. */
export function setFiles() {
  const sets = ['prod', 'edge'];
  const set = (name) => `apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: ${name}}\n`;
  const binding = (name, team) =>
    `apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\nmetadata: {name: ${name}, namespace: team-${team}}\nspec: {clusterSet: ${name}}\n`;
  const bindings = Array.from({ length: TEAMS }, (_, team) => sets.map((name) => binding(name, team))).flat();
  return [['sets/sets.yaml', sets.map(set).join('---\n')], ['sets/bindings.yaml', bindings.join('---\n')]];
}

function placement(i) {
  return `# Placement of service ${i}\napiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata:\n  name: service-${i}\n  namespace: ${teamOf(i)}\n  labels:\n    app.kubernetes.io/name: service-${i}\n    app.kubernetes.io/part-of: shop\n  annotations:\n    example.com/owner: "${teamOf(i)}: on call"\nspec:\n  clusterSets:\n    - prod\n    - edge\n  numberOfClusters: ${(i % 9) + 1}\n  predicates:\n    - requiredClusterSelector:\n        labelSelector:\n          matchLabels:\n            cloud: Amazon\n          matchExpressions:\n            - key: region\n              operator: In\n              values: [eu-west-1, eu-central-1, us-east-1]\n        claimSelector:\n          matchExpressions:\n            - key: platform.open-cluster-management.io\n              operator: In\n              values:\n                - AWS\n  prioritizerPolicy:\n    mode: Additive\n    configurations:\n      - scoreCoordinate:\n          type: BuiltIn\n          builtIn: ResourceAllocatableMemory\n        weight: 2\n  tolerations:\n    - key: maintenance\n      operator: Exists\n      tolerationSeconds: 300\n`;
}
function cluster(i) {
  return `apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata:\n  name: cluster-${i}\n  labels:\n    cluster.open-cluster-management.io/clusterset: prod\n    cloud: Amazon\n    region: eu-west-1\n    tier: gold\nspec:\n  hubAcceptsClient: true\n  leaseDurationSeconds: 60\nstatus:\n  version:\n    kubernetes: v1.31.0\n  allocatable:\n    cpu: "64"\n    memory: 256Gi\n  capacity:\n    cpu: "64"\n    memory: 256Gi\n  clusterClaims:\n    - name: platform.open-cluster-management.io\n      value: AWS\n    - name: id.k8s.io\n      value: cluster-${i}-id\n  conditions:\n    - type: ManagedClusterConditionAvailable\n      status: "True"\n      reason: ManagedClusterAvailable\n      message: Managed cluster is available\n      lastTransitionTime: "2026-03-01T11:00:00Z"\n`;
}
function replicaSet(i) {
  return `apiVersion: work.open-cluster-management.io/v1alpha1\nkind: ManifestWorkReplicaSet\nmetadata:\n  name: service-${i}\n  namespace: ${teamOf(i)}\nspec:\n  placementRefs:\n    - name: service-${i - 1}\n      rolloutStrategy:\n        type: Progressive\n        progressive:\n          maxConcurrency: 25%\n          minSuccessTime: 5m\n          progressDeadline: 10m\n  manifestWorkTemplate:\n    workload:\n      manifests:\n        - apiVersion: apps/v1\n          kind: Deployment\n          metadata:\n            name: service-${i}\n            namespace: shop\n          spec:\n            replicas: 3\n            selector:\n              matchLabels:\n                app: service-${i}\n            template:\n              metadata:\n                labels:\n                  app: service-${i}\n              spec:\n                containers:\n                  - name: main\n                    image: registry.example/shop/service-${i}:v1.2.3\n                    ports:\n                      - containerPort: 8080\n                    resources:\n                      requests:\n                        cpu: 100m\n                        memory: 128Mi\n`;
}
function settings(i) {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-${i}\n  namespace: ${teamOf(i)}\ndata:\n  LOG_LEVEL: info\n  settings.yaml: |\n    listen: 0.0.0.0:8080\n    features:\n      - search\n      - checkout\n  MOTD: 'it''s a "good" day'\n`;
}

let counter = 0;
/** Commits files ([path, text]) to the main branch of a bare repository, on top of `parent`; answers the commit's id. */
export function commitFiles(gitDir, files, parent) {
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_DIR: gitDir };
  const parts = [`commit refs/heads/main\ncommitter A <a@b> ${1_700_000_000 + counter++} +0000\ndata 4\nFile\n`, parent ? `from ${parent}\n` : ''];
  for (const [name, text] of files) parts.push(`M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
  execFileSync('git', ['fast-import', '--quiet', '--force'], { env, input: `${parts.join('')}\n`, maxBuffer: 1 << 30 });
  return execFileSync('git', ['rev-parse', 'refs/heads/main'], { env, encoding: 'utf8' }).trim();
}
