// Ingest against bare git, side by side in one run: `npm run build && node test/bench/ingest.bench.mjs [FILES]`
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import yaml from 'js-yaml';
import { GitProgramMirror } from '../../dist/src/adapters/git/git-program-mirror.js';
import { FleetReader } from '../../dist/src/app/fleet/fleet-reader.js';
import { openFleetSource } from '../../dist/src/app/fleet/fleet-source.js';

const FILES = Number(process.argv[2] ?? 20_000);
const root = mkdtempSync(path.join(os.tmpdir(), 'berth-bench-'));
const origin = path.join(root, 'origin.git');
const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_DIR: origin };
const git = (...args) => execFileSync('git', args, { env, encoding: 'utf8', maxBuffer: 1 << 28 }).trim();
execFileSync('git', ['init', '-q', '--bare', '-b', 'main', origin]);

const fileOf = (i) => `teams/team-${i % 200}/${KINDS[i % KINDS.length].name}-${i}.yaml`;
const KINDS = [placement, cluster, replicaSet, configMap];
function placement(i) {
  return `# Placement of service ${i}\napiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata:\n  name: service-${i}\n  namespace: team-${i % 200}\n  labels:\n    app.kubernetes.io/name: service-${i}\n    app.kubernetes.io/part-of: shop\n  annotations:\n    example.com/owner: "team ${i % 200}: on call"\nspec:\n  clusterSets:\n    - prod\n    - edge\n  numberOfClusters: ${(i % 9) + 1}\n  predicates:\n    - requiredClusterSelector:\n        labelSelector:\n          matchLabels:\n            cloud: Amazon\n          matchExpressions:\n            - key: region\n              operator: In\n              values: [eu-west-1, eu-central-1, us-east-1]\n        claimSelector:\n          matchExpressions:\n            - key: platform.open-cluster-management.io\n              operator: In\n              values:\n                - AWS\n  prioritizerPolicy:\n    mode: Additive\n    configurations:\n      - scoreCoordinate:\n          type: BuiltIn\n          builtIn: ResourceAllocatableMemory\n        weight: 2\n  tolerations:\n    - key: maintenance\n      operator: Exists\n      tolerationSeconds: 300\n`;
}
function cluster(i) {
  return `apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata:\n  name: cluster-${i}\n  labels:\n    cluster.open-cluster-management.io/clusterset: prod\n    cloud: Amazon\n    region: eu-west-1\n    tier: gold\nspec:\n  hubAcceptsClient: true\n  leaseDurationSeconds: 60\nstatus:\n  version:\n    kubernetes: v1.31.0\n  allocatable:\n    cpu: "64"\n    memory: 256Gi\n  capacity:\n    cpu: "64"\n    memory: 256Gi\n  clusterClaims:\n    - name: platform.open-cluster-management.io\n      value: AWS\n    - name: id.k8s.io\n      value: cluster-${i}-id\n  conditions:\n    - type: ManagedClusterConditionAvailable\n      status: "True"\n      reason: ManagedClusterAvailable\n      message: Managed cluster is available\n      lastTransitionTime: "2026-03-01T11:00:00Z"\n`;
}
function replicaSet(i) {
  return `apiVersion: work.open-cluster-management.io/v1alpha1\nkind: ManifestWorkReplicaSet\nmetadata:\n  name: service-${i}\n  namespace: team-${i % 200}\nspec:\n  placementRefs:\n    - name: service-${i - 2}\n      rolloutStrategy:\n        type: Progressive\n        progressive:\n          maxConcurrency: 25%\n          minSuccessTime: 5m\n          progressDeadline: 10m\n  manifestWorkTemplate:\n    workload:\n      manifests:\n        - apiVersion: apps/v1\n          kind: Deployment\n          metadata:\n            name: service-${i}\n            namespace: shop\n          spec:\n            replicas: 3\n            selector:\n              matchLabels:\n                app: service-${i}\n            template:\n              metadata:\n                labels:\n                  app: service-${i}\n              spec:\n                containers:\n                  - name: main\n                    image: registry.example/shop/service-${i}:v1.2.3\n                    ports:\n                      - containerPort: 8080\n                    resources:\n                      requests:\n                        cpu: 100m\n                        memory: 128Mi\n`;
}
function configMap(i) {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-${i}\n  namespace: team-${i % 200}\ndata:\n  LOG_LEVEL: info\n  settings.yaml: |\n    listen: 0.0.0.0:8080\n    features:\n      - search\n      - checkout\n  MOTD: 'it''s a "good" day'\n`;
}
function commit(files, message, parent) {
  const parts = [`commit refs/heads/main\ncommitter A <a@b> ${1_700_000_000 + counter++} +0000\ndata ${message.length}\n${message}\n`, parent ? `from ${parent}\n` : ''];
  for (const [name, text] of files) parts.push(`M 100644 inline ${name}\ndata ${Buffer.byteLength(text)}\n${text}\n`);
  execFileSync('git', ['fast-import', '--quiet', '--force'], { env, input: `${parts.join('')}\n`, maxBuffer: 1 << 30 });
  return git('rev-parse', 'refs/heads/main');
}
let counter = 0;

const all = Array.from({ length: FILES }, (_, i) => [fileOf(i), KINDS[i % KINDS.length](i)]);
let tip = commit(all, 'All');
git('gc', '-q');
const json = all.map(([, text]) => JSON.stringify(yaml.load(text)));
const bytes = all.reduce((sum, [, text]) => sum + text.length, 0);
console.log(`${FILES} files, ${(bytes / 1e6).toFixed(1)} MB of YAML, Node.js ${process.version}`);

const timed = async (action) => {
  const start = performance.now();
  await action();
  return performance.now() - start;
};
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];

function catFileAll(ids) {
  return new Promise((resolve) => {
    const child = spawn('git', ['cat-file', '--batch'], { env });
    child.stdout.on('data', () => undefined);
    child.on('close', resolve);
    child.stdin.end(`${ids.join('\n')}\n`);
  });
}

const mirrorDir = path.join(root, 'mirror.git');
const ambient = process.env;
const mirror = await GitProgramMirror.open({ url: origin, mirrorDir, ambient });
await mirror.fetch({ type: 'branch', name: 'main' });
const ids = (await mirror.listTree(tip)).map(({ id }) => id);

const baseline = [];
const ours = [];
for (let round = 0; round < 5; round++) {
  baseline.push((await timed(() => catFileAll(ids))) + (await timed(async () => json.forEach((text) => JSON.parse(text)))));
  const reader = new FleetReader(mirror);
  let fleet;
  ours.push(await timed(async () => (fleet = await reader.read(tip))));
  if (fleet.objects.length !== FILES || fleet.problems.length > 0) throw new Error(`${fleet.objects.length} objects, ${fleet.problems[0]?.message}`);
}
report('first ingest', median(ours), 'git cat-file --batch + JSON.parse', median(baseline), 2.5);
await mirror.close();

const source = await openFleetSource({ url: origin, mirrorDir: path.join(root, 'm2.git'), ambient, ref: { type: 'branch', name: 'main' } });
await source.fetch();
await source.read();
execFileSync('git', ['clone', '-q', '--bare', origin, path.join(root, 'bare.git')]);
const bareEnv = { ...env, GIT_DIR: path.join(root, 'bare.git') };
const bare = [];
const incremental = [];
for (let round = 0; round < 40; round++) {
  const before = tip;
  const i = (round * 7919) % FILES;
  tip = commit([[all[i][0], all[i][1].replace(/name: (\S+)/, `name: $1\n  generation: ${round + 1}`)]], 'One', before);
  bare.push(await timed(async () => {
    await run(['fetch', '-q', origin, '+refs/heads/main:refs/heads/main'], bareEnv);
    await run(['diff-tree', '-r', before, tip], bareEnv);
  }));
  incremental.push(await timed(async () => {
    await source.fetch();
    const fleet = await source.read();
    if (fleet.objects.length !== FILES) throw new Error(`${fleet.objects.length} objects after a commit: ${fleet.problems[0]?.message}`);
  }));
}
report('a commit of one file, p99', quantile(incremental, 0.99), 'git fetch + git diff-tree, p99', quantile(bare, 0.99), 3);
report('a commit of one file, median', median(incremental), 'git fetch + git diff-tree, median', median(bare), 3);
await source.close();

const again = await timed(async () => {
  const restarted = await openFleetSource({ url: origin, mirrorDir: path.join(root, 'm2.git'), ambient, ref: { type: 'branch', name: 'main' } });
  await restarted.fetch();
  await restarted.read();
  await restarted.close();
});
console.log(`restart with nothing changed: ${again.toFixed(0)} ms (limit 3000)`);
console.log(`peak memory: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`);
rmSync(root, { recursive: true, force: true });

function run(args, environment) {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
    child.stdout.on('data', () => undefined);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`git ${args[0]}: ${code}`))));
  });
}
function report(name, time, against, base, limit) {
  console.log(`${name}: ${time.toFixed(0)} ms; ${against}: ${base.toFixed(0)} ms; ratio ${(time / base).toFixed(2)} (limit ${limit})`);
}
