import { parseManifests } from '../../../src/adapters/yaml/parse-manifests.ts';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type { PlanJudges, PlanSide } from '../../../src/core/preview/plan-input.ts';
import { snapshotOfObjects } from '../../../src/core/sources/snapshot-of-objects.ts';

const NOW = '2026-03-01T12:00:00Z';

export const placement = (name: string, spec = '{}') =>
  `apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {name: ${name}, namespace: shop}\nspec: ${spec}\n`;
export const cluster = (name: string, extra = '') =>
  `apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: ${name}}\n${extra}`;
export const replicaSet = (name: string, ref: string, image = 'v1') =>
  `apiVersion: work.open-cluster-management.io/v1alpha1\nkind: ManifestWorkReplicaSet\nmetadata: {name: ${name}, namespace: shop}\nspec: {placementRefs: [{name: ${ref}}], manifestWorkTemplate: {workload: {manifests: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {image: ${image}}}]}}}\n`;
export const applicationSet = (name: string, placementName: string) =>
  `apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: ${name}, namespace: shop}\nspec:\n  generators:\n  - matrix:\n      generators:\n      - clusterDecisionResource:\n          labelSelector:\n            matchLabels:\n              cluster.open-cluster-management.io/placement: ${placementName}\n      - git: {}\n`;

/** A side of a plan whose decisions are given by the test: placement name to clusters, or to what went wrong. */
export function side(
  name: string,
  documents: readonly string[],
  decisions: Readonly<Record<string, readonly string[] | { misconfigured: string }>>,
): PlanSide {
  const { manifests, problems } = parseManifests({ file: 'f.yaml', text: documents.join('---\n') });
  if (problems.length > 0) throw new Error(problems[0]?.message);
  const snapshot = snapshotOfObjects(manifests, { now: NOW });
  const results = snapshot.placements.map((object): ScheduleResult => {
    const decided = decisions[object.metadata.name] ?? [];
    const broken = 'misconfigured' in decided ? decided.misconfigured : undefined;
    const selected = 'misconfigured' in decided ? [] : decided;
    return {
      placement: object,
      outcome: broken === undefined ? 'scheduled' : 'misconfigured',
      status: { code: broken === undefined ? 'Success' : 'Misconfigured', plugin: '', message: broken ?? '' },
      selected,
      selectedScores: selected.map(() => 0),
      unscheduled: 0,
      groups: [{ index: 0, name: '', clusters: selected }],
      conditions:
        broken === undefined
          ? []
          : [{ type: 'PlacementMisconfigured', status: 'True', reason: 'Misconfigured', message: broken }],
      requeueAtMs: undefined,
    };
  });
  return { end: { name, commit: name.padEnd(40, '0') }, objects: manifests, snapshot, results };
}

export const judges: PlanJudges = {
  tables: () => [],
  explain: (key, name, move) => ({
    because: move === 'gained' ? `rank 1 of 2 for ${key}` : 'tainted maintenance',
    causes: move === 'gained' ? [] : [`ManagedCluster ${name}`],
  }),
  judge: (key, before, result) =>
    result.selected.length === 0 && before.length > 0
      ? { reason: 'WouldEmpty', message: `All ${before.length} clusters of ${key} would go.` }
      : undefined,
  code: (key, before, after) => `${namespacedName({ name: key })}:${before.length}:${after.length}`,
};
