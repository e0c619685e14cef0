import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MANAGED_CLUSTER, MANIFEST_WORK, PLACEMENT, PLACEMENT_DECISION } from '../../../.cache/modules/packages/kube/src/model/kinds.js';
import { startProcess } from './contestants.mjs';
import { followKind } from './follow-kind.mjs';
import { clusters, makeNamespaces, makeSet, placements, WORK_CLUSTER, WORKLOADS, works } from './fleet.mjs';

const FLEET = 'fleet';
const JOINING = 'joining';

/**
 * All phases of one contestant on a hub of its own.
 * @param sizes `{ placements, clusters, select, taints, works }`
 * @param report called with the figures of each phase
 */
export async function contest(hub, one, sizes, report) {
  const dir = mkdtempSync(join(tmpdir(), 'berth-bench-'));
  try {
    await phases({ hub, dir }, one, sizes, report);
  } finally {
    if (process.env.BENCH_KEEP === undefined) rmSync(dir, { recursive: true, force: true });
  }
}

async function phases(where, one, sizes, report) {
  const { hub } = where;
  for (const set of [FLEET, JOINING]) await makeSet(hub, set);
  await hub.create(MANAGED_CLUSTER, clusters(FLEET, sizes.clusters));
  await within(one.scheduler, where, async (running) => {
    report({ phase: 'new placements', ...(await measure(hub, running, () => place(hub, one, sizes))) });
    await checkPages(hub, FLEET, sizes.placements * sizes.select);
  });
  if (sizes.taints > 0)
    await within(one.scheduler, where, async (running) => {
      await drainInTurns(hub, running, sizes.taints, (at, reaction) => report({ phase: `taint ${at + 1}`, ...reaction }));
      report({ phase: 'joining clusters', ...(await measure(hub, running, () => joinAtOnce(hub, one, sizes))) });
      await checkPages(hub, JOINING, sizes.clusters);
    });
  if (sizes.works === 0) return;
  await makeNamespaces(hub, [WORK_CLUSTER, WORKLOADS]);
  await within(one.agent, where, async (running) => {
    report({ phase: 'works', ...(await measure(hub, running, () => carryOut(hub, sizes.works))) });
  });
}

/** Runs `use` beside a process of the contestant that has just started. */
async function within(makeCommand, where, use) {
  const running = await startProcess(makeCommand, where);
  try {
    await use(running);
  } finally {
    await running.stop();
  }
}

/** Wall time, processor time and writes while `run` runs. */
async function measure(hub, { pid }, run) {
  const [writesBefore, drivenBefore] = [await hub.writes(), hub.driven];
  const before = hub.processorTimes(pid);
  const began = performance.now();
  const told = (await run()) ?? {};
  const wallMs = performance.now() - began;
  const after = hub.processorTimes(pid);
  const processorMs = Object.fromEntries(Object.entries(after).map(([name, ms]) => [name, ms - before[name]]));
  const writes = Object.entries(await hub.writes()).map(([what, count]) => [what, count - (writesBefore[what] ?? 0)]);
  const made = Object.fromEntries(writes.filter(([, count]) => count > 0));
  const count = Object.values(made).reduce((sum, one) => sum + one, 0) - (hub.driven - drivenBefore);
  return { wallMs, processorMs, writes: count, made, ...told };
}

async function place(hub, { isOfBerth }, sizes) {
  const spec = { clusterSets: [FLEET], numberOfClusters: sizes.select };
  const open = new Set();
  const done = follow(hub, PLACEMENT, { namespace: FLEET }, ({ metadata: { name }, status }) => {
    if (status?.numberOfSelectedClusters === sizes.select && status.decisionGroups?.length > 0) open.add(name);
    return open.size === sizes.placements;
  });
  await done.isOpen;
  await hub.create(PLACEMENT, placements(FLEET, sizes.placements, { spec, isOfBerth, expected: sizes.select }));
  await done;
}

/** One cluster after the other, that with the most placements first. */
async function drainInTurns(hub, running, count, report) {
  const options = { namespace: FLEET };
  const counts = new Map();
  for (const page of (await hub.api.list(PLACEMENT_DECISION, options)).items)
    for (const { clusterName } of page.status.decisions) counts.set(clusterName, (counts.get(clusterName) ?? 0) + 1);
  const drained = [...counts].sort(([, a], [, b]) => b - a).slice(0, count);
  for (const [at, [name, placements]] of drained.entries()) {
    const listing = new Set();
    let isDrained = false;
    const done = follow(hub, PLACEMENT_DECISION, options, ({ metadata, status }) => {
      if (status?.decisions?.some(({ clusterName }) => clusterName === name)) listing.add(metadata.name);
      else listing.delete(metadata.name);
      return isDrained && listing.size === 0;
    });
    await done.isOpen;
    const taints = [{ key: 'bench', effect: 'NoSelect', timeAdded: new Date().toISOString().replace(/\.\d+Z$/, 'Z') }];
    const reaction = await measure(hub, running, async () => {
      isDrained = true;
      await hub.patch(MANAGED_CLUSTER, { name }, { spec: { taints } });
      await done;
    });
    report(at, { ...reaction, placements });
  }
}

async function joinAtOnce(hub, { isOfBerth }, sizes) {
  const [placement] = placements(JOINING, 1, { spec: { clusterSets: [JOINING] }, isOfBerth, expected: sizes.clusters });
  await hub.create(PLACEMENT, [placement]);
  const done = follow(hub, PLACEMENT, { namespace: JOINING }, ({ status }) => status?.numberOfSelectedClusters === sizes.clusters);
  await done.isOpen;
  await hub.create(MANAGED_CLUSTER, clusters(JOINING, sizes.clusters));
  await done;
}

async function carryOut(hub, count) {
  const ended = new Set();
  const isTrue = (conditions, type) => conditions?.some((condition) => condition.type === type && condition.status === 'True');
  const done = follow(hub, MANIFEST_WORK, { namespace: WORK_CLUSTER }, ({ metadata, status }) => {
    if (isTrue(status?.conditions, 'Applied') && isTrue(status?.conditions, 'Available')) ended.add(metadata.name);
    return ended.size === count;
  });
  await done.isOpen;
  await hub.create(MANIFEST_WORK, works(count));
  await done;
}

/**
 * Lists and watches until `take`, called with each object that is there and each change, answers true.
 * @returns a promise of that, with a promise `isOpen` that the watch has begun
 */
function follow(hub, kind, options, take) {
  const over = new AbortController();
  let opened;
  const isOpen = new Promise((resolve) => (opened = resolve));
  const see = (object) => {
    if (take(object)) over.abort();
  };
  return Object.assign(followKind(hub.api, kind, { ...options, signal: over.signal, onOpen: opened }, see), { isOpen });
}

/** @throws Error unless the pages of the namespace list so many clusters in all */
async function checkPages(hub, namespace, wanted) {
  const { items } = await hub.api.list(PLACEMENT_DECISION, { namespace });
  const listed = items.reduce((sum, { status }) => sum + (status?.decisions?.length ?? 0), 0);
  if (listed !== wanted) throw new Error(`${listed} clusters are listed in ${namespace}, expected ${wanted}`);
}
