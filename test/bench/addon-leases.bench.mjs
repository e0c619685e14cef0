// One process that reports the health of add-ons of many clusters by their leases. The hub, the clusters, and the add-ons that renew their
// leases once a minute are another process.
//   npm run build:modules && node test/bench/addon-leases.bench.mjs [CLUSTERS=1000] [ADDONS=10] [REST_SECONDS=120]
// Prints when all add-ons are available, then processor time and memory of both processes, and checks that no health changes meanwhile.
import { fork } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { systemClock as clock } from '../../.cache/modules/packages/runtime/src/clock/system-clock.js';
import { loadKubeConfig } from '../../.cache/modules/packages/kube/src/config/load-kube-config.js';
import { HttpKubeApi } from '../../.cache/modules/packages/kube/src/http-kube-api.js';
import { LEASE, MANAGED_CLUSTER_ADDON, NAMESPACE } from '../../.cache/modules/packages/kube/src/model/kinds.js';
import { runMemberAddons } from '../../.cache/modules/packages/agent/src/simulation/member-addons.js';

const SILENT = { debug() {}, info() {}, warn() {}, error: console.error, child: () => SILENT };
const INSTALLED = 'open-cluster-management-agent-addon';
const RENEW_MS = 60_000;
const nameOf = (index) => `c${String(index).padStart(4, '0')}`;
const addOnOf = (index) => `addon-${index}`;
const say = (text) => console.log(text);
const sleep = (delayMs) => new Promise((resolve) => setTimeout(resolve, delayMs));
const answer = (child) => new Promise((resolve) => child.once('message', resolve));
const mib = (bytes) => Math.round(bytes / 2 ** 20);

/** The other process: the hub with its clusters, where each add-on renews its lease. */
async function runHub(dataDir, clusters, addons) {
  const { startHub } = await import('../../.cache/modules/packages/embedded-hub/src/start-hub.js');
  const { OCM_HUB_KINDS: kinds } = await import('../../.cache/modules/packages/ocm/src/definition/ocm-crds.js');
  const members = Array.from({ length: clusters }, (_, index) => nameOf(index));
  const hub = await startHub({ dataDir, kinds, members });
  const files = members.map((name) => hub.memberKubeconfigPath(name));
  const apis = files.map((file) => new HttpKubeApi({ config: loadKubeConfig({ file }), clock, maxRequests: 1 }));
  const now = () => new Date().toISOString().replace('Z', '000Z');
  const limit = pLimit(16);
  const each = (act) => Promise.all(apis.flatMap((api) => Array.from({ length: addons }, (_, at) => limit(() => act(api, addOnOf(at))))));
  await Promise.all(apis.map((api) => limit(() => api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: INSTALLED } }))));
  await each((api, name) => api.create(LEASE, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace: INSTALLED, name }, spec: { renewTime: now() } }));
  let [next, isOver] = [0, false];
  const timer = setInterval(
    () => {
      const [api, name] = [apis[Math.floor(next / addons) % clusters], addOnOf(next % addons)];
      next += 1;
      void api.mergePatch(LEASE, { namespace: INSTALLED, name }, { spec: { renewTime: now() } }, { metadataOnly: true }).catch((error) => isOver || console.error(error));
    },
    RENEW_MS / (clusters * addons),
  );
  process.on('message', async (message) => {
    if (message === 'usage') process.send({ cpu: process.cpuUsage(), rss: process.memoryUsage().rss, renewed: next });
    if (message === 'stop') {
      isOver = true;
      clearInterval(timer);
      for (const api of apis) api.close();
      await hub.close();
      process.exit(0);
    }
  });
  process.send({ kubeconfig: hub.adminKubeconfigPath, files });
}

async function main(clusters, addons, restSeconds) {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-bench-'));
  const child = fork(new URL(import.meta.url).pathname, ['--hub', dataDir, String(clusters), String(addons)]);
  try {
    await measure(child, clusters, addons, restSeconds);
  } finally {
    child.send('stop');
    await new Promise((resolve) => child.once('exit', resolve));
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measure(child, clusters, addons, restSeconds) {
  const { kubeconfig, files } = await answer(child);
  const hubConfig = loadKubeConfig({ file: kubeconfig });
  const hub = new HttpKubeApi({ config: hubConfig, clock, maxRequests: 32 });
  const limit = pLimit(32);
  const names = Array.from({ length: clusters }, (_, index) => nameOf(index));
  await Promise.all(names.map((name) => limit(() => hub.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))));
  const addOn = (namespace, at) => ({ apiVersion: 'addon.open-cluster-management.io/v1alpha1', kind: 'ManagedClusterAddOn', metadata: { namespace, name: addOnOf(at) }, spec: {} });
  await Promise.all(names.flatMap((name) => Array.from({ length: addons }, (_, at) => limit(() => hub.create(MANAGED_CLUSTER_ADDON, addOn(name, at), { metadataOnly: true })))));
  say(`${clusters * addons} add-ons of ${clusters} clusters are on the hub`);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const startedAt = performance.now();
  const running = names.map((clusterName, index) => {
    const cluster = new HttpKubeApi({ config: loadKubeConfig({ file: files[index] }), clock, maxRequests: 2 });
    return runMemberAddons({ hubConfig, hub, clusterName, cluster, clock, log: SILENT }, stop.signal).finally(() => cluster.close());
  });
  const states = async () => (await hub.list(MANAGED_CLUSTER_ADDON)).items.map(({ metadata, status }) => [metadata.resourceVersion, status?.conditions?.find(({ type }) => type === 'Available')?.status]);
  for (;;) {
    const available = (await states()).filter(([, status]) => status === 'True').length;
    if (available === clusters * addons) break;
    await sleep(1_000);
  }
  say(`all are available after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  await sleep(10_000);
  const before = JSON.stringify(await states());
  const usage = () => (child.send('usage'), answer(child));
  const [cpu, hubBefore, restAt] = [process.cpuUsage(), await usage(), performance.now()];
  await sleep(restSeconds * 1_000);
  const [spent, hubAfter] = [process.cpuUsage(cpu), await usage()];
  const wall = (performance.now() - restAt) / 1_000;
  const cores = ({ user, system }) => ((user + system) / 1e6 / wall).toFixed(3);
  const hubSpent = { user: hubAfter.cpu.user - hubBefore.cpu.user, system: hubAfter.cpu.system - hubBefore.cpu.system };
  const rate = ((hubAfter.renewed - hubBefore.renewed) / wall).toFixed(0);
  say(`${wall.toFixed(0)} s, ${rate} renewals a second: agent ${cores(spent)} cores, ${mib(process.memoryUsage().rss)} MiB; hub, clusters and add-ons ${cores(hubSpent)} cores, ${mib(hubAfter.rss)} MiB`);
  const isSame = JSON.stringify(await states()) === before;
  say(isSame ? 'no health was written meanwhile' : 'the health of an add-on was written meanwhile');
  process.exitCode = isSame ? 0 : 1;
  stop.abort();
  await Promise.all(running);
  hub.close();
}

const [first, ...rest] = process.argv.slice(2);
if (first === '--hub') await runHub(rest[0], Number(rest[1]), Number(rest[2]));
else await main(Number(first ?? 1000), Number(rest[0] ?? 10), Number(rest[1] ?? 120));
