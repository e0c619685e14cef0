import { expect, it } from 'vitest';
import { parseManifests } from '../../../src/adapters/yaml/parse-manifests.ts';
import { planContents } from '../../../src/controllers/previews/plan-contents.ts';
import { specHash } from '../../../src/core/publish/judge/decide-publication.ts';
import type { CompactRecord } from '../../../src/core/publish/record/compact-record.ts';
import { snapshotOfObjects } from '../../../src/core/sources/snapshot-of-objects.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Placement } from '@berth/ocm/kind/placement';
import { sha256 } from '@berth/runtime/sha256';
import { OCM, ONE_SET } from './one-set.ts';

const NOW = '2026-03-01T12:00:00Z';
const CLUSTERS = ['c1', 'c2', 'c3', 'c4'];
const fleet = [
  ...CLUSTERS.map(
    (name) => `apiVersion: ${OCM}/v1
kind: ManagedCluster
metadata: {name: ${name}, labels: {${OCM}/clusterset: all}}
`,
  ),
  ONE_SET,
];
const web = (labels: string, count = 4) => `apiVersion: ${OCM}/v1beta1
kind: Placement
metadata: {name: web, namespace: shop, labels: {${labels}}, annotations: {berth.dev/removal-budget: 50%}}
spec: {numberOfClusters: ${count}}
`;
const pages = `apiVersion: ${OCM}/v1beta1
kind: PlacementDecision
metadata: {name: web-decision-1, namespace: shop, labels: {${OCM}/placement: web}}
status: {decisions: [${CLUSTERS.map((clusterName) => `{clusterName: ${clusterName}, reason: ""}`).join(', ')}]}
`;
const objectsOf = (...documents: string[]) =>
  parseManifests({ file: 'f.yaml', text: documents.join('---\n') }).manifests;
const objectOf = (text: string) => objectsOf(text)[0]?.object as KubeObject;

/** Published on all clusters, after two of them were lost under the spec that the hub has now. */
const published = () => {
  const read = snapshotOfObjects(objectsOf(...fleet, web(''), pages), { now: NOW });
  const [placement] = read.placements as readonly [Placement];
  const live = {
    ...placement,
    metadata: { ...placement.metadata, creationTimestamp: '2026-03-01T00:00:00Z' },
  };
  const record = {
    ...{ hash: 'r', placement: 'shop/web', publishedAt: '2026-03-01T11:58:00Z', released: null },
    ...{ spec: specHash(sha256, live), removed: { count: 2, names: [] } },
  } as unknown as CompactRecord;
  return { hub: { ...read, placements: [live] }, recordsOf: () => [record], now: NOW };
};

it('a spec that the hub changes when a label is set is a changed one, and its earlier removals do not count', () => {
  const planned = (head: string, after: ReadonlyMap<string, KubeObject>) =>
    planContents({
      base: { fleet: { objects: objectsOf(...fleet, web('')) }, end: { name: 'main', commit: 'a' } },
      head: { fleet: { objects: objectsOf(...fleet, head) }, end: { name: 'head', commit: 'b' } },
      ...{ ...published(), held: { before: new Map(), after } },
    }).plan.placements;
  const capped = new Map([['Placement shop/web', objectOf(web('size: small', 2))]]);
  const [by] = planned(web('size: small'), capped);
  expect(by).toMatchObject({ removed: [{ cluster: 'c3' }, { cluster: 'c4' }] });
  expect(by?.held).toBeUndefined();
});

it('a placement that is about to leave Git and keeps another spec moves without the merge, and not with it', () => {
  const left = objectOf(web(''));
  const withdrawn = [{ object: left, after: objectOf(web('', 2)), because: 'kept by another manager' }];
  const due = [{ left: [left], keptOnHub: [], deleted: [], withdrawn }];
  const side = (commit: string) => ({
    fleet: { objects: objectsOf(...fleet) },
    end: { name: commit, commit },
  });
  const { plan } = planContents({
    ...{ base: side('a'), head: side('b'), ...published() },
    ...{ due, deletions: due },
  });
  expect(plan.waiting).toEqual([{ kind: 'change', subject: 'shop/web', from: 4, to: 2 }]);
  expect(plan.placements).toEqual([]);
});
