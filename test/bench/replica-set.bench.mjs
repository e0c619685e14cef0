// Run after `npm run build:modules`: node test/bench/replica-set.bench.mjs
// One replica set on N clusters: a pass over works that are up to date, a pass that writes all, and the rollout decision alone.
import { planReplicaSet } from '../../.cache/modules/src/core/work/replica-set/plan-replica-set.js';
import { clusterSpecs } from '../../.cache/modules/src/core/work/replica-set/substitute-cluster.js';

const NOW = '2026-03-01T12:00:00Z';
const template = (value) => ({
  workload: {
    manifests: Array.from({ length: 20 }, (_, index) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: `cm-${index}`, namespace: 'default' },
      data: { value, text: 'x'.repeat(500) },
    })),
  },
});

function inputFor(clusters, spec, children) {
  const pages = [];
  for (let at = 0; at < clusters.length; at += 100) pages.push(clusters.slice(at, at + 100));
  const replicaSet = {
    apiVersion: 'work.open-cluster-management.io/v1alpha1',
    kind: 'ManifestWorkReplicaSet',
    metadata: { name: 'web', namespace: 'team' },
    spec: {
      manifestWorkTemplate: spec,
      placementRefs: [{ name: 'all', rolloutStrategy: { type: 'Progressive', progressive: { maxConcurrency: '10%' } } }],
    },
  };
  return {
    replicaSet,
    placements: new Map([['all', { metadata: { name: 'all' }, status: { numberOfSelectedClusters: clusters.length } }]]),
    decisions: new Map([
      [
        'all',
        pages.map((page, index) => ({
          metadata: { name: `all-${index}`, labels: { 'cluster.open-cluster-management.io/decision-group-index': '0' } },
          status: { decisions: page.map((clusterName) => ({ clusterName, reason: '' })) },
        })),
      ],
    ]),
    children,
    specsFor: clusterSpecs(replicaSet, spec, () => undefined),
    takesWork: () => true,
    now: NOW,
    nowMs: Date.parse(NOW),
    rules: 'berth',
    paused: false,
  };
}

function median(times) {
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)];
}

function measure(run, rounds = 9) {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    run();
    times.push(performance.now() - start);
  }
  return median(times);
}

for (const n of [1_000, 10_000]) {
  const clusters = Array.from({ length: n }, (_, index) => `cluster-${index}`);
  const spec = template('1');
  const all = { ...inputFor(clusters, spec, []) };
  all.replicaSet.spec.placementRefs[0].rolloutStrategy = { type: 'All' };
  const conditions = ['Applied', 'Available'].map((type) => ({ type, status: 'True', reason: 'x', message: '', observedGeneration: 1, lastTransitionTime: NOW }));
  const works = planReplicaSet(all)
    .actions.map(({ work }) => work)
    .map((work) => ({ ...work, spec: structuredClone(work.spec), metadata: { ...work.metadata, generation: 1 }, status: { conditions } }));
  const upToDate = inputFor(clusters, spec, works);
  const firstMs = measure(() => planReplicaSet(upToDate), 1);
  const laterMs = measure(() => planReplicaSet(upToDate));
  if (planReplicaSet(upToDate).actions.length !== 0) throw new Error('a fleet that is up to date must not be written');
  const createMs = measure(() => planReplicaSet(all));
  console.log(
    `${n} clusters x 20 manifests: first pass ${firstMs.toFixed(0)} ms, later pass ${laterMs.toFixed(1)} ms, plan of ${n} new works ${createMs.toFixed(1)} ms`,
  );
}
