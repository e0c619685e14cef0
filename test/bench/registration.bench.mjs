// Many agents in one process that register their clusters and keep them registered, against the embedded hub with as many members in
// another process. Each agent has a certificate and connections of its own, as in hosted mode.
//   npm run build:modules && node test/bench/registration.bench.mjs [CLUSTERS=1000] [REST_SECONDS=120]
// Prints: time until all have joined, then CPU and memory of both processes and requests while all are joined, per minute.
import { fork } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { systemClock as clock } from '../../.cache/modules/packages/runtime/src/clock/system-clock.js';
import { loadKubeConfig } from '../../.cache/modules/packages/kube/src/config/load-kube-config.js';
import { HttpKubeApi } from '../../.cache/modules/packages/kube/src/http-kube-api.js';
import { runRegistration } from '../../.cache/modules/packages/agent/src/registration/run-registration.js';
import { startAgent } from '../../.cache/modules/packages/agent/src/start-agent.js';
import { CERTIFICATE_REQUEST, LEASE, MANAGED_CLUSTER, MANIFEST_WORK, NAMESPACE } from '../../.cache/modules/packages/kube/src/model/kinds.js';

const SILENT = { debug() {}, info() {}, warn() {}, error: console.error, child: () => SILENT };
const nameOf = (index) => `c${String(index).padStart(4, '0')}`;
const BINDING = { group: 'rbac.authorization.k8s.io', version: 'v1', kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', namespaced: false };

async function runHub(dataDir, clusters) {
  const { startHub } = await import('../../.cache/modules/packages/embedded-hub/src/start-hub.js');
  const { OCM_HUB_KINDS: kinds } = await import('../../.cache/modules/packages/ocm/src/definition/ocm-crds.js');
  const members = Array.from({ length: clusters }, (_, index) => nameOf(index));
  const hub = await startHub({ dataDir, kinds, members });
  process.on('message', async (message) => {
    if (message === 'usage') process.send({ cpu: process.cpuUsage(), rss: process.memoryUsage().rss });
    if (message === 'stop') {
      await hub.close();
      process.exit(0);
    }
  });
  process.send({ kubeconfig: hub.adminKubeconfigPath, members: members.map((name) => hub.memberKubeconfigPath(name)) });
}

async function main(clusters, restSeconds) {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-bench-'));
  const child = fork(new URL(import.meta.url).pathname, ['--hub', dataDir, String(clusters)]);
  try {
    const began = performance.now();
    const { kubeconfig, members } = await answer(child);
    say(`hub with ${clusters} members ready after ${seconds(began)} s`);
    await measure({ child, clusters, restSeconds, kubeconfig, members });
  } finally {
    child.send('stop');
    await new Promise((resolve) => child.once('exit', resolve));
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measure({ child, clusters, restSeconds, kubeconfig, members }) {
  const hub = new HttpKubeApi({ config: loadKubeConfig({ file: kubeconfig }), clock, maxRequests: 32 });
  await hub.create(BINDING, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'agents' },
    roleRef: { apiGroup: BINDING.group, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: BINDING.group, kind: 'Group', name: 'system:open-cluster-management:managed-clusters' }],
  });
  // It has a context for each member: an agent gets a bootstrap kubeconfig that is read once, as one of its own would be small.
  const bootstrap = loadKubeConfig({ file: kubeconfig });
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const closers = [];
  const startedAt = performance.now();
  members.forEach((file, index) => {
    const cluster = new HttpKubeApi({ config: loadKubeConfig({ file }), clock, maxRequests: 2 });
    closers.push(() => cluster.close());
    const kept = {};
    void runRegistration(
      {
        bootstraps: [() => bootstrap],
        store: {
          place: 'memory',
          folder: '/',
          read: async () => ({ ...kept }),
          write: async (changes) => {
            for (const [key, value] of Object.entries(changes)) value === undefined ? delete kept[key] : (kept[key] = value);
          },
        },
        cluster,
        clusterName: nameOf(index),
        settings: {
          clock,
          random: Math.random,
          log: SILENT,
          env: {},
          connect: (config) => {
            const api = new HttpKubeApi({ config, clock, maxRequests: 4 });
            return { api, close: () => api.close() };
          },
          clientConfigs: [],
          annotations: {},
          claims: { maxCustom: 20, reservedSuffixes: [] },
          hubTimeoutMs: 600_000,
        },
        startWorks: (api, identity) => {
          const agent = startAgent({ hub: api, cluster, clusterName: identity.cluster, clock, log: SILENT, workers: 2 });
          return () => agent.close();
        },
      },
      stop.signal,
    );
  });
  const joined = await acceptAll(hub, clusters, startedAt);
  say(`${joined} clusters joined after ${seconds(startedAt)} s`);
  await Promise.all(Array.from({ length: clusters }, (_, index) => hub.create(MANIFEST_WORK, workOf(nameOf(index)))));
  await until(async () => (await hub.list(MANIFEST_WORK)).items.filter(isApplied).length === clusters);
  say(`a work each applied after ${seconds(startedAt)} s`);
  await sleep(10_000);
  const [cpu, hubBefore, restAt] = [process.cpuUsage(), await usage(child), performance.now()];
  await sleep(restSeconds * 1000);
  const [spent, hubAfter] = [process.cpuUsage(cpu), await usage(child)];
  const wall = (performance.now() - restAt) / 1000;
  const cores = ({ user, system }) => ((user + system) / 1e6 / wall).toFixed(3);
  const hubSpent = { user: hubAfter.cpu.user - hubBefore.cpu.user, system: hubAfter.cpu.system - hubBefore.cpu.system };
  const stale = await lateLeases(hub);
  say(`joined, ${wall.toFixed(0)} s: agents ${cores(spent)} cores, ${mib(process.memoryUsage().rss)} MiB; hub and members ${cores(hubSpent)} cores, ${mib(hubAfter.rss)} MiB`);
  say(`leases older than 90 s: ${stale}`);
  process.exitCode = stale === 0 ? 0 : 1;
  stop.abort();
  for (const close of closers) close();
  hub.close();
}

/** What the hub's controllers do, as one loop. */
async function acceptAll(hub, clusters, startedAt) {
  const approved = new Set();
  const accepted = new Set();
  for (let last = 0; ; ) {
    for (const request of (await hub.list(CERTIFICATE_REQUEST)).items) {
      if (approved.has(request.metadata.name) || request.status?.conditions !== undefined) continue;
      approved.add(request.metadata.name);
      const conditions = [{ type: 'Approved', status: 'True', reason: 'Bench', message: 'bench' }];
      await hub.update(CERTIFICATE_REQUEST, { ...request, status: { conditions } }, { subresource: 'approval' });
    }
    const all = (await hub.list(MANAGED_CLUSTER)).items;
    for (const { metadata } of all) {
      const { name } = metadata;
      if (accepted.has(name)) continue;
      accepted.add(name);
      await hub.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      await hub.create(LEASE, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'managed-cluster-lease', namespace: name }, spec: { renewTime: '2020-01-01T00:00:00.000000Z' } });
      const condition = { type: 'HubAcceptedManagedCluster', status: 'True', reason: 'HubClusterAdminAccepted', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
      await hub.mergePatch(MANAGED_CLUSTER, { namespace: '', name }, { spec: { hubAcceptsClient: true, leaseDurationSeconds: 60 } });
      await hub.mergePatch(MANAGED_CLUSTER, { namespace: '', name }, { status: { conditions: [condition] } }, { subresource: 'status' });
    }
    const joined = all.filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'ManagedClusterConditionAvailable' && is === 'True')).length;
    if (joined === clusters) return joined;
    if (joined - last >= 100) say(`  ${(last = joined)} joined after ${seconds(startedAt)} s`);
    await sleep(500);
  }
}

async function lateLeases(hub) {
  const { items } = await hub.list(LEASE);
  return items.filter(({ metadata, spec }) => metadata.name === 'managed-cluster-lease' && Date.now() - Date.parse(spec.renewTime) > 90_000).length;
}

const isApplied = ({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Applied' && is === 'True');

function workOf(namespace) {
  const manifests = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'hello', namespace: 'default' }, data: { a: '1' } }];
  return { apiVersion: 'work.open-cluster-management.io/v1', kind: 'ManifestWork', metadata: { name: 'w', namespace }, spec: { workload: { manifests } } };
}

async function until(done) {
  while (!(await done())) await sleep(500);
}
const answer = (child) => new Promise((resolve) => child.once('message', resolve));
const usage = (child) => {
  child.send('usage');
  return answer(child);
};
const sleep = (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs));
const seconds = (since) => ((performance.now() - since) / 1000).toFixed(1);
const mib = (bytes) => Math.round(bytes / 2 ** 20);
const say = (text) => console.log(text);

if (process.argv[2] === '--hub') await runHub(process.argv[3], Number(process.argv[4]));
else await main(Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 120));
