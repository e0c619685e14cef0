// How long explanations take on a decided fleet. Usage: npm run build:modules && node test/bench/explain.bench.mjs [CLUSTERS [PLACEMENTS]]
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const [clusters = '10000', placements = '1000'] = process.argv.slice(2);
const { PlacementEngine } = await import('../../.cache/modules/packages/placement/src/engine.js');
const { decisionOfEngine } = await import('../../.cache/modules/packages/placement/src/explain/verdict/decide-in-snapshot.js');
const { explainPair } = await import('../../.cache/modules/packages/placement/src/explain/explain-pair.js');
const { explainPlacement } = await import('../../.cache/modules/packages/placement/src/explain/explain-placement.js');
const { describePair } = await import('../../.cache/modules/packages/placement/src/explain/text/describe-pair.js');

const generator = process.env.GEN_FLEET ?? fileURLToPath(new URL('./gen-fleet.mjs', import.meta.url));
const text = execFileSync(process.execPath, [generator, clusters, placements], { maxBuffer: 2 ** 31 - 1 });
const line = JSON.parse(text.toString('utf8').split('\n')[0]);
const snapshot = line.case ?? line;
for (const list of ['placements', 'clusters', 'clusterSets', 'bindings', 'decisions', 'scores']) snapshot[list] ??= [];
const engine = new PlacementEngine(snapshot);
engine.scheduleAll();

const PAIRS = 2000;
const times = { selected: [], refused: [] };
const slow = { ms: 0 };
const cpu = [];
const kinds = new Map();
for (let i = 0; i < PAIRS + 200; i++) {
  const placement = snapshot.placements[(i * 7919) % snapshot.placements.length].metadata;
  const cluster = snapshot.clusters[(i * 104729) % snapshot.clusters.length].metadata.name;
  const start = performance.now();
  const cpuStart = process.cpuUsage();
  const decided = decisionOfEngine(engine, placement, snapshot.now);
  const pair = explainPair({ snapshot, decided, cluster });
  describePair(pair);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpuStart);
  if (i < 200) continue; // warming up
  if (!pair.selected) cpu.push((user + system) / 1000);
  times[pair.selected ? 'selected' : 'refused'].push(ms);
  const of = kinds.get(pair.verdict.kind) ?? [];
  of.push(ms);
  kinds.set(pair.verdict.kind, of);
  if (ms > slow.ms) Object.assign(slow, { ms, kind: pair.verdict.kind, suggestions: pair.suggestions.length });
}
const wholes = [];
for (let i = 0; i < 40; i++) {
  const placement = snapshot.placements[(i * 7919) % snapshot.placements.length].metadata;
  const start = performance.now();
  explainPlacement(snapshot, decisionOfEngine(engine, placement, snapshot.now));
  wholes.push(performance.now() - start);
}

const quantile = (list, q) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];
const row = (name, list) =>
  list.length === 0
    ? `${name.padEnd(24)} none`
    : `${name.padEnd(24)} n=${String(list.length).padEnd(6)} p50 ${quantile(list, 0.5).toFixed(2)} ms   p99 ${quantile(list, 0.99).toFixed(2)} ms   max ${Math.max(...list).toFixed(2)} ms`;
console.log(`${clusters} clusters x ${placements} placements, pairs explained with suggestions and text`);
console.log(row('refused pair', times.refused));
console.log(row('  its CPU time', cpu), '(what a machine of one\'s own would need; all threads)');
for (const [kind, list] of kinds) console.log(row(`  ${kind}`, list));
console.log(row('selected pair', times.selected));
console.log(row('whole placement', wholes));
console.log(`slowest pair: ${slow.ms.toFixed(2)} ms (${slow.kind}, ${slow.suggestions} suggestions)`);
