// Many agents in one process against the embedded hub with as many member clusters in another process.
//   npm run build:modules && node test/bench/agent.bench.mjs [CLUSTERS=1000] [WORKS=10]
// Prints: time until every work is Applied, CPU and memory of both processes, latency of status changes until they are on the hub,
// the requests made in a minute at rest, and what a hub that is killed and started again costs.
import { fork } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { systemClock as clock } from '../../.cache/modules/packages/runtime/src/clock/system-clock.js';
import { HttpKubeApi } from '../../.cache/modules/packages/kube/src/http-kube-api.js';
import { loadKubeConfig } from '../../.cache/modules/packages/kube/src/config/load-kube-config.js';
import { startAgent } from '../../.cache/modules/packages/agent/src/start-agent.js';
import { MANIFEST_WORK } from '../../.cache/modules/packages/kube/src/model/kinds.js';

const SILENT = { debug() {}, info() {}, warn() {}, error: console.error, child: () => SILENT };
const NAMESPACE = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const DEPLOYMENT = { group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments', namespaced: true };
const nameOf = (index) => `c${String(index).padStart(4, '0')}`;

async function runHub(dataDir, clusters, port) {
  const { startHub } = await import('../../.cache/modules/packages/embedded-hub/src/start-hub.js');
  const { OCM_HUB_KINDS: kinds } = await import('../../.cache/modules/packages/ocm/src/definition/ocm-crds.js');
  const members = Array.from({ length: clusters }, (_, index) => nameOf(index));
  const hub = await startHub({ dataDir, kinds, members, listen: { port } });
  process.on('message', async (message) => {
    if (message === 'usage') process.send({ cpu: process.cpuUsage(), rss: process.memoryUsage().rss });
    if (message === 'stop') {
      await hub.close();
      process.exit(0);
    }
  });
  process.send({ port: hub.port, kubeconfig: hub.adminKubeconfigPath, members: members.map((name) => hub.memberKubeconfigPath(name)) });
}

async function main(clusters, works) {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-bench-'));
  const start = (port) => fork(new URL(import.meta.url).pathname, ['--hub', dataDir, String(clusters), String(port)]);
  let child = start(0);
  const stop = async () => {
    child.send('stop');
    await new Promise((resolve) => child.once('exit', resolve));
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const began = performance.now();
    const { kubeconfig, members, port } = await answer(child);
    say(`hub with ${clusters} members ready after ${seconds(began)} s`);
    const restartHub = async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
      child = start(port);
      await answer(child);
    };
    await measure({ child, clusters, works, kubeconfig, members, restartHub });
  } finally {
    await stop();
  }
}

async function measure({ child, clusters, works, kubeconfig, members, restartHub }) {
  const hub = new HttpKubeApi({ config: loadKubeConfig({ file: kubeconfig }), clock, maxRequests: 64 });
  const began = performance.now();
  await inParallel(clusters, 32, async (index) => {
    await hub.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: nameOf(index) } });
    for (let work = 0; work < works; work++) await hub.create(MANIFEST_WORK, workOf(nameOf(index), work));
  });
  say(`${clusters * works} works written in ${seconds(began)} s`);

  const counter = new Map();
  const apis = members.map((file) =>
    counting(new HttpKubeApi({ config: loadKubeConfig({ file }), clock, maxRequests: 2 }), 'member', counter),
  );
  const counted = counting(hub, 'hub', counter);
  const watcher = watchHub(hub);
  await watcher.ready;
  const profile = await startProfile();
  const cpu = process.cpuUsage();
  const hubBefore = await usage(child);
  const startedAt = performance.now();
  const agents = apis.map((cluster, index) =>
    startAgent({ hub: counted, cluster, clusterName: nameOf(index), clock, log: SILENT, workers: 2 }),
  );
  await watcher.until(() => watcher.applied.size === clusters * works, 600_000);
  const spent = process.cpuUsage(cpu);
  await profile.stop();
  const hubAfter = await usage(child);
  say(`all ${clusters * works} works Applied after ${seconds(startedAt)} s (target 60 s)`);
  say(`  agents: ${ms(spent)} s CPU, ${mib(process.memoryUsage().rss)} MiB; hub and members: ${((hubAfter.cpu.user + hubAfter.cpu.system - hubBefore.cpu.user - hubBefore.cpu.system) / 1e6).toFixed(1)} s CPU, ${mib(hubAfter.rss)} MiB`);
  say('  requests per work:');
  for (const [request, count] of [...counter].sort(([a], [b]) => (a < b ? -1 : 1)))
    say(`    ${request}: ${(count / clusters / works).toFixed(2)}`);

  await sleep(5_000);
  await latencies({ watcher, apis, clusters, works });

  await sleep(5_000);
  counter.clear();
  const restMs = Number(process.env.REST_MS ?? 60_000);
  await sleep(restMs);
  say(`at rest, ${restMs / 1000} s: ${[...counter].map(([request, count]) => `${count} × ${request}`).join(', ') || 'no requests'}`);
  await restart({ restartHub, watcher, apis, clusters, works, counter });
  say(`memory of the agents' process: ${mib(process.memoryUsage().rss)} MiB (target 1536)`);
  await Promise.all(agents.map((agent) => agent.close()));
  watcher.close();
  for (const api of [...apis, counted]) api.close();
}

/** The hub and all members go at once and come back. How long until a change on every member is on the hub again, and at what cost? */
async function restart({ restartHub, watcher, apis, clusters, works, counter }) {
  counter.clear();
  const cpu = process.cpuUsage();
  await restartHub();
  const backAt = performance.now();
  const open = new Set();
  await inParallel(clusters, 8, async (index) => {
    open.add(index);
    const key = { namespace: 'default', name: `d${index % works}` };
    const seen = watcher.feedback(`${nameOf(index)}/w${index % works}`, 7777);
    const change = () => apis[index].mergePatch(DEPLOYMENT, key, { status: { readyReplicas: 7777, replicas: 7777 } }, { subresource: 'status' });
    for (let tries = 0; tries < 50; tries++) if (await change().then(() => true, () => sleep(200))) break;
    void seen.then(() => open.delete(index));
  });
  await watcher.until(() => open.size === 0, 120_000);
  say(`hub killed and started again: every cluster current ${seconds(backAt)} s after it served, ${ms(process.cpuUsage(cpu))} s CPU`);
  for (const [request, count] of [...counter].sort(([a], [b]) => (a < b ? -1 : 1))) say(`    ${count} × ${request}`);
}

/** A status changes on a member; how long until the hub knows? 50 changes a second, spread over the fleet. */
async function latencies({ watcher, apis, clusters, works }) {
  const samples = [];
  const rounds = 500;
  for (let round = 0; round < rounds; round++) {
    const index = (round * 7919) % clusters;
    const work = round % works;
    const value = 1000 + round;
    const seen = watcher.feedback(`${nameOf(index)}/w${work}`, value);
    const at = performance.now();
    await apis[index].mergePatch(
      DEPLOYMENT,
      { namespace: 'default', name: `d${work}` },
      { status: { readyReplicas: value, replicas: value } },
      { subresource: 'status' },
    );
    void seen.then(() => samples.push(performance.now() - at));
    await sleep(20);
  }
  await watcher.until(() => samples.length === rounds, 60_000);
  samples.sort((a, b) => a - b);
  const at = (share) => Math.round(samples[Math.floor(samples.length * share)] ?? samples.at(-1));
  say(`status change to hub: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${Math.round(samples.at(-1))} ms (target p99 2000)`);
}

function workOf(namespace, index) {
  const labels = { app: `d${index}` };
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: `d${index}`, namespace: 'default' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'registry.example.com/c:1' }] } },
    },
  };
  return {
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { name: `w${index}`, namespace },
    spec: {
      workload: { manifests: [deployment] },
      manifestConfigs: [
        {
          resourceIdentifier: { group: 'apps', resource: 'deployments', name: `d${index}`, namespace: 'default' },
          feedbackRules: [{ type: 'WellKnownStatus' }],
        },
      ],
    },
  };
}

/** The hub as its users see it: one watch over all works. */
function watchHub(hub) {
  const stop = new AbortController();
  const applied = new Set();
  const waiting = new Map();
  const ready = hub.list(MANIFEST_WORK).then(({ resourceVersion }) => {
    void follow(resourceVersion);
  });
  async function follow(resourceVersion) {
    let at = resourceVersion;
    while (!stop.signal.aborted) {
      try {
        for await (const event of hub.watch(MANIFEST_WORK, { resourceVersion: at, signal: stop.signal })) at = take(event);
      } catch {
        await sleep(100);
      }
    }
  }
  function take(event) {
    if (event.type === 'bookmark') return event.resourceVersion;
    const { metadata, status } = event.object;
    const key = `${metadata.namespace}/${metadata.name}`;
    if (status?.conditions?.some(({ type, status: is }) => type === 'Applied' && is === 'True')) applied.add(key);
    const ready = status?.resourceStatus?.manifests?.[0]?.statusFeedback?.values?.find(({ name }) => name === 'ReadyReplicas');
    const wait = waiting.get(`${key} ${ready?.fieldValue.integer}`);
    wait?.();
    return metadata.resourceVersion;
  }
  return {
    ready,
    applied,
    feedback: (key, value) => new Promise((resolve) => waiting.set(`${key} ${value}`, resolve)),
    until: async (done, limitMs) => {
      const deadline = performance.now() + limitMs;
      while (!done()) {
        if (performance.now() > deadline) throw new Error(`not there after ${limitMs} ms: ${applied.size} applied`);
        await sleep(50);
      }
    },
    close: () => stop.abort(),
  };
}

/** Counts requests by side, verb and resource; pages of a list count once. */
function counting(api, side, counter) {
  const count = (verb, call) =>
    (kind, ...args) => {
      const subresource = args.at(-1)?.subresource === undefined ? '' : `/${args.at(-1).subresource}`;
      const key = `${side} ${verb} ${typeof kind === 'string' ? kind : kind.plural}${subresource}`;
      counter.set(key, (counter.get(key) ?? 0) + 1);
      return call.call(api, kind, ...args);
    };
  return {
    server: api.server,
    get: count('get', api.get),
    list: count('list', api.list),
    watch: count('watch', api.watch),
    // Answered from memory but for the first time.
    resolve: api.resolve.bind(api),
    create: count('create', api.create),
    update: count('update', api.update),
    mergePatch: count('patch', api.mergePatch),
    apply: count('apply', api.apply),
    delete: count('delete', api.delete),
    close: () => api.close(),
  };
}

/** PROFILE=file: a CPU profile of the agents' process while the works are applied. */
async function startProfile() {
  const file = process.env.PROFILE;
  if (file === undefined) return { stop: async () => undefined };
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  return {
    stop: async () => {
      const { profile } = await session.post('Profiler.stop');
      await writeFile(file, JSON.stringify(profile));
    },
  };
}

async function inParallel(total, width, task) {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < total) await task(next++);
    }),
  );
}

const answer = (child) => new Promise((resolve) => child.once('message', resolve));
const usage = (child) => {
  child.send('usage');
  return answer(child);
};
const sleep = (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs));
const seconds = (since) => ((performance.now() - since) / 1000).toFixed(1);
const ms = ({ user, system }) => ((user + system) / 1e6).toFixed(1);
const mib = (bytes) => Math.round(bytes / 2 ** 20);
const say = (text) => console.log(text);

if (process.argv[2] === '--hub') await runHub(process.argv[3], Number(process.argv[4]), Number(process.argv[5]));
else await main(Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 10));
