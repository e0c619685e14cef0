// What the controller's transition costs after one placement changed, from the store to the last decision: all rounds over all placements.
// Usage: npm run build:modules && node test/bench/cycle.bench.mjs [FILES [CHANGES]]
import yaml from 'js-yaml';
import { ObjectCache } from '../../.cache/modules/packages/kube/src/cache/object-cache.js';
import { HubInventory } from '../../.cache/modules/src/controllers/inventory/hub-inventory.js';
import { IncrementalScheduler } from '../../.cache/modules/packages/placement/src/incremental-scheduler.js';
import { Transitions } from '../../.cache/modules/src/core/transition/transition.js';
import { fileOf, manifestOf, placementsOf, setFiles } from './gen-repository.mjs';

const FILES = Number(process.argv[2] ?? 20_000);
const CHANGES = Number(process.argv[3] ?? 60);
const clock = { now: () => Date.now() };
const cache = new ObjectCache({ api: {}, clock, random: () => 0.5, log: console, transforms: {}, onError: () => undefined });
const inventory = new HubInventory({ cache, clock });
const { placements, clusters, clusterSets, bindings, decisions } = inventory;
const stores = new Map([placements, clusters, clusterSets, bindings].map(({ kind, store }) => [kind.kind, store]));
let version = 0;
const put = (object) => stores.get(object.kind)?.put({ ...object, metadata: { ...object.metadata, uid: object.metadata.name, generation: version, resourceVersion: String(++version) } });
const texts = [...setFiles().map(([, text]) => text), ...Array.from({ length: FILES }, (_, i) => i).filter((i) => /placement|cluster-/.test(fileOf(i))).map(manifestOf)];
for (const text of texts) yaml.loadAll(text).forEach(put);

const follower = new IncrementalScheduler();
const timed = (action) => {
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()];
  const result = action();
  const wallMs = performance.now() - startedAt;
  const { user, system } = process.cpuUsage(cpu);
  return [result, wallMs, (user + system) / 1_000];
};
const transitions = new Transitions({ decide: (snapshot) => follower.decide(snapshot), outcomeOf: (_key, { selected }) => selected });
const transition = () => {
  const steps = transitions.run(inventory.snapshot());
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
};
const [first, coldMs] = timed(transition);
for (const result of first.results.values()) publish(result);
transition();
const times = { 'a transition': [], 'its processor time': [], 'one with nothing changed': [], 'the processor time of that': [] };
const rounds = [];
const numbers = placementsOf(FILES);
for (let round = 0; round < CHANGES; round++) {
  const [object] = yaml.loadAll(manifestOf(numbers[(round * 1_237) % numbers.length]));
  // Ten clusters more, as a commit of ingest-serve.bench.mjs asks for.
  put({ ...object, spec: { ...object.spec, numberOfClusters: object.spec.numberOfClusters + 10 } });
  const [made, ...ofChange] = timed(transition);
  rounds.push(made.rounds);
  for (const key of made.decidedIn.keys()) publish(made.results.get(key));
  const [, ...ofNone] = timed(transition);
  [...ofChange, ...ofNone].forEach((took, at) => Object.values(times)[at].push(took));
}
console.log(`${first.results.size} placements (${first.rounds} rounds at the start, up to ${Math.max(...rounds)} after a change), ${clusters.store.size} clusters: first transition ${coldMs.toFixed(0)} ms; ${CHANGES} changes, the first third left out:`);
for (const [name, all] of Object.entries(times)) {
  const sorted = all.slice(CHANGES / 3).sort((a, b) => a - b);
  const at = (part) => sorted[Math.ceil(sorted.length * part) - 1].toFixed(1);
  console.log(`  ${name}: median ${at(0.5)} ms, p95 ${at(0.95)} ms`);
}

/** One page each: no result here has more clusters than fit. */
function publish({ placement, selected }) {
  const { namespace, name } = placement.metadata;
  decisions.store.put({
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'PlacementDecision',
    metadata: { name: `${name}-decision-1`, namespace, uid: name, resourceVersion: String(++version), labels: { 'cluster.open-cluster-management.io/placement': name } },
    status: { decisions: selected.map((clusterName) => ({ clusterName, reason: '' })) },
  });
}
