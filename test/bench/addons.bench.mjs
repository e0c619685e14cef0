// Add-ons of templates that a placement installs on many clusters, on an embedded hub in a process of its own: Berth's manager and OCM's,
// each on a fresh hub, in turns.
//   npm run build && npm run build:modules && node test/bench/addons.bench.mjs [--clusters 1000] [--addons 5] [--rounds 1]
//     [--contestants berth,ocm,ocm-defaults]      also berth=CHECKOUT: another built checkout with its hub; ocm: its limits of requests are lifted
// Prints the time from the change of the placement, which selected nothing before, to the last ManifestWork, and to the last write of all;
// processor time until then of what decides and installs, and of the hub. OCM's programs (placement and add-on manager) are those of
// test/interop (docs/testing.md); not built, they are left out. Berth gets the memory for young objects that its image sets.
// BENCH_PROFILE=DIR writes CPU profiles of Berth and of the hub there.
import { spawn } from 'node:child_process';
import { mkdtempSync, openSync, rmSync } from 'node:fs';
import { register } from 'node:module';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import { systemClock } from '../../.cache/modules/packages/runtime/src/clock/system-clock.js';
import { loadKubeConfig } from '../../.cache/modules/packages/kube/src/config/load-kube-config.js';
import { HttpKubeApi } from '../../.cache/modules/packages/kube/src/http-kube-api.js';
import * as kinds from '../../.cache/modules/packages/kube/src/model/kinds.js';
import { firstLine, startBerth } from './berth-child.mjs';
import { processorTimeMs } from './real-hub/processor-time.mjs';

register('./real-hub/typescript-hook.mjs', import.meta.url);
const { freePort } = await import('../interop/peers/free-port.ts');
const { hasPeers, peerProgram } = await import('../interop/peers/peer-programs.ts');

const ADDON_GROUP = 'addon.open-cluster-management.io';
const HUB_NAMESPACE = 'open-cluster-management-hub';
const PLACEMENT_KEY = { namespace: HUB_NAMESPACE, name: 'all' };
const NONE = [{ requiredClusterSelector: { labelSelector: { matchLabels: { nothing: 'here' } } } }];
const SET_LABEL = 'cluster.open-cluster-management.io/clusterset';
/** OCM leaves it alone, Berth decides it. */
const OF_BERTH = { 'cluster.open-cluster-management.io/experimental-scheduling-disable': 'true', 'berth.dev/scheduler': 'berth' };
const QUIET_MS = 3_000;
const HERE = join(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: {
    clusters: { type: 'string', default: '1000' },
    addons: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '1' },
    contestants: { type: 'string', default: 'berth,ocm,ocm-defaults' },
  },
});
const clusters = Array.from({ length: Number(values.clusters) }, (_, at) => `c${String(at).padStart(4, '0')}`);
const addons = Array.from({ length: Number(values.addons) }, (_, at) => `addon-${at}`);

const main = (root) => join(root, 'dist/src/app/cli/main.js');
const profile = process.env.BENCH_PROFILE === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`];

/** The commands of what decides placements and manages add-ons. */
async function commandsOf(word, kubeconfig, dir) {
  const [name, root = HERE] = word.split('=');
  if (name === 'berth')
    return [[process.execPath, '--max-semi-space-size=64', ...profile, main(root), 'serve', '--embedded', '--kubeconfig', kubeconfig, '--data', join(dir, 'data'), '--addons', 'all', '--no-works']];
  const limits = name === 'ocm' ? ['--kube-api-qps=10000', '--kube-api-burst=10000'] : [];
  const common = async () => ['--kubeconfig', kubeconfig, '--namespace', HUB_NAMESPACE, '--disable-leader-election', '--listen', `127.0.0.1:${await freePort()}`, ...limits];
  return [
    [peerProgram('ocm/placement'), 'controller', ...(await common())],
    [peerProgram('ocm/addon'), 'manager', ...(await common())],
  ];
}

function template(name) {
  const labels = { app: name };
  const metadata = { name: `${name}-agent`, namespace: 'open-cluster-management-agent-addon' };
  const container = { name: 'agent', image: 'registry.example.com/agent:1.2.3', args: ['--cluster={{CLUSTER_NAME}}', '--hub-kubeconfig={{HUB_KUBECONFIG}}'] };
  const manifests = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { level: '{{LEVEL}}', text: 'x'.repeat(300) } },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata, spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [container] } } } },
  ];
  const kubeClient = { hubPermissions: [{ type: 'CurrentCluster', currentCluster: { clusterRoleName: 'addon-reader' } }] };
  return { metadata: { name: `${name}-1` }, spec: { addonName: name, agentSpec: { workload: { manifests } }, registration: [{ type: 'KubeClient', kubeClient }] } };
}

class Driver {
  #limit = pLimit(32);

  constructor(kubeconfig) {
    this.api = new HttpKubeApi({ config: loadKubeConfig({ file: kubeconfig }), clock: systemClock, maxRequests: 32 });
  }

  make(kind, ...contents) {
    const typed = contents.map((content) => ({ apiVersion: kinds.apiVersionOf(kind), kind: kind.kind, ...content }));
    return Promise.all(typed.map((object) => this.#limit(() => this.api.create(kind, object, { metadataOnly: true }))));
  }

  /** Clusters, and add-ons that a placement installs which selects none of them yet. */
  async prepare(isOfBerth) {
    await this.make(kinds.NAMESPACE, { metadata: { name: HUB_NAMESPACE } }, ...clusters.map((name) => ({ metadata: { name } })));
    await this.make(kinds.MANAGED_CLUSTER, ...clusters.map((name) => ({ metadata: { name, labels: { [SET_LABEL]: 'fleet' } }, spec: { hubAcceptsClient: true } })));
    await this.make(kinds.MANAGED_CLUSTER_SET, { metadata: { name: 'fleet' }, spec: { clusterSelector: { selectorType: 'ExclusiveClusterSetLabel' } } });
    await this.make(kinds.MANAGED_CLUSTER_SET_BINDING, { metadata: { name: 'fleet', namespace: HUB_NAMESPACE }, spec: { clusterSet: 'fleet' } });
    await this.make(kinds.CLUSTER_ROLE, { metadata: { name: 'addon-reader' }, rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }] });
    await this.make(kinds.ADDON_DEPLOYMENT_CONFIG, { metadata: { namespace: HUB_NAMESPACE, name: 'common' }, spec: { customizedVariables: [{ name: 'LEVEL', value: 'info' }] } });
    await this.make(kinds.ADDON_TEMPLATE, ...addons.map(template));
    await this.make(kinds.PLACEMENT, { metadata: { ...PLACEMENT_KEY, annotations: isOfBerth ? OF_BERTH : {} }, spec: { predicates: NONE } });
    await this.make(
      kinds.CLUSTER_MANAGEMENT_ADDON,
      ...addons.map((name) => ({
        metadata: { name },
        spec: {
          supportedConfigs: [
            { group: ADDON_GROUP, resource: 'addontemplates', defaultConfig: { name: `${name}-1` } },
            { group: ADDON_GROUP, resource: 'addondeploymentconfigs', defaultConfig: { namespace: HUB_NAMESPACE, name: 'common' } },
          ],
          installStrategy: { type: 'Placements', placements: [{ namespace: HUB_NAMESPACE, name: 'all' }] },
        },
      })),
    );
  }

  move() {
    return this.api.mergePatch(kinds.PLACEMENT, PLACEMENT_KEY, { spec: { predicates: null } });
  }

  /** Whether the manager has read the add-ons and their configurations. */
  async isPrepared() {
    const { items } = await this.api.list(kinds.CLUSTER_MANAGEMENT_ADDON);
    return items.every(({ status }) => {
      const references = status?.defaultconfigReferences ?? [];
      return references.length > 0 && references.every(({ desiredConfig }) => desiredConfig.specHash);
    });
  }

  /** Calls back for each object of a kind that is written, from now on. */
  async follow(kind, signal, see) {
    let { resourceVersion } = await this.api.list(kind, { limit: 1 });
    void (async () => {
      while (!signal.aborted)
        for await (const { type, object } of this.api.watch(kind, { resourceVersion, signal })) {
          if (object === undefined) break;
          resourceVersion = object.metadata.resourceVersion;
          if (type !== 'bookmark') see(type, object);
        }
    })().catch((error) => {
      if (!signal.aborted) throw error;
    });
  }
}

async function measure(word, hub, kubeconfig, dir) {
  const driver = new Driver(kubeconfig);
  await driver.prepare(word.startsWith('berth'));
  const log = openSync(join(dir, 'log'), 'a');
  const env = { ...process.env, POD_NAME: 'bench', POD_NAMESPACE: HUB_NAMESPACE };
  const programs = (await commandsOf(word, kubeconfig, dir)).map(([file, ...args]) => spawn(file, args, { cwd: dir, env, stdio: ['ignore', log, log] }));
  const stop = new AbortController();
  try {
    while (!(await driver.isPrepared())) await sleep(200);
    await sleep(QUIET_MS);
    const wanted = clusters.length * addons.length;
    let [works, worksAt] = [0, 0];
    await driver.follow(kinds.MANIFEST_WORK, stop.signal, (type) => {
      works += type === 'added' ? 1 : 0;
      if (works === wanted) worksAt ||= performance.now();
    });
    const spentBy = (children) => children.reduce((sum, { pid }) => sum + processorTimeMs(pid), 0);
    const times = () => [spentBy(programs), spentBy([hub.child])];
    const before = times();
    const spent = () => times().map((ms, at) => seconds(ms - before[at])).join(' and ');
    const began = performance.now();
    await driver.move();
    while (worksAt === 0) {
      if (programs.some(({ exitCode }) => exitCode !== null)) throw new Error(`a program ended: see ${dir}/log`);
      await sleep(50);
    }
    const atWorks = spent();
    const whole = await whenQuiet(programs);
    const rest = spent();
    console.log(`${word}: ${works} works after ${seconds(worksAt - began)} s (programs and hub used ${atWorks} s), all quiet after ${seconds(whole - began)} s (${rest} s); load ${loadavg()[0].toFixed(1)}`);
  } finally {
    stop.abort();
    driver.api.close();
    for (const program of programs) {
      const ended = new Promise((resolve) => program.once('exit', resolve));
      program.kill('SIGTERM');
      await ended;
    }
  }
}

const seconds = (ms) => (ms / 1_000).toFixed(2);

/** @returns when the programs had done their last work */
async function whenQuiet(programs) {
  const spent = () => programs.reduce((sum, { pid }) => sum + processorTimeMs(pid), 0);
  for (let since = performance.now(), before = spent(); ; ) {
    await sleep(500);
    const now = spent();
    if (now - before > 50) since = performance.now();
    else if (performance.now() - since > QUIET_MS) return since;
    before = now;
  }
}

for (let round = 0; round < Number(values.rounds); round++)
  for (const word of values.contestants.split(',')) {
    if (word.startsWith('ocm') && !hasPeers('ocm/addon')) continue;
    const dir = mkdtempSync(join(tmpdir(), 'berth-addons-bench-'));
    const hub = startBerth(main(word.split('=')[1] ?? HERE), ['hub', '--data', join(dir, 'hub'), '--listen', '127.0.0.1:0', '--audit', process.env.BENCH_AUDIT ?? 'off', '--log-level', 'error'], profile);
    try {
      await measure(word, hub, await firstLine(hub), dir);
    } finally {
      await hub.stop();
      if (process.env.BENCH_KEEP === undefined) rmSync(dir, { recursive: true, force: true });
    }
  }
