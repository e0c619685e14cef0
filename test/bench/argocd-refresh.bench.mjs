// From a commit to the Application, with Argo CD's own ApplicationSet controller: Berth's refresh beside polling.
//   npm run build:modules && node test/bench/argocd-refresh.bench.mjs [--sets 200] [--commits 100] [--modes refresh,30,180]
// Each mode gets a fresh embedded hub, `berth serve`, the controller, and `sets` ApplicationSets with the plugin generator, each for a
// placement of its own. A commit adds a cluster to one placement. Mode `refresh`: one commit after the other, each waits for its
// Application; at the end one commit for all placements. Mode `30` and `180`: `requeueAfterSeconds`, without Berth's refresh; the commits
// are spread evenly over one interval, so this takes up to two intervals. Needs the program `argocd` (docs/testing.md).
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../.cache/modules/packages/runtime/src/clock/system-clock.js';
import { loadKubeConfig } from '../../.cache/modules/packages/kube/src/config/load-kube-config.js';
import { HttpKubeApi } from '../../.cache/modules/packages/kube/src/http-kube-api.js';
import { CONFIG_MAP, MANAGED_CLUSTER, PLACEMENT_DECISION } from '../../.cache/modules/packages/kube/src/model/kinds.js';
import { firstLine, startBerth } from './berth-child.mjs';
import { commitFiles } from './gen-repository.mjs';

register('./real-hub/typescript-hook.mjs', import.meta.url);
const { startApplicationSetController } = await import('../interop/peers/applicationset-controller.ts');
const { hasPeers } = await import('../interop/peers/peer-programs.ts');
const argo = await import('../interop/argocd/argo-installation.ts');

const { values } = parseArgs({
  options: {
    sets: { type: 'string', default: '200' },
    commits: { type: 'string', default: '100' },
    modes: { type: 'string', default: 'refresh,30,180' },
  },
});
const SETS = Number(values.sets);
const COMMITS = Math.min(SETS, Number(values.commits));
const MAIN = new URL('../../dist/src/app/cli/main.js', import.meta.url).pathname;
const PORT = 20_000 + (process.pid % 10_000);
const TOKEN = 'a-token-of-the-bench-for-argocd';
const CLUSTER = 'cluster.open-cluster-management.io';
const REFRESH = 'argocd.argoproj.io/application-set-refresh';
const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' };
const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.ceil(list.length * q) - 1)];
const seconds = (ms) => `${(ms / 1000).toFixed(2)} s`;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

if (!hasPeers('argocd')) process.exit(0);
for (const mode of values.modes.split(',')) await measure(mode);
process.exit(0);

async function measure(mode) {
  const root = mkdtempSync(join(tmpdir(), 'berth-bench-'));
  const world = await startWorld(root, mode);
  try {
    const { written, decided } = mode === 'refresh' ? await inTurn(world) : await spread(world, Number(mode) * 1000);
    tell(`${mode === 'refresh' ? 'refresh' : `polling every ${mode} s`}: commit to Application`, written);
    tell(`${mode === 'refresh' ? 'refresh' : `polling every ${mode} s`}: commit to decision`, decided);
    if (mode === 'refresh') tell(`refresh: one commit for all ${SETS}: commit to Application`, await allAtOnce(world));
  } finally {
    await world.stop();
    rmSync(root, { recursive: true, force: true });
  }
}

function tell(what, list) {
  const figures = [['p50', 0.5], ['p99', 0.99], ['most', 1]].map(([name, q]) => `${name} ${seconds(quantile(list, q))}`);
  console.log(`${what} (${list.length} of ${SETS} ApplicationSets): ${figures.join(', ')}`);
}

/** One commit after the other. */
async function inTurn(world) {
  const [written, decided] = [[], []];
  for (let i = 0; i < COMMITS; i++) {
    const seen = await world.move([i], 2);
    written.push(await seen.written[0]);
    decided.push(await seen.decided[0]);
    await pause(200);
  }
  return { written, decided };
}

/** Evenly over one interval: a commit meets a poll at any point. */
async function spread(world, intervalMs) {
  const seen = [];
  for (let i = 0; i < COMMITS; i++) {
    const startedAt = performance.now();
    seen.push(await world.move([i], 2));
    await pause(Math.max(0, intervalMs / COMMITS - (performance.now() - startedAt)));
  }
  return {
    written: await Promise.all(seen.flatMap((one) => one.written)),
    decided: await Promise.all(seen.flatMap((one) => one.decided)),
  };
}

async function allAtOnce(world) {
  const seen = await world.move(Array.from({ length: SETS }, (_, i) => i), 3);
  return Promise.all(seen.written);
}

async function startWorld(root, mode) {
  const origin = join(root, 'origin.git');
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', origin], { env });
  writeFileSync(join(root, 'secret'), 'bench\n');
  writeFileSync(join(root, 'tokens'), `${TOKEN}\n`);
  let tip = commitFiles(origin, [['fleet.yaml', fleet()], ...Array.from({ length: SETS }, (_, i) => [`p${i}.yaml`, placement(i, 1)])]);
  const hub = start(['hub', '--data', join(root, 'hub'), '--listen', '127.0.0.1:0']);
  const kubeconfig = await firstLine(hub);
  const api = new HttpKubeApi({ config: loadKubeConfig({ file: kubeconfig }), clock: systemClock });
  await argo.installArgo(api);
  for (let n = 1; n <= 3; n++) await api.create(argo.SECRET, argo.clusterSecret(`c${n}`));
  for (const kind of [argo.APP_PROJECT, argo.APPLICATION_SET, argo.APPLICATION]) await untilListed(api, kind);
  await api.create(argo.APP_PROJECT, argo.PROJECT);
  await api.create(argo.SECRET, argo.inArgo('v1', 'Secret', 'berth-plugin', { stringData: { token: TOKEN } }));
  const data = { baseUrl: `http://127.0.0.1:${PORT}`, token: '$berth-plugin:token', requestTimeout: '10' };
  await api.create(CONFIG_MAP, argo.inArgo('v1', 'ConfigMap', 'berth', { data }));
  const serve = await startServe(root, origin, kubeconfig, mode === 'refresh' ? ['--argocd-refresh'] : []);
  await until(async () => (await api.list(PLACEMENT_DECISION)).items.length === SETS && (await api.list(MANAGED_CLUSTER)).items.length === 3);
  for (let i = 0; i < SETS; i++) await api.create(argo.APPLICATION_SET, applicationSet(i, mode === 'refresh' ? 1800 : Number(mode)));
  mkdirSync(join(root, 'argocd'));
  const controller = await startApplicationSetController(join(root, 'argocd'), kubeconfig);
  await until(async () => (await api.list(argo.APPLICATION)).items.length === SETS);
  // What a new ApplicationSet sets off is over before anything is measured.
  await until(async () => (await api.list(argo.APPLICATION_SET)).items.every(({ metadata }) => metadata.annotations?.[REFRESH] === undefined));
  await pause(5_000);
  const applications = follow(api, argo.APPLICATION, ({ metadata }) => [metadata.name]);
  const decisions = follow(api, PLACEMENT_DECISION, ({ metadata, status }) =>
    (status?.decisions ?? []).map(({ clusterName }) => `${metadata.labels[`${CLUSTER}/placement`].replace('p', 's')}-${clusterName}`),
  );
  await Promise.all([applications.ready, decisions.ready]);
  return {
    /** Adds cluster `c<count>` to these placements with one commit; milliseconds since the commit until each is seen. */
    async move(indexes, count) {
      const keys = indexes.map((i) => `s${i}-c${count}`);
      const [seen, published] = [keys.map(applications.next), keys.map(decisions.next)];
      tip = commitFiles(origin, indexes.map((i) => [`p${i}.yaml`, placement(i, count)]), tip);
      const startedAt = performance.now();
      await trigger(origin);
      const since = async (at) => (await at) - startedAt;
      return { written: seen.map(since), decided: published.map(since) };
    },
    async stop() {
      await controller.stop();
      for (const one of [applications, decisions]) one.stop();
      await serve.stop();
      api.close();
      await hub.stop();
    },
  };
}

function fleet() {
  const clusters = [1, 2, 3].map((n) => ({
    apiVersion: `${CLUSTER}/v1`,
    kind: 'ManagedCluster',
    metadata: { name: `c${n}`, labels: { [`${CLUSTER}/clusterset`]: 'prod', name: `c${n}` } },
    spec: { hubAcceptsClient: true },
  }));
  const set = { apiVersion: `${CLUSTER}/v1beta2`, kind: 'ManagedClusterSet', metadata: { name: 'prod' }, spec: {} };
  const binding = { apiVersion: `${CLUSTER}/v1beta2`, kind: 'ManagedClusterSetBinding', metadata: { name: 'prod', namespace: 'team-a' }, spec: { clusterSet: 'prod' } };
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } };
  return documents(namespace, set, binding, ...clusters);
}

function placement(i, count) {
  const values = Array.from({ length: count }, (_, n) => `c${n + 1}`);
  const labelSelector = { matchExpressions: [{ key: 'name', operator: 'In', values }] };
  return documents({
    apiVersion: `${CLUSTER}/v1beta1`,
    kind: 'Placement',
    metadata: { name: `p${i}`, namespace: 'team-a' },
    spec: { clusterSets: ['prod'], predicates: [{ requiredClusterSelector: { labelSelector } }] },
  });
}

/** JSON is YAML. */
function documents(...objects) {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('---\n');
}

function applicationSet(i, requeueAfterSeconds) {
  const input = { parameters: { placement: `team-a/p${i}` } };
  return {
    apiVersion: 'argoproj.io/v1alpha1',
    kind: 'ApplicationSet',
    metadata: { name: `s${i}`, namespace: argo.ARGO_NAMESPACE },
    spec: {
      goTemplate: true,
      generators: [{ plugin: { configMapRef: { name: 'berth' }, input, requeueAfterSeconds } }],
      template: {
        metadata: { name: `s${i}-{{ .clusterName }}` },
        spec: {
          project: 'default',
          source: { repoURL: 'https://git.example.org/apps.git', targetRevision: 'main', path: 'web' },
          destination: { name: '{{ .name }}', namespace: 'web' },
        },
      },
    },
  };
}

/** When an object first shows a key. */
function follow(api, kind, keysOf) {
  const waiting = new Map();
  const stop = new AbortController();
  const see = (object) => {
    for (const key of keysOf(object)) {
      waiting.get(key)?.(performance.now());
      waiting.delete(key);
    }
  };
  const ready = api.list(kind).then((list) => {
    void (async () => {
      // A server ends each watch after some minutes.
      for (let { resourceVersion } = list; !stop.signal.aborted; )
        for await (const event of api.watch(kind, { resourceVersion, signal: stop.signal })) {
          resourceVersion = event.object?.metadata.resourceVersion ?? event.resourceVersion;
          if (event.object !== undefined) see(event.object);
        }
    })().catch((error) => stop.signal.aborted || console.error(error));
  });
  return { ready, next: (key) => new Promise((resolve) => waiting.set(key, resolve)), stop: () => stop.abort() };
}

function start(args) {
  return startBerth(MAIN, args);
}

async function startServe(root, origin, kubeconfig, flags) {
  const serve = start([
    ...['serve', '--repo', origin, '--ref', 'main', '--kubeconfig', kubeconfig, '--data', join(root, 'serve'), '--embedded', '--no-works'],
    ...['--listen', `127.0.0.1:${PORT}`, '--token-file', join(root, 'tokens'), '--webhook', `generic=${join(root, 'secret')}`, '--poll', '10m', ...flags],
  ]);
  let text = '';
  serve.child.stderr.on('data', (chunk) => (text = (text + chunk).slice(-20_000)));
  serve.child.once('exit', (code) => code === 0 || console.error(`serve ended with ${code}: ${text}`));
  await until(async () => (await fetch(`http://127.0.0.1:${PORT}/readyz`)).ok);
  return serve;
}

async function trigger(origin) {
  const body = JSON.stringify({ repository: `file://${origin}`, ref: 'refs/heads/main' });
  const signature = createHmac('sha256', 'bench').update(body).digest('hex');
  const answer = await fetch(`http://127.0.0.1:${PORT}/webhooks/generic`, { method: 'POST', headers: { 'x-signature-256': `sha256=${signature}` }, body });
  if (answer.status !== 202) throw new Error(`webhook: ${answer.status} ${await answer.text()}`);
}

async function untilListed(api, kind) {
  await until(async () => (await api.list(kind)) !== undefined);
}

async function until(holds) {
  while (!(await holds().catch(() => false))) await pause(200);
}
