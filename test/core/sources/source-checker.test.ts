import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import { SourceChecker, checkSources } from '../../../src/core/sources/check-sources.ts';
import type { SourceFinding } from '../../../src/core/sources/source-finding.ts';

const API = 'cluster.open-cluster-management.io';
const names = fc.constantFrom('prod', 'dev', 'edge');
const namespaces = fc.constantFrom('team-a', 'team-b');
const object = (apiVersion: string, kind: string, metadata: object, spec: object): KubeObject =>
  ({ apiVersion, kind, metadata, spec }) as unknown as KubeObject;

/** One object at one place, now right and now wrong, by itself or in what it refers to. */
const anObject: fc.Arbitrary<KubeObject> = fc.oneof(
  names.map((name) => object(`${API}/v1beta2`, 'ManagedClusterSet', { name }, {})),
  fc
    .tuple(names, namespaces, names)
    .map(([name, namespace, clusterSet]) =>
      object(`${API}/v1beta2`, 'ManagedClusterSetBinding', { name, namespace }, { clusterSet }),
    ),
  fc
    .tuple(names, namespaces, names, fc.constantFrom('Steady', 'Stady'))
    .map(([name, namespace, set, builtIn]) => {
      const configurations = [{ scoreCoordinate: { type: 'BuiltIn', builtIn } }];
      const spec = { clusterSets: [set], prioritizerPolicy: { configurations } };
      return object(`${API}/v1beta1`, 'Placement', { name, namespace }, spec);
    }),
  fc.tuple(names, names).map(([name, set]) => {
    const labels = { 'cluster.open-cluster-management.io/clusterset': set };
    return object(`${API}/v1`, 'ManagedCluster', { name, labels }, {});
  }),
  fc.tuple(names, names).map(([name, namespace]) => {
    const spec = { workload: { manifests: [] } };
    return object('work.open-cluster-management.io/v1', 'ManifestWork', { name, namespace }, spec);
  }),
  fc.tuple(names, namespaces, names).map(([name, namespace, placement]) => {
    const spec = {
      placementRefs: [{ name: placement }],
      manifestWorkTemplate: { workload: { manifests: [] } },
    };
    return object(
      'work.open-cluster-management.io/v1alpha1',
      'ManifestWorkReplicaSet',
      { name, namespace },
      spec,
    );
  }),
);
const edit = fc.record({
  kind: fc.constantFrom('replace', 'replace', 'replace', 'insert', 'remove'),
  at: fc.nat({ max: 9 }),
  object: anObject,
});

function edited(
  objects: readonly SourceObject[],
  { kind, at, object: by }: { kind: string; at: number; object: KubeObject },
) {
  const location = { file: 'f.yaml', line: at, column: 1 };
  const place = Math.min(at, objects.length);
  return objects.toSpliced(
    place,
    kind === 'insert' ? 0 : 1,
    ...(kind === 'remove' ? [] : [{ object: by, location }]),
  );
}

const sorted = (findings: readonly SourceFinding[]): string[] =>
  findings.map((one) => JSON.stringify(one)).sort();

describe('checking one state of a fleet after the other', () => {
  it('finds what a check of all objects finds', () => {
    fc.assert(
      fc.property(
        fc.array(anObject, { minLength: 3, maxLength: 8 }),
        fc.array(edit, { maxLength: 8 }),
        (given, edits) => {
          const checker = new SourceChecker();
          let objects: readonly SourceObject[] = given.map((one, line) => ({
            object: one,
            location: { file: 'f.yaml', line, column: 1 },
          }));
          for (const next of [undefined, ...edits]) {
            if (next !== undefined) objects = edited(objects, next);
            expect(sorted(checker.check(objects))).toEqual(sorted(checkSources(objects)));
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
