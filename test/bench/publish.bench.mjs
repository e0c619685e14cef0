/**
 * Publishing at scale, against the embedded hub in a process of its own:
 * `npm run build:modules && node test/bench/publish.bench.mjs [placements] [clusters] [rounds]`.
 * 1. The controller's publisher writes N placements of M clusters (all changed); a bare client writes the same objects (create + status
 *    of the page, status of the placement). Both have 16 requests under way and no more, and take turns on one hub, which is emptied
 *    between them. The first two rounds are printed by themselves: hub, client and controller are cold there, and compiled while they run.
 *    With BENCH_FRESH_HUBS=1 each contest has a hub that has just started, and all rounds are printed together.
 * 2. A restart with nothing changed: time to ready, writes.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { systemClock } from '../../.cache/modules/packages/runtime/src/clock/system-clock.js';
import { HttpKubeApi } from '../../.cache/modules/packages/kube/src/http-kube-api.js';
import { loadKubeConfig } from '../../.cache/modules/packages/kube/src/config/load-kube-config.js';
import { serveController } from '../../.cache/modules/src/app/serve/serve-controller.js';
import { PLACEMENT, PLACEMENT_DECISION } from '../../.cache/modules/packages/kube/src/model/kinds.js';

const PLACEMENTS = Number(process.argv[2] ?? 1000);
const CLUSTERS = Number(process.argv[3] ?? 100);
const FRESH_HUBS = process.env.BENCH_FRESH_HUBS === '1';
const ROUNDS = Number(process.argv[4] ?? (FRESH_HUBS ? 3 : 9));
const COLD_ROUNDS = FRESH_HUBS ? 0 : 2;
const CONCURRENCY = 16;
const NAMESPACE = 'bench';
const API_VERSION = 'cluster.open-cluster-management.io/v1beta1';
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
const CONDITIONS = [
  { type: 'PlacementMisconfigured', status: 'False', reason: 'Succeedconfigured', message: 'Placement configurations check pass' },
  { type: 'PlacementSatisfied', status: 'True', reason: 'AllDecisionsScheduled', message: 'All cluster decisions scheduled' },
];

/** Results like the engine's, without their cost: what is measured is publishing. */
function* decide(snapshot) {
  for (const placement of snapshot.placements)
    yield {
      placement,
      outcome: 'scheduled',
      status: { code: 'Success', plugin: '', message: '' },
      selected: names,
      selectedScores: names.map(() => 0),
      unscheduled: 0,
      groups: [{ index: 0, name: '', clusters: names }],
      conditions: CONDITIONS,
      requeueAtMs: undefined,
    };
}

/** Runs `contest` beside N placements that have no decisions yet. */
async function withPlacements(api, contest) {
  const limit = pLimit(CONCURRENCY);
  const each = (use) => Promise.all(Array.from({ length: PLACEMENTS }, (_, i) => limit(() => use(`p-${i}`))));
  await each((name) => api.create(PLACEMENT, { apiVersion: API_VERSION, kind: 'Placement', metadata: { name, namespace: NAMESPACE }, spec: {} }));
  const outcome = await contest();
  const { items } = await api.list(PLACEMENT_DECISION, { namespace: NAMESPACE });
  const listed = items.reduce((sum, page) => sum + (page.status?.decisions?.length ?? 0), 0);
  if (listed !== PLACEMENTS * CLUSTERS) throw new Error(`${listed} clusters are listed`);
  await each((name) => api.delete(PLACEMENT, { namespace: NAMESPACE, name }));
  // The hub collects their pages.
  while ((await api.list(PLACEMENT_DECISION, { namespace: NAMESPACE })).items.length > 0) await sleep(50);
  return outcome;
}

/** From the moment at which the decisions are made to the last publication settled. */
async function controller(api, dataDir) {
  const serve = () =>
    serveController({ api, sources: [], dataDir, clock: systemClock, log: silent, random: Math.random, engineVersion: 'bench', env: {}, works: false, decide, schedule: 'berth', embedded: true });
  let fleet = await serve();
  let startedAt;
  let cpuBefore;
  const reading = (async () => {
    for await (const event of fleet.events) {
      if (event.kind !== 'decided' || startedAt !== undefined) continue;
      startedAt = performance.now();
      cpuBefore = process.cpuUsage();
    }
  })();
  await fleet.whenReady();
  const publishMs = performance.now() - startedAt;
  const cpuMs = cpuSince(cpuBefore);
  await fleet.close();
  const before = (await api.list(PLACEMENT)).resourceVersion;
  const restartedAt = performance.now();
  fleet = await serve();
  await fleet.whenReady();
  const restartMs = performance.now() - restartedAt;
  const writes = Number((await api.list(PLACEMENT)).resourceVersion) - Number(before);
  await fleet.close();
  await reading;
  return { publishMs, cpuMs, restartMs, writes };
}

/** The same objects by a client that does nothing else. */
async function bare(api) {
  const { items } = await api.list(PLACEMENT);
  const lastTransitionTime = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const decisions = names.map((clusterName) => ({ clusterName, reason: '' }));
  const limit = pLimit(CONCURRENCY);
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await Promise.all(
    items.map(({ metadata: { name, uid } }) =>
      limit(async () => {
        const page = `${name}-decision-1`;
        const ownerReferences = [{ apiVersion: API_VERSION, kind: 'Placement', name, uid, controller: true, blockOwnerDeletion: true }];
        const labels = {
          'cluster.open-cluster-management.io/placement': name,
          'cluster.open-cluster-management.io/decision-group-name': '',
          'cluster.open-cluster-management.io/decision-group-index': '0',
        };
        const head = { apiVersion: API_VERSION, kind: 'PlacementDecision' };
        // As the controller asks: the answer need not bring back what was sent.
        const options = { metadataOnly: true };
        await api.create(PLACEMENT_DECISION, { ...head, metadata: { name: page, namespace: NAMESPACE, labels, ownerReferences } }, options);
        await api.mergePatch(PLACEMENT_DECISION, { namespace: NAMESPACE, name: page }, { status: { decisions } }, { ...options, subresource: 'status' });
        const conditions = CONDITIONS.map((condition) => ({ ...condition, lastTransitionTime }));
        const decisionGroups = [{ decisionGroupIndex: 0, decisionGroupName: '', decisions: [page], clusterCount: CLUSTERS }];
        const status = { numberOfSelectedClusters: CLUSTERS, decisionGroups, conditions };
        await api.mergePatch(PLACEMENT, { namespace: NAMESPACE, name }, { status }, { ...options, subresource: 'status' });
      }),
    ),
  );
  return { publishMs: performance.now() - startedAt, cpuMs: cpuSince(cpuBefore) };
}

function cpuSince(before) {
  return process.cpuUsage(before).user / 1000;
}

/** Processor time that the machine's host gave to others, of all processors; it spreads the figures. Undefined where that is not told. */
function stolenMs() {
  return platform() === 'linux' ? Number(readFileSync('/proc/stat', 'utf8').split(/\s+/)[8]) * 10 : undefined;
}

const sorted = (values) => [...values].sort((a, b) => a - b);
const median = (values) => sorted(values)[Math.floor(values.length / 2)];

function tell(what, theirs, ours) {
  const line = (name, runs) => {
    const times = runs.map((run) => run.publishMs);
    const rate = (PLACEMENTS * 3000) / median(times);
    console.log(`${name}  ${median(times).toFixed(0)} ms (${sorted(times).map((ms) => ms.toFixed(0)).join(' ')}), ${rate.toFixed(0)} writes/s, ${median(runs.map((run) => run.cpuMs)).toFixed(0)} ms of CPU`);
  };
  console.log(what);
  line('  bare client', theirs);
  line('  controller ', ours);
  const rate = (times) => `${(100 * times).toFixed(0)} %`;
  const medianOf = (runs) => median(runs.map((run) => run.publishMs));
  console.log(`  rate         ${rate(medianOf(theirs) / medianOf(ours))} of the bare client (round by round ${ours.map((run, at) => rate(theirs[at].publishMs / run.publishMs)).join(', ')})`);
}

const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'));

async function openHub(name) {
  const hub = await startHub(join(dir, name));
  const api = new HttpKubeApi({ config: loadKubeConfig({ file: hub.kubeconfig }), clock: systemClock, maxRequests: CONCURRENCY });
  await api.create({ group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  return { api, close: () => (api.close(), hub.stop()) };
}

let shared;
async function round(name, contest) {
  const hub = FRESH_HUBS ? await openHub(name) : (shared ??= await openHub('hub'));
  try {
    return await withPlacements(hub.api, () => contest(hub.api));
  } finally {
    if (FRESH_HUBS) await hub.close();
  }
}

const ours = [];
const theirs = [];
const stolenBefore = stolenMs();
try {
  for (let at = 0; at < ROUNDS; at++) {
    theirs.push(await round(`bare-${at}`, bare));
    ours.push(await round(`controller-${at}`, (api) => controller(api, join(dir, `data-${at}`))));
  }
} finally {
  await shared?.close();
  rmSync(dir, { recursive: true, force: true });
}
console.log(`${PLACEMENTS} placements x ${CLUSTERS} clusters, ${PLACEMENTS * 3} writes, ${CONCURRENCY} at a time`);
const cold = (runs) => runs.slice(0, COLD_ROUNDS);
const warm = (runs) => runs.slice(COLD_ROUNDS);
tell(`${FRESH_HUBS ? 'each on a hub that has just started' : 'warm'}, medians of ${ROUNDS - COLD_ROUNDS}`, warm(theirs), warm(ours));
for (let at = 0; at < COLD_ROUNDS; at++) tell(`round ${at + 1}, not compiled yet`, [theirs[at]], [ours[at]]);
console.log(`restart          ready in ${median(ours.map((run) => run.restartMs)).toFixed(0)} ms, ${Math.max(...ours.map((run) => run.writes))} writes`);
if (stolenBefore !== undefined) console.log(`stolen           ${((stolenMs() - stolenBefore) / 1000).toFixed(1)} s of processor time by other machines on the host`);
