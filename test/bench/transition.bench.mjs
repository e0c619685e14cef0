// What a whole transition costs when a commit affects every placement, from the snapshot to rest: all rounds over all placements.
//   npm run build:modules && node test/bench/transition.bench.mjs [CLUSTERS [PLACEMENTS [RUNS]]]
import { execFileSync } from 'node:child_process';
import { IncrementalScheduler } from '../../.cache/modules/packages/placement/src/incremental-scheduler.js';
import { Transitions } from '../../.cache/modules/src/core/transition/transition.js';

const [clusters = 10_000, placements = 1_000, runs = 9] = process.argv.slice(2).map(Number);
const generator = new URL('gen-fleet.mjs', import.meta.url).pathname;
const start = JSON.parse(execFileSync(process.execPath, [generator, clusters, placements], { maxBuffer: 2 ** 30 }));

const follower = new IncrementalScheduler();
const transitions = new Transitions({ decide: (snapshot) => follower.decide(snapshot), outcomeOf: (_key, { selected }) => selected });
function transition(snapshot) {
  globalThis.gc?.();
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  const steps = transitions.run(snapshot);
  for (;;) {
    const { done, value } = steps.next();
    if (!done) continue;
    const { user, system } = process.cpuUsage(cpu);
    return { ...value, wallMs: performance.now() - startedAt, cpuMs: (user + system) / 1000 };
  }
}

const every = (part, change) => (items) => items.map((item, at) => (at % part === 0 ? change(item) : item));
const tainted = ({ spec, ...cluster }, key) => ({ ...cluster, spec: { ...spec, taints: [...(spec.taints ?? []), { key, effect: 'NoSelect' }] } });
const commits = {
  'every placement asks for one cluster more': (snapshot) => ({ placements: snapshot.placements.map((one) => ({ ...one, spec: { ...one.spec, numberOfClusters: (one.spec.numberOfClusters ?? 1_000) + 1 } })) }),
  'a tenth of the clusters is tainted': (snapshot, run) => ({ clusters: every(10, (one) => tainted(one, `run-${run}`))(snapshot.clusters) }),
  'a cluster joins': (snapshot, run) => ({ clusters: [...snapshot.clusters, { ...snapshot.clusters[0], metadata: { ...snapshot.clusters[0].metadata, name: `new-${run}` } }] }),
};
const ms = (value) => `${value.toFixed(0)} ms`;
const first = transition(start);
console.log(`${clusters} clusters x ${placements} placements: first transition ${ms(first.cpuMs)} CPU / ${ms(first.wallMs)} wall, ${first.rounds} rounds`);
const settled = transition(first.snapshot).snapshot;
for (const [name, commit] of Object.entries(commits)) {
  const seen = [];
  for (let run = 0; run < runs; run++) {
    // Each from the same snapshot: the follower goes back to it in between, and that is not counted.
    transition(settled);
    seen.push(transition({ ...settled, ...commit(settled, run) }));
  }
  const median = (unit) => seen.map((one) => one[unit]).sort((a, b) => a - b)[Math.floor(runs / 2)];
  const moved = seen.at(-1).decidedIn.size;
  console.log(`  ${name}: median of ${runs}: ${ms(median('cpuMs'))} CPU / ${ms(median('wallMs'))} wall (aim 300 ms); ${moved} placements move, ${seen.at(-1).rounds} rounds`);
}
