// How long `berth plan` takes on a large repository: one placement edited, one cluster drained. From the start of the process to its exit.
// Usage: npm run build && node test/bench/previews.bench.mjs [CLUSTERS [PLACEMENTS [FILES [SETS]]]]
// BENCH_PREVIEWS_DIR keeps the repository between runs; BENCH_PREVIEWS_RUNS is the number of measured runs (default 3).
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commitFiles } from './gen-repository.mjs';

const [clusters, placements, files, sets] = [10_000, 1_000, 20_000, 500].map((size, at) => Number(process.argv[at + 2] ?? size));
const RUNS = Number(process.env.BENCH_PREVIEWS_RUNS ?? 3);
const BERTH = fileURLToPath(new URL('../../dist/src/app/cli/main.js', import.meta.url));
const CLUSTER = 'cluster.open-cluster-management.io';
const TEAMS = 50;
const REGIONS = ['eu-west-1', 'eu-central-1', 'us-east-1', 'us-west-2', 'ap-south-1'];
const TIERS = ['gold', 'silver', 'bronze', 'test'];
const team = (i) => `team-${i % TEAMS}`;
/** The generator of Argo CD sees the decisions of its own namespace: the placements of ApplicationSets are there. */
const home = (i) => (i < sets ? 'argocd' : team(i));

const cluster = (i) =>
  `apiVersion: ${CLUSTER}/v1\nkind: ManagedCluster\nmetadata:\n  name: cluster-${i}\n  labels:\n    ${CLUSTER}/clusterset: prod\n    region: ${REGIONS[i % 5]}\n    tier: ${TIERS[Math.floor(i / 5) % 4]}\nspec:\n  hubAcceptsClient: true\nstatus:\n  version:\n    kubernetes: v1.31.0\n  clusterClaims:\n    - name: platform.open-cluster-management.io\n      value: AWS\n`;
// Nine of ten ask for one to nine clusters of a region, one for all of a region: 2,000 of 10,000.
const placement = (i, more = 0) =>
  `apiVersion: ${CLUSTER}/v1beta1\nkind: Placement\nmetadata:\n  name: app-${i}\n  namespace: ${home(i)}\nspec:\n  clusterSets: [prod]\n${i % 10 === 0 ? '' : `  numberOfClusters: ${(i % 9) + 1 + more}\n`}  predicates:\n    - requiredClusterSelector:\n        labelSelector:\n          matchLabels:\n            region: ${REGIONS[Math.floor(i / 10) % 5]}\n`;
const applicationSet = (i) =>
  `apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata:\n  name: app-${i}\n  namespace: argocd\nspec:\n  goTemplate: true\n  generators:\n    - clusterDecisionResource:\n        configMapRef: berth-decisions\n        labelSelector:\n          matchLabels:\n            ${CLUSTER}/placement: app-${i}\n        requeueAfterSeconds: 1800\n  template:\n    metadata:\n      name: 'app-${i}-{{ .name }}'\n    spec:\n      project: default\n      source:\n        repoURL: https://git.example.org/${team(i)}/app-${i}.git\n        targetRevision: HEAD\n        path: 'deploy/{{ .clusterName }}'\n        helm:\n          releaseName: app-${i}\n          valuesObject:\n            replicas: 3\n            cluster: '{{ .name }}'\n      destination:\n        server: '{{ .server }}'\n        namespace: app-${i}\n      syncPolicy:\n        automated:\n          prune: true\n          selfHeal: true\n`;
const settings = (i) =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-${i}\n  namespace: ${team(i)}\ndata:\n  LOG_LEVEL: info\n  settings.yaml: |\n    listen: 0.0.0.0:8080\n    features:\n      - search\n      - checkout\n`;

function* allFiles() {
  const bindings = ['argocd', ...Array.from({ length: TEAMS }, (_, i) => team(i))].map((namespace) => `apiVersion: ${CLUSTER}/v1beta2\nkind: ManagedClusterSetBinding\nmetadata: {name: prod, namespace: ${namespace}}\nspec: {clusterSet: prod}\n`);
  yield ['sets/prod.yaml', `apiVersion: ${CLUSTER}/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: prod}\n`];
  yield ['sets/bindings.yaml', bindings.join('---\n')];
  for (let i = 0; i < clusters; i++) yield [`clusters/cluster-${i}.yaml`, cluster(i)];
  for (let i = 0; i < placements; i++) yield [`teams/${team(i)}/placement-${i}.yaml`, placement(i)];
  for (let i = 0; i < sets; i++) yield [`teams/${team(i)}/application-set-${i}.yaml`, applicationSet(i)];
  for (let i = 0; i < files - 2 - clusters - placements - sets; i++) yield [`teams/${team(i)}/settings-${i}.yaml`, settings(i)];
}

const folder = process.env.BENCH_PREVIEWS_DIR ?? mkdtempSync(join(tmpdir(), 'berth-previews-'));
const repo = join(folder, 'fleet.git');
if (!existsSync(repo)) {
  mkdirSync(folder, { recursive: true });
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', repo]);
  const base = commitFiles(repo, [...allFiles()]);
  execFileSync('git', ['--git-dir', repo, 'branch', 'base', base]);
  commitFiles(repo, [[`teams/${team(11)}/placement-11.yaml`, placement(11, 2)]], base);
}

/** @returns seconds, those of processor time in all threads, and MiB of the largest resident set */
async function run(words) {
  const start = performance.now();
  const child = spawn('/usr/bin/env', ['time', '-f', 'rss %M cpu %U %S', process.execPath, ...(process.env.BENCH_NODE_FLAGS?.split(' ') ?? []), BERTH, 'plan', '--repo', repo, '-o', 'json', ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = [[], []];
  child.stdout.on('data', (chunk) => out.push(chunk));
  child.stderr.on('data', (chunk) => err.push(chunk));
  const code = await new Promise((resolve) => child.on('close', resolve));
  const seconds = (performance.now() - start) / 1000;
  const errors = Buffer.concat(err).toString();
  if (![0, 2, 3].includes(code)) throw new Error(errors);
  const plan = JSON.parse(Buffer.concat(out).toString());
  const [, kib, user, system] = /rss (\d+) cpu ([\d.]+) ([\d.]+)/.exec(errors) ?? [];
  return { seconds, cpu: Number(user) + Number(system), rss: Number(kib) / 1024, plan };
}

const report = (name, { seconds, cpu, rss, plan }) => {
  const applications = plan.applications.reduce((sum, { applications: list }) => sum + list.length, 0);
  console.log(`${name.padEnd(22)} ${seconds.toFixed(1).padStart(6)} s (CPU ${cpu.toFixed(1)} s) ${rss.toFixed(0).padStart(6)} MiB   ${plan.placements.length} placements, ${applications} applications of ${plan.applications.length} sets change`);
};

console.log(`${clusters} clusters x ${placements} placements x ${files} files x ${sets} ApplicationSets, Node.js ${process.version}`);
const edited = ['--base', 'base', '--head', 'main'];
const drained = ['--base', 'base', '--head', 'base', '--drain', 'cluster-5'];
for (const [name, words] of [['one placement edited', edited], ['one cluster drained', drained]]) {
  if (process.env.BENCH_PREVIEWS_ONLY && !name.includes(process.env.BENCH_PREVIEWS_ONLY)) continue;
  for (let i = 0; i < RUNS; i++) report(name, await run(words));
}
if (process.env.BENCH_PREVIEWS_DIR === undefined) rmSync(folder, { recursive: true, force: true });
