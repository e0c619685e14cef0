/**
 * Publishing at scale, against the embedded hub in a process of its own: `npm run build && node test/bench/publish.bench.mjs [placements] [clusters]`.
 * 1. The controller's publisher writes N placements of M clusters (all changed) with 16 workers; a bare client writes the same objects
 *    with the same concurrency (create + status of the page, status of the placement). Runs alternate; medians are compared.
 * 2. A restart with nothing changed: time to ready, writes.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { systemClock } from '../../dist/src/adapters/clock/system-clock.js';
import { HttpKubeApi } from '../../dist/src/adapters/kube/http-kube-api.js';
import { loadKubeConfig } from '../../dist/src/adapters/kube/load-kube-config.js';
import { serveFleet } from '../../dist/src/app/serve/serve-fleet.js';
import { MANAGED_CLUSTER, PLACEMENT, PLACEMENT_DECISION } from '../../dist/src/core/model/kinds.js';

const PLACEMENTS = Number(process.argv[2] ?? 1000);
const CLUSTERS = Number(process.argv[3] ?? 100);
const ROUNDS = 3;
const NAMESPACE = 'bench';
const silent = { debug() {}, info() {}, warn: (m, f) => process.env.BENCH_DEBUG && console.error(m, f), error: (m, f) => console.error(m, f), child: () => silent };

const MAIN = new URL('../../dist/src/app/cli/main.js', import.meta.url).pathname;

async function startHub(dataDir) {
  const child = spawn(process.execPath, [MAIN, 'hub', '--data', dataDir, '--listen', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const kubeconfig = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => ((text += chunk), text.includes('\n') && resolve(text.trim())));
    child.once('exit', (code) => reject(new Error(`hub ended with ${code}`)));
  });
  return { kubeconfig, stop: () => new Promise((resolve) => (child.once('exit', resolve), child.kill('SIGTERM'))) };
}

const names = Array.from({ length: CLUSTERS }, (_, i) => `cluster-${String(i).padStart(4, '0')}`);

/** A result like the engine's, without its cost: what is measured is publishing. */
function decide(world) {
  return world.placements.map((placement) => ({
    placement,
    outcome: 'scheduled',
    status: { code: 'Success', plugin: '', message: '' },
    selected: names,
    selectedScores: names.map(() => 0),
    unscheduled: 0,
    groups: [{ index: 0, name: '', clusters: names }],
    conditions: [
      { type: 'PlacementMisconfigured', status: 'False', reason: 'Succeedconfigured', message: 'Placement configurations check pass' },
      { type: 'PlacementSatisfied', status: 'True', reason: 'AllDecisionsScheduled', message: 'All cluster decisions scheduled' },
    ],
    requeueAtMs: undefined,
  }));
}

async function withHub(use) {
  const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'));
  const hub = await startHub(join(dir, 'hub'));
  const api = new HttpKubeApi({ config: loadKubeConfig({ file: hub.kubeconfig }), clock: systemClock });
  try {
    await api.create({ group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    const limit = pLimit(16);
    await Promise.all(
      Array.from({ length: PLACEMENTS }, (_, i) =>
        limit(() =>
          api.create(PLACEMENT, {
            apiVersion: 'cluster.open-cluster-management.io/v1beta1',
            kind: 'Placement',
            metadata: { name: `p-${i}`, namespace: NAMESPACE },
            spec: {},
          }),
        ),
      ),
    );
    return await use(api, dir);
  } finally {
    api.close();
    await hub.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

const serve = (api, dir) =>
  serveFleet({ api, sources: [], dataDir: join(dir, 'data'), clock: systemClock, log: silent, random: Math.random, engineVersion: 'bench', env: {}, works: false, decide, schedule: 'berth', embedded: true });

/** From the moment at which the decisions are made to the last publication settled. */
async function controller() {
  return withHub(async (api, dir) => {
    const cpuBefore = process.cpuUsage();
    let fleet = await serve(api, dir);
    let startedAt;
    const reading = (async () => {
      for await (const event of fleet.events) if (event.kind === 'decided') startedAt ??= performance.now();
    })();
    await fleet.whenReady();
    const publishMs = performance.now() - startedAt;
    const cpuMs = process.cpuUsage(cpuBefore).user / 1000;
    await fleet.close();
    const before = (await api.list(PLACEMENT)).resourceVersion;
    const restartedAt = performance.now();
    fleet = await serve(api, dir);
    await fleet.whenReady();
    const restartMs = performance.now() - restartedAt;
    const writes = Number((await api.list(PLACEMENT)).resourceVersion) - Number(before);
    await fleet.close();
    await reading;
    return { publishMs, cpuMs, restartMs, writes };
  });
}

/** The same objects by a client that does nothing else. */
async function bare() {
  return withHub(async (api) => {
    const { items } = await api.list(PLACEMENT);
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    const decisions = names.map((clusterName) => ({ clusterName, reason: '' }));
    const limit = pLimit(16);
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    await Promise.all(
      items.map(({ metadata: { name, uid } }) =>
        limit(async () => {
          const page = `${name}-decision-1`;
          const ownerReferences = [{ apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'Placement', name, uid, controller: true, blockOwnerDeletion: true }];
          const labels = {
            'cluster.open-cluster-management.io/placement': name,
            'cluster.open-cluster-management.io/decision-group-name': '',
            'cluster.open-cluster-management.io/decision-group-index': '0',
          };
          const head = { apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'PlacementDecision' };
          await api.create(PLACEMENT_DECISION, { ...head, metadata: { name: page, namespace: NAMESPACE, labels, ownerReferences } });
          await api.mergePatch(PLACEMENT_DECISION, { namespace: NAMESPACE, name: page }, { status: { decisions } }, { subresource: 'status' });
          const conditions = decide({ placements: [{}] })[0].conditions.map((c) => ({ ...c, lastTransitionTime: now }));
          const decisionGroups = [{ decisionGroupIndex: 0, decisionGroupName: '', decisions: [page], clusterCount: CLUSTERS }];
          const status = { numberOfSelectedClusters: CLUSTERS, decisionGroups, conditions };
          await api.mergePatch(PLACEMENT, { namespace: NAMESPACE, name }, { status }, { subresource: 'status' });
        }),
      ),
    );
    return { publishMs: performance.now() - startedAt, cpuMs: process.cpuUsage(cpuBefore).user / 1000 };
  });
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
const ours = [];
const theirs = [];
for (let round = 0; round < ROUNDS; round++) {
  theirs.push(await bare());
  ours.push(await controller());
}
const bareMs = median(theirs.map((run) => run.publishMs));
const publishMs = median(ours.map((run) => run.publishMs));
console.log(`${PLACEMENTS} placements x ${CLUSTERS} clusters, ${PLACEMENTS * 3} writes, 16 at a time, medians of ${ROUNDS}`);
console.log(`bare client      ${bareMs.toFixed(0)} ms  (${((PLACEMENTS * 3000) / bareMs).toFixed(0)} writes/s, ${median(theirs.map((run) => run.cpuMs)).toFixed(0)} ms of CPU)`);
console.log(`controller       ${publishMs.toFixed(0)} ms  (judging, pages, watch, records included; ${median(ours.map((run) => run.cpuMs)).toFixed(0)} ms of CPU with the start)`);
console.log(`rate             ${((100 * bareMs) / publishMs).toFixed(0)} % of the bare client`);
console.log(`restart          ready in ${median(ours.map((run) => run.restartMs)).toFixed(0)} ms, ${Math.max(...ours.map((run) => run.writes))} writes`);
