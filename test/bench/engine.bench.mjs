#!/usr/bin/env node
// What scheduling costs: engine against the plain implementation, side by side, on generated fleets.
//   npm run build:modules && node --expose-gc test/bench/engine.bench.mjs [--quick] [--huge]
// CPU time is printed next to wall time: on a busy machine only the first is comparable.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, openSync, closeSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

const dist = new URL('../../.cache/modules/', import.meta.url);
const { PlacementEngine } = await import(new URL('packages/placement/src/engine.js', dist));
const options = new Set(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), 'berth-bench-'));

function fleet(clusters, placements) {
  const file = join(folder, `${clusters}x${placements}.json`);
  const out = openSync(file, 'w');
  execFileSync('node', [new URL('gen-fleet.mjs', import.meta.url).pathname, clusters, placements], {
    stdio: ['ignore', out, 'inherit'],
  });
  closeSync(out);
  return JSON.parse(readFileSync(file, 'utf8'));
}

function measure(action) {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const value = action();
  const wallMs = performance.now() - start;
  const used = process.cpuUsage(cpu);
  return { value, wallMs, cpuMs: (used.user + used.system) / 1000 };
}

const ms = (value) => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;
const percentile = (values, p) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * p))];

/** Cold from parsed objects (indexes included), then warm: the same engine again over its own decisions. */
function full(clusters, placements, { repeat = 3, limits = {} } = {}) {
  const snapshot = fleet(clusters, placements);
  const runs = Array.from({ length: repeat }, () => {
    globalThis.gc?.();
    const cold = measure(() => {
      const engine = new PlacementEngine(snapshot);
      engine.scheduleAll();
      return engine;
    });
    return { cold, warm: measure(() => cold.value.scheduleAll()) };
  });
  const best = (kind, unit) => Math.min(...runs.map((run) => run[kind][unit]));
  console.log(
    `${clusters} clusters x ${placements} placements: ` +
      `cold ${ms(best('cold', 'cpuMs'))} CPU / ${ms(best('cold', 'wallMs'))} wall, ` +
      `warm ${ms(best('warm', 'cpuMs'))} CPU / ${ms(best('warm', 'wallMs'))} wall` +
      (limits.cold === undefined ? '' : ` (aims: cold ${limits.cold} ms, warm ${limits.warm ?? '-'} ms)`),
  );
  return { snapshot, engine: runs.at(-1).cold.value };
}

/** The whole process: parsed objects, indexes, results and the runtime itself. */
function memory(engine) {
  globalThis.gc?.();
  const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
  const mib = (bytes) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  console.log(
    `  with ${engine.results().length} results held: process ${mib(rss)}, of it heap ${mib(heapUsed)}, bitsets and columns ${mib(arrayBuffers)}`,
  );
}

const cluster = (change) => (snapshot, at, i) => ({ clusters: [(snapshot.clusters[at] = change(snapshot.clusters[at], i))] });
const CHANGES = {
  'a label nobody reads': cluster((c, i) => ({ ...c, metadata: { ...c.metadata, labels: { ...c.metadata.labels, wave: `w${i}` } } })),
  'memory': cluster((c, i) => ({ ...c, status: { ...c.status, allocatable: { ...c.status.allocatable, memory: `${20 + (i % 30)}Gi` } } })),
  'a taint': cluster((c, i) => ({ ...c, spec: { ...c.spec, taints: [{ key: `t${i}`, effect: 'NoSelect', timeAdded: '2026-03-01T12:00:00Z' }] } })),
  'a region': cluster((c, i) => ({ ...c, metadata: { ...c.metadata, labels: { ...c.metadata.labels, region: `region-${i % 12}` } } })),
  'a claim': cluster((c, i) => ({ ...c, status: { ...c.status, clusterClaims: [{ name: 'platform.open-cluster-management.io', value: ['AWS', 'GCP', 'Azure'][i % 3] }] } })),
};
const SCORE_CHANGES = {
  'a score': (snapshot, at, i) => ({ scores: [usage(snapshot.clusters[at].metadata.name, (i * 37) % 201 - 100)] }),
};

function usage(namespace, value) {
  const scores = [{ name: 'cpu', value }];
  return { apiVersion: 'cluster.open-cluster-management.io/v1alpha1', kind: 'AddOnPlacementScore', metadata: { name: 'usage', namespace }, status: { validUntil: '2030-01-01T00:00:00Z', scores } };
}

/** Every cluster has a score of an add-on, and two placements of a hundred go by it; these select at large. */
function withScores(snapshot) {
  const scores = snapshot.clusters.map(({ metadata }, i) => usage(metadata.name, (i * 7919) % 201 - 100));
  const byScore = { mode: 'Additive', configurations: [{ scoreCoordinate: { type: 'AddOn', addOn: { resourceName: 'usage', scoreName: 'cpu' } }, weight: 2 }] };
  const placements = snapshot.placements.map((one, i) => (i % 50 === 0 ? { ...one, spec: { ...one.spec, predicates: undefined, prioritizerPolicy: byScore } } : one));
  return { ...snapshot, placements, scores };
}

/** One cluster changes: the new decisions of every placement it matters to. */
function deltas(title, given, count, changes = CHANGES) {
  const snapshot = { ...given, clusters: [...given.clusters] };
  const engine = new PlacementEngine(given);
  engine.scheduleAll();
  const samples = [];
  const kinds = Object.entries(changes);
  for (let i = 0; i < count; i++) {
    const [kind, change] = kinds[i % kinds.length];
    const delta = change(snapshot, (i * 7919) % snapshot.clusters.length, i);
    const { value, wallMs, cpuMs } = measure(() => engine.applyDelta(delta));
    if (i >= count / 10) samples.push({ kind, affected: value.length, wallMs, cpuMs });
  }
  console.log(`${title}: ${samples.length} changes of one cluster`);
  const ranges = [['nobody affected', 0, 0], ['1 to 10 affected', 1, 10], ['11 to 100', 11, 100], ['more than 100', 101, Infinity]];
  for (const [name, low, high] of ranges) row(name, samples.filter(({ affected }) => affected >= low && affected <= high));
  for (const [kind] of kinds) row(`  ${kind}`, samples.filter((one) => one.kind === kind));
}

function row(name, some) {
  if (some.length === 0) return;
  const cpu = some.map(({ cpuMs }) => cpuMs);
  const wall = some.map(({ wallMs }) => wallMs);
  const affected = some.reduce((sum, one) => sum + one.affected, 0) / some.length;
  console.log(
    `  ${name} (${some.length} changes, ${affected.toFixed(1)} on average): CPU p50 ${ms(percentile(cpu, 0.5))}, p99 ${ms(percentile(cpu, 0.99))}; ` +
      `wall p50 ${ms(percentile(wall, 0.5))}, p99 ${ms(percentile(wall, 0.99))}`,
  );
}

/** The plain implementation, built on the side from packages/placement/test/reference. */
async function ratio(clusters, placements) {
  const out = mkdtempSync(join(new URL('../../.cache/modules', import.meta.url).pathname, 'reference-'));
  try {
    const source = new URL('../../packages/placement/test/reference/reference-schedule.ts', import.meta.url).pathname;
    const outfile = join(out, 'reference-schedule.js');
    await build({ entryPoints: [source], outfile, bundle: true, platform: 'node', format: 'esm', logLevel: 'warning' });
    const { scheduleAllPlainly } = await import(outfile);
    const { compileCel } = await import(new URL('packages/placement/src/filter/cel-hook.js', dist));
    const snapshot = fleet(clusters, placements);
    const plain = measure(() => scheduleAllPlainly(snapshot, compileCel));
    const engine = measure(() => new PlacementEngine(snapshot).scheduleAll());
    const same = plain.value.every((one, at) => JSON.stringify(one.selected) === JSON.stringify(engine.value[at].selected));
    console.log(
      `${clusters} x ${placements} cold, plain ${ms(plain.cpuMs)} CPU against engine ${ms(engine.cpuMs)} CPU: ` +
        `${(plain.cpuMs / engine.cpuMs).toFixed(0)} times; decisions ${same ? 'equal' : 'DIFFERENT'}`,
    );
    if (!same) process.exitCode = 1;
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

try {
  console.log(`Node ${process.version}`);
  full(1000, 1000, { limits: { cold: 80 } });
  const { snapshot, engine } = full(10_000, options.has('--quick') ? 100 : 1000, { limits: { cold: 450, warm: 350 } });
  memory(engine);
  const changes = options.has('--quick') ? 1000 : 6000;
  deltas('10,000 clusters x 1,000 placements', snapshot, changes);
  deltas('the same with scores of an add-on', withScores(snapshot), changes / 2, SCORE_CHANGES);
  const narrow = { ...snapshot, placements: snapshot.placements.map((one, i) => (i % 20 === 0 ? one : { ...one, spec: { ...one.spec, predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { cloud: 'Google', tier: 'gold', wave: String(i % 50) } } } }] } })) };
  deltas('the same with narrow placements', narrow, changes / 6);
  if (!options.has('--quick')) {
    full(1000, 10_000, { limits: { cold: 1000 } });
    await ratio(10_000, 100);
  }
  if (options.has('--huge')) {
    const huge = full(100_000, 1000, { repeat: 1 });
    console.log(`  process ${(process.memoryUsage().rss / 2 ** 20).toFixed(0)} MiB, ${huge.engine.results().length} results`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
