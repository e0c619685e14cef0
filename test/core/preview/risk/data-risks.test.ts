import { describe, expect, it } from 'vitest';
import { makePlan } from '../../../../src/core/preview/make-plan.ts';
import type { PlanSide } from '../../../../src/core/preview/plan-input.ts';
import { assessPlan } from '../../../../src/core/preview/risk/assess-plan.ts';
import { cluster, judges, placement, side } from '../plan-fixture.ts';

interface Content {
  readonly manifests: readonly object[];
  readonly more?: object;
}

const meta = (name: string, namespace?: string) => ({ name, ...(namespace && { namespace }) });
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: meta('db') };
const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: meta('data', 'db') };
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: meta('settings', 'db') };
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: meta('things.example.com'),
};
const volume = (persistentVolumeReclaimPolicy?: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: meta('disk'),
  spec: { persistentVolumeReclaimPolicy },
});
const statefulSet = (whenDeleted?: string) => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: meta('db', 'db'),
  spec: {
    volumeClaimTemplates: [{ metadata: { name: 'data' } }],
    ...(whenDeleted && { persistentVolumeClaimRetentionPolicy: { whenDeleted } }),
  },
});
const work = (name: string, inCluster: string, { manifests, more = {} }: Content) =>
  `${JSON.stringify({
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { name, namespace: inCluster },
    spec: { workload: { manifests }, ...more },
  })}\n`;
const set = (name: string, { manifests, more = {} }: Content) =>
  `${JSON.stringify({
    apiVersion: 'work.open-cluster-management.io/v1alpha1',
    kind: 'ManifestWorkReplicaSet',
    metadata: { name, namespace: 'shop' },
    spec: { placementRefs: [{ name: 'web' }], manifestWorkTemplate: { workload: { manifests }, ...more } },
  })}\n`;

const LIVE =
  'spec: {hubAcceptsClient: true}\nstatus: {conditions: [{type: ManagedClusterJoined, status: "True"}]}\n';
const SILENT =
  'spec: {hubAcceptsClient: true}\nstatus: {conditions: [{type: ManagedClusterJoined, status: "True"}, {type: ManagedClusterConditionAvailable, status: Unknown}]}\n';
const C1 = cluster('c1', LIVE);
const WEB = [C1, cluster('c2', LIVE), placement('web')];
const orphan = (propagationPolicy: string, rules?: object[]) => ({
  deleteOption: { propagationPolicy, ...(rules && { selectivelyOrphans: { orphaningRules: rules } }) },
});

interface Case {
  readonly name: string;
  readonly base: PlanSide;
  readonly head: PlanSide;
  readonly want: readonly string[];
}

const decided = (documents: readonly string[], web: readonly string[] = ['c1'], name = 'side') =>
  side(name, [...WEB, ...documents], { web });
const DB = { manifests: [namespace, claim] };

describe('data that a change deletes on clusters', () => {
  it.each<Case>([
    {
      name: 'a Namespace leaves a replica set that goes on holding its claim',
      base: decided([set('db', DB)]),
      head: decided([set('db', { manifests: [claim] })]),
      want: [
        'ManifestWorkReplicaSet shop/db: Namespace db is deleted on 1 cluster, with all that is in it (among it PersistentVolumeClaim data of this work): c1.',
      ],
    },
    {
      name: 'a Namespace without claims leaves a work',
      base: decided([work('db', 'c1', { manifests: [namespace, configMap] })]),
      head: decided([work('db', 'c1', { manifests: [configMap] })]),
      want: ['ManifestWork c1/db: Namespace db is deleted on 1 cluster, with all that is in it: c1.'],
    },
    {
      name: 'a claim leaves',
      base: decided([set('db', { manifests: [claim, configMap] })], ['c1', 'c2']),
      head: decided([set('db', { manifests: [configMap] })], ['c1', 'c2']),
      want: [
        'ManifestWorkReplicaSet shop/db: PersistentVolumeClaim db/data is deleted on 2 clusters, with its data, unless the volume is retained: c1, c2.',
      ],
    },
    {
      name: 'the whole replica set leaves',
      base: decided([set('db', DB)]),
      head: decided([]),
      want: [
        'ManifestWorkReplicaSet shop/db: Namespace db is deleted on 1 cluster, with all that is in it (among it PersistentVolumeClaim data of this work): c1.',
      ],
    },
    {
      name: 'the whole work leaves',
      base: decided([work('crd', 'c2', { manifests: [definition] })]),
      head: decided([]),
      want: [
        'ManifestWork c2/crd: CustomResourceDefinition things.example.com is deleted on 1 cluster, with all objects of its kind: c2.',
      ],
    },
    {
      name: 'a placement moves',
      base: decided([set('db', { manifests: [claim] })], ['c1']),
      head: decided([set('db', { manifests: [claim] })], ['c2']),
      want: [
        'ManifestWorkReplicaSet shop/db: PersistentVolumeClaim db/data is deleted on 1 cluster, with its data, unless the volume is retained: c1.',
      ],
    },
    {
      name: 'a live cluster is unregistered',
      base: decided([work('db', 'c1', { manifests: [claim] })]),
      head: side(
        'head',
        [cluster('c2', LIVE), placement('web'), work('db', 'c1', { manifests: [claim] })],
        {},
      ),
      want: [
        'ManifestWork c1/db: PersistentVolumeClaim db/data is deleted on 1 cluster, with its data, unless the volume is retained: c1.',
      ],
    },
    {
      name: 'a silent cluster is unregistered: what runs there stays',
      base: side('base', [cluster('c3', SILENT), work('db', 'c3', { manifests: [claim] })], {}),
      head: side('head', [work('db', 'c3', { manifests: [claim] })], {}),
      want: [],
    },
    {
      name: 'a StatefulSet that deletes its claims',
      base: decided([set('db', { manifests: [statefulSet('Delete'), configMap] })]),
      head: decided([set('db', { manifests: [configMap] })]),
      want: [
        'ManifestWorkReplicaSet shop/db: StatefulSet db/db is deleted on 1 cluster, with its claims and their data: c1.',
      ],
    },
    {
      name: 'a StatefulSet that keeps its claims, and a volume that is retained',
      base: decided([set('db', { manifests: [statefulSet(), volume(), volume('Retain'), configMap] })]),
      head: decided([set('db', { manifests: [configMap] })]),
      want: [],
    },
    {
      name: 'a volume that is not retained',
      base: decided([set('db', { manifests: [volume('Delete'), configMap] })]),
      head: decided([set('db', { manifests: [configMap] })]),
      want: [
        'ManifestWorkReplicaSet shop/db: PersistentVolume disk is deleted on 1 cluster, with its data, unless the volume is retained: c1.',
      ],
    },
    {
      name: 'a work that orphans all of its objects',
      base: decided([set('db', { ...DB, more: orphan('Orphan') })]),
      head: decided([]),
      want: [],
    },
    {
      name: 'a work that orphans this object, and not another',
      base: decided([
        set('db', {
          manifests: [claim, definition],
          more: orphan('SelectivelyOrphan', [
            { resource: 'persistentvolumeclaims', namespace: 'db', name: 'data' },
          ]),
        }),
      ]),
      head: decided([]),
      want: [
        'ManifestWorkReplicaSet shop/db: CustomResourceDefinition things.example.com is deleted on 1 cluster, with all objects of its kind: c1.',
      ],
    },
    {
      name: 'an object that the work only reads',
      base: decided([
        set('db', {
          manifests: [namespace],
          more: {
            manifestConfigs: [
              {
                resourceIdentifier: { resource: 'namespaces', name: 'db' },
                updateStrategy: { type: 'ReadOnly' },
              },
            ],
          },
        }),
      ]),
      head: decided([]),
      want: [],
    },
    {
      name: 'another work still applies it on one of the clusters',
      base: decided(
        [set('db', { manifests: [claim] }), work('keep', 'c2', { manifests: [claim] })],
        ['c1', 'c2'],
      ),
      head: decided([work('keep', 'c2', { manifests: [claim] })], ['c1', 'c2']),
      want: [
        'ManifestWorkReplicaSet shop/db: PersistentVolumeClaim db/data is deleted on 1 cluster, with its data, unless the volume is retained: c1.',
      ],
    },
    {
      name: 'it moves to another work in the same change',
      base: decided([set('db', DB)]),
      head: decided([set('other', DB)]),
      want: [],
    },
    {
      name: 'a work of others on the hub still applies it',
      base: {
        ...decided([work('db', 'c1', { manifests: [claim] })]),
        works: [
          {
            metadata: { name: 'by-hand', namespace: 'c1' },
            spec: { workload: { manifests: [claim] } },
          } as unknown as NonNullable<PlanSide['works']>[number],
        ],
      },
      head: decided([]),
      want: [],
    },
    {
      name: 'its content changes',
      base: decided([set('db', { manifests: [claim] })]),
      head: decided([set('db', { manifests: [{ ...claim, spec: { resources: {} } }] })]),
      want: [],
    },
    {
      name: 'nothing is selected, before and after',
      base: decided([set('db', DB)], []),
      head: decided([], []),
      want: [],
    },
  ])('$name', ({ base, head, want }) => {
    const plan = makePlan(base, head, { ...judges, judge: () => undefined });
    const findings = assessPlan({ plan, base, head, argocdClusters: undefined });
    const found = findings.filter(({ code }) => code === 'data-lost');
    expect(found.map(({ subject, message }) => `${subject}: ${message}`)).toEqual(want);
    expect(found.every(({ severity }) => severity === 'danger')).toBe(true);
  });
});
