import { describe, expect, it } from 'vitest';
import { parseManifests } from '../../../src/adapters/yaml/parse-manifests.ts';
import { formatFieldPath, parseFieldPath } from '@berth/kube/model/field-path';
import { snapshotOfObjects } from '../../../src/core/sources/snapshot-of-objects.ts';
import { checkSources, SourceChecker } from '../../../src/core/sources/check-sources.ts';

const CLUSTER_API = 'cluster.open-cluster-management.io';
const SET = `apiVersion: ${CLUSTER_API}/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: prod}\n`;
const BINDING = `apiVersion: ${CLUSTER_API}/v1beta2\nkind: ManagedClusterSetBinding\nmetadata: {name: prod, namespace: team-a}\nspec: {clusterSet: prod}\n`;
const placement = (spec: string, namespace = 'team-a') =>
  `apiVersion: ${CLUSTER_API}/v1beta1\nkind: Placement\nmetadata: {name: web, namespace: ${namespace}}\nspec: ${spec}\n`;
const replicaSet = (spec: string) =>
  `apiVersion: work.open-cluster-management.io/v1alpha1\nkind: ManifestWorkReplicaSet\nmetadata: {name: web, namespace: team-a}\nspec: ${spec}\n`;
const CONFIG_MAP = '{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b}}';

function objectsOf(...documents: string[]) {
  const { manifests, problems } = parseManifests({ file: 'f.yaml', text: documents.join('---\n') });
  expect(problems).toEqual([]);
  return manifests;
}

const findings = (...documents: string[]) =>
  checkSources(objectsOf(...documents)).map(
    ({ severity, code, path, hint }) =>
      `${severity} ${code} ${formatFieldPath(path)}${hint === undefined ? '' : ` [${hint}]`}`,
  );

describe('checking what a fleet means', () => {
  it.each<[string, string[], string[]]>([
    ['a sound fleet', [SET, BINDING, placement('{clusterSets: [prod]}')], []],
    ['sets that live on the hub', [placement('{clusterSets: [prod]}')], []],
    [
      'an unknown cluster set',
      [SET, BINDING, placement('{clusterSets: [pord]}')],
      ['error placement.unknown-cluster-set spec.clusterSets[0] [did you mean prod?]'],
    ],
    [
      'a set that is not bound',
      [SET, SET.replace('prod', 'dev'), BINDING, placement('{clusterSets: [dev]}')],
      [
        'error placement.cluster-set-not-bound spec.clusterSets[0] [add a ManagedClusterSetBinding team-a/dev]',
      ],
    ],
    [
      'a namespace without bindings',
      [SET, BINDING, placement('{}', 'team-b')],
      ['warning placement.no-binding metadata.namespace'],
    ],
    [
      'a binding under another name',
      [SET, BINDING.replace('clusterSet: prod', 'clusterSet: dev')],
      ['error binding.name spec.clusterSet'],
    ],
    [
      'a binding of an unknown set',
      [SET, BINDING.replaceAll('prod', 'prot')],
      ['error binding.unknown-cluster-set spec.clusterSet [did you mean prod?]'],
    ],
    [
      'a CEL typo',
      [
        placement(
          '{predicates: [{requiredClusterSelector: {celSelector: {celExpressions: ["true", "managedCluster.metadta ==="]}}}]}',
        ),
      ],
      ['error cel.compile spec.predicates[0].requiredClusterSelector.celSelector.celExpressions[1]'],
    ],
    [
      'every wrong requirement of a selector',
      [
        placement(
          '{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {"a b": x}, matchExpressions: [{key: r, operator: In}, {key: s, operator: Is, values: [a]}]}, claimSelector: {matchExpressions: [{key: c, operator: Exists, values: [a]}]}}}]}',
        ),
      ],
      [
        'error selector.invalid spec.predicates[0].requiredClusterSelector.labelSelector.matchLabels["a b"]',
        'error selector.invalid spec.predicates[0].requiredClusterSelector.labelSelector.matchExpressions[0]',
        'error selector.invalid spec.predicates[0].requiredClusterSelector.labelSelector.matchExpressions[1]',
        'error selector.invalid spec.predicates[0].requiredClusterSelector.claimSelector.matchExpressions[0]',
      ],
    ],
    [
      'tolerations',
      [
        placement(
          '{tolerations: [{value: x}, {key: a, operator: Exists, value: x}, {operator: Exists}, {key: b, value: c}]}',
        ),
      ],
      [
        'error placement.toleration spec.tolerations[0]',
        'error placement.toleration spec.tolerations[1].value',
      ],
    ],
    [
      'prioritizers',
      [
        placement(
          '{prioritizerPolicy: {configurations: [{scoreCoordinate: {builtIn: Stedy}}, {scoreCoordinate: {type: AddOn}}, {scoreCoordinate: {builtIn: Steady}}]}}',
        ),
      ],
      [
        'error placement.prioritizer spec.prioritizerPolicy.configurations[0].scoreCoordinate.builtIn [did you mean Steady?]',
        'error placement.prioritizer spec.prioritizerPolicy.configurations[1].scoreCoordinate',
      ],
    ],
    [
      'a replica set of an unknown placement, with a duplicate manifest',
      [
        placement('{}'),
        replicaSet(
          `{placementRefs: [{name: wep}], manifestWorkTemplate: {workload: {manifests: [${CONFIG_MAP}, ${CONFIG_MAP}]}}}`,
        ),
      ],
      [
        'error work.duplicate-manifest spec.manifestWorkTemplate.workload.manifests[1]',
        'error replica-set.unknown-placement spec.placementRefs[0].name [did you mean web?]',
      ],
    ],
    [
      'a cluster set selector that cannot work',
      [`${SET}spec: {clusterSelector: {selectorType: LabelSelector}}\n`],
      ['warning cluster-set.no-selector spec.clusterSelector.labelSelector [use {} for all clusters]'],
    ],
  ])('%s', (_name, documents, want) => {
    expect(findings(...documents)).toEqual(want);
  });
});

describe('names that are declared elsewhere', () => {
  const elsewhere = [SET.replaceAll('prod', 'staging'), BINDING.replaceAll('prod', 'staging')];
  it.each([
    { name: 'a set and its binding', fleet: [SET, BINDING, placement('{clusterSets: [staging]}')], want: [] },
    {
      name: 'no kind that the fleet declares',
      fleet: [BINDING, placement('{clusterSets: [other]}')],
      want: ['placement.cluster-set-not-bound'],
    },
    {
      name: 'another name',
      fleet: [SET, BINDING, placement('{clusterSets: [stagin]}')],
      want: ['placement.unknown-cluster-set'],
    },
  ])('are known: $name', ({ fleet, want }) => {
    const known = objectsOf(...elsewhere).map(({ object }) => object);
    const found = new SourceChecker().check(objectsOf(...fleet), () => known);
    expect(found.map(({ code }) => code)).toEqual(want);
  });
});

describe('the snapshot of a fleet', () => {
  it('fills in what a hub fills in', () => {
    const cluster = `apiVersion: ${CLUSTER_API}/v1\nkind: ManagedCluster\nmetadata: {name: c1}\nspec: {taints: [{key: a, effect: NoSelect}, {key: b, effect: NoSelect, timeAdded: 2020-01-01T00:00:00Z}]}\n`;
    const snapshot = snapshotOfObjects(
      objectsOf(
        SET,
        BINDING,
        cluster,
        placement('{prioritizerPolicy: {configurations: [{scoreCoordinate: {builtIn: Steady}}]}}'),
      ),
      { now: '2026-03-01T12:00:00Z' },
    );
    expect(snapshot.clusters[0]?.spec?.taints?.map(({ timeAdded }) => timeAdded)).toEqual([
      '2026-03-01T12:00:00Z',
      '2020-01-01T00:00:00Z',
    ]);
    expect(snapshot.placements[0]?.spec?.prioritizerPolicy?.configurations).toEqual([
      { weight: 1, scoreCoordinate: { type: 'BuiltIn', builtIn: 'Steady' } },
    ]);
    expect([snapshot.clusterSets.length, snapshot.bindings.length, snapshot.decisions.length]).toEqual([
      1, 1, 0,
    ]);
  });
});

describe('field paths', () => {
  it.each([[['a', 0, 'b']], [['spec', 'labels', 'x.y/z', 3]], [['q"\\', 'n']], [['0']]])(
    '%j reads back',
    (path) => {
      const text = formatFieldPath(path);
      expect(parseFieldPath(text)).toEqual(path);
    },
  );
});
