import { parseManifests } from '../../../src/adapters/yaml/parse-manifests.ts';
import { expect, it } from 'vitest';
import { beside, plainReason } from '../../../src/core/preview/plain-reasons.ts';
import { snapshotOfObjects } from '../../../src/core/sources/snapshot-of-objects.ts';
import { cluster, placement } from './plan-fixture.ts';

const snapshot = (...documents: readonly string[]) => {
  const { manifests } = parseManifests({ file: 'f.yaml', text: documents.join('---\n') });
  return snapshotOfObjects(manifests, { now: '2026-03-01T12:00:00Z' });
};
const labelled = (labels: string, extra = '') =>
  cluster('c1', extra).replace('{name: c1}', `{name: c1, labels: {${labels}}}`);
const taint = (key: string, value = '') =>
  cluster('c1', `spec: {taints: [{key: ${key}, value: '${value}', effect: NoSelect}]}\n`);
const asks = (region: string, number = 2) =>
  placement(
    'web',
    `{numberOfClusters: ${number}, predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {region: ${region}}}}}]}`,
  );
const binding =
  'apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\nmetadata: {name: prod, namespace: shop}\nspec: {clusterSet: prod}\n';
const SET = 'cluster.open-cluster-management.io/clusterset';
const C1 = ['ManagedCluster c1'];

it.each<{
  name: string;
  before: readonly string[];
  after: readonly string[];
  causes: readonly string[];
  want: string | undefined;
  besideC1?: string;
  isTainted?: true;
}>([
  {
    name: 'a new cluster',
    before: [],
    after: [cluster('c1')],
    causes: C1,
    want: 'c1 is new',
    besideC1: 'new cluster',
  },
  {
    name: 'a deleted cluster',
    before: [cluster('c1')],
    after: [],
    causes: C1,
    want: 'c1 is not in the fleet any more',
    besideC1: 'it is not in the fleet any more',
  },
  {
    name: 'a drained cluster',
    before: [cluster('c1')],
    after: [taint('drain')],
    causes: C1,
    want: 'c1 is drained',
  },
  {
    name: 'another taint',
    before: [cluster('c1')],
    after: [taint('maintenance', 'tonight')],
    causes: C1,
    want: 'c1 has the taint maintenance=tonight',
  },
  {
    name: 'a taint that is gone',
    before: [taint('maintenance')],
    after: [cluster('c1')],
    causes: C1,
    want: 'the taint maintenance of c1 is gone',
    besideC1: 'the taint maintenance is gone',
  },
  {
    name: 'a label that the placement asks for, and another one',
    before: [labelled('region: eu, a: b'), asks('eu')],
    after: [labelled('region: us, a: c'), asks('eu')],
    causes: C1,
    want: 'label region of c1 is not eu any more, but us',
    besideC1: 'label region is not eu any more, but us',
  },
  {
    name: 'a label that is gone',
    before: [labelled('region: eu'), asks('eu')],
    after: [cluster('c1'), asks('eu')],
    causes: C1,
    want: 'label region of c1 is gone',
  },
  {
    name: 'a taint and a label at once, where the taint decides',
    before: [labelled('region: eu'), asks('eu')],
    after: [labelled('region: us', 'spec: {taints: [{key: drain, effect: NoSelect}]}\n'), asks('eu')],
    causes: C1,
    want: 'c1 is drained',
    isTainted: true,
  },
  {
    name: 'another cluster set',
    before: [labelled(`${SET}: prod`)],
    after: [labelled(`${SET}: test`)],
    causes: C1,
    want: 'c1 is not in cluster set prod any more',
  },
  {
    name: 'an edited placement',
    before: [asks('eu')],
    after: [asks('eu', 1)],
    causes: ['Placement shop/web'],
    want: 'numberOfClusters 2 → 1',
  },
  {
    name: 'a binding that is gone',
    before: [binding],
    after: [],
    causes: ['ManagedClusterSetBinding shop/prod'],
    want: 'namespace shop may not use cluster set prod any more',
  },
  {
    name: 'several causes, its own first',
    before: [],
    after: [cluster('c1'), cluster('c8'), cluster('c9')],
    causes: ['ManagedCluster c9', 'ManagedCluster c1', 'ManagedCluster c8'],
    want: 'c1 is new and c9 is new and 1 more cause',
  },
  {
    name: 'decisions of another placement',
    before: [],
    after: [],
    causes: ['Placement shop/db (its decisions changed)'],
    want: 'Placement shop/db (its decisions changed)',
  },
  { name: 'what nobody changed', before: [], after: [], causes: [], want: undefined },
])('says $name', ({ before, after, causes, want, besideC1, isTainted }) => {
  const verdict = isTainted
    ? ({ kind: 'tainted', taints: [] } as const)
    : ({ kind: 'no-such-cluster' } as const);
  const why = plainReason(causes, {
    before: snapshot(...before),
    after: snapshot(...after),
    placement: 'shop/web',
    cluster: 'c1',
    verdict,
  });
  expect(why).toBe(want);
  if (besideC1 !== undefined) expect(beside('c1', why ?? '')).toBe(besideC1);
});
