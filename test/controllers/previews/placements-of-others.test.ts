import { describe, expect, it } from 'vitest';
import { parseManifests } from '../../../src/adapters/yaml/parse-manifests.ts';
import { explainInSnapshot } from '../../../src/controllers/explanations/explain-offline.ts';
import { withSchedulingEnabled } from '../../../src/controllers/inventory/schedulable-placement.ts';
import { planContents } from '../../../src/controllers/previews/plan-contents.ts';
import { snapshotOfObjects } from '../../../src/core/sources/snapshot-of-objects.ts';
import { OCM, ONE_SET } from './one-set.ts';

const NOW = '2026-03-01T12:00:00Z';
const clusters = ['c1', 'c2', 'c3'].map(
  (name) => `apiVersion: ${OCM}/v1
kind: ManagedCluster
metadata: {name: ${name}, labels: {${OCM}/clusterset: all}}
`,
);
const placement = (name: string, annotations = '') => `apiVersion: ${OCM}/v1beta1
kind: Placement
metadata: {name: ${name}, namespace: shop, annotations: {${annotations}}}
spec: {}
`;
const pages = (name: string, ...selected: string[]) => `apiVersion: ${OCM}/v1beta1
kind: PlacementDecision
metadata: {name: ${name}-decision-1, namespace: shop, labels: {${OCM}/placement: ${name}}}
status: {decisions: [${selected.map((cluster) => `{clusterName: ${cluster}, reason: ""}`).join(', ')}]}
`;
const objectsOf = (...documents: string[]) => {
  const { manifests, problems } = parseManifests({ file: 'f.yaml', text: documents.join('---\n') });
  expect(problems).toEqual([]);
  return manifests;
};

/** One placement of Git, one that Berth marked, one of somebody else; each published on another cluster than Berth would take. */
const READ = snapshotOfObjects(
  objectsOf(
    ...clusters,
    ONE_SET,
    placement('declared'),
    placement('marked', `berth.dev/scheduler: berth, ${OCM}/experimental-scheduling-disable: "true"`),
    placement('theirs'),
    pages('declared', 'c1'),
    pages('marked', 'c1'),
    pages('theirs', 'c1'),
  ),
  { now: NOW },
);
const HUB = { ...READ, placements: READ.placements.map(withSchedulingEnabled) };
const BASE = objectsOf(...clusters.slice(0, 2), ONE_SET, placement('declared'));
const HEAD = objectsOf(...clusters.slice(0, 1), ONE_SET, placement('declared'));

const planOn = (decides: 'own' | 'all') =>
  planContents({
    base: { fleet: { objects: BASE }, end: { name: 'main', commit: 'a' } },
    head: { fleet: { objects: HEAD }, end: { name: 'head', commit: 'b' } },
    now: NOW,
    hub: HUB,
    decides,
  }).plan;

describe('placements on a hub that another controller decides', () => {
  it('are held like others when the merge declares them, and they would select nothing', () => {
    const theirs = placement('theirs').replace('spec: {}', 'spec: {clusterSets: [none]}');
    const { plan } = planContents({
      base: { fleet: { objects: BASE }, end: { name: 'main', commit: 'a' } },
      head: {
        fleet: { objects: objectsOf(...clusters.slice(0, 2), ONE_SET, placement('declared'), theirs) },
        end: { name: 'head', commit: 'b' },
      },
      now: NOW,
      hub: HUB,
      decides: 'own',
    });
    expect(plan.placements.map(({ name, held }) => [name, held?.reason])).toEqual([['theirs', 'WouldEmpty']]);
  });

  it('are not predicted in a plan, which says whose they are', () => {
    const plan = planOn('own');
    expect(plan.placements.map(({ name }) => name)).toEqual(['declared', 'marked']);
    expect(plan.summary.placements).toBe(2);
    expect(plan.notEvaluated).toContain(
      'Another controller decides 1 placement on the hub: neither in Git nor marked with berth.dev/scheduler: berth. ' +
        'Their published decisions count as they are: shop/theirs.',
    );
  });

  it('are Berth’s where it decides all', () => {
    const plan = planOn('all');
    expect(plan.placements.map(({ name }) => name)).toEqual(['declared', 'marked', 'theirs']);
    expect(plan.notEvaluated.join()).not.toContain('Another controller');
  });

  it('are explained by what is published, in one sentence that says whose they are', () => {
    const { lines, explanation } = explainInSnapshot(
      HUB,
      { namespace: 'shop', name: 'theirs' },
      { decides: 'own' },
    );
    expect(lines).toEqual([
      'Placement shop/theirs: 1 of 3 clusters published by another controller: c1',
      '  Another controller decides this placement, because it carries no annotation berth.dev/scheduler: berth (with --embedded Berth decides every placement).',
    ]);
    expect(explanation).toMatchObject({ outcome: 'skipped', selected: [], publishedByOthers: ['c1'] });
  });

  it.each([
    { cluster: 'c1', selected: true },
    { cluster: 'c2', selected: false },
  ])('are explained for the cluster $cluster without a suggestion', ({ cluster, selected }) => {
    const ask = { cluster, decides: 'own' } as const;
    const { lines, explanation } = explainInSnapshot(HUB, { namespace: 'shop', name: 'theirs' }, ask);
    expect(explanation).toMatchObject({ selected, suggestions: [] });
    expect(lines[1]).toContain('Another controller decides this placement');
  });

  it.each([
    { name: 'marked', decides: 'own' },
    { name: 'theirs', decides: 'all' },
  ] as const)('$name is explained by the engine where Berth decides $decides', ({ name, decides }) => {
    const { explanation } = explainInSnapshot(HUB, { namespace: 'shop', name }, { decides });
    expect(explanation).not.toHaveProperty('publishedByOthers');
    expect(explanation).toMatchObject({ outcome: 'scheduled' });
  });
});
