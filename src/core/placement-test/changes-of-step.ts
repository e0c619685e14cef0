import type { PlacementRef, SnapshotChange } from '@berth/placement/explain/snapshot/snapshot-change';
import { parseGoDuration } from '@berth/kube/model/go-duration';
import { compileLabelSelector, matchesLabels } from '@berth/kube/model/selector/label-selector-compile';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { ClusterChoice, GivenStep } from './placement-test.ts';

export type StepChanges =
  | { readonly ok: true; readonly changes: readonly SnapshotChange[] }
  | { readonly ok: false; readonly error: string };

/** The changes of a step in this snapshot. A step about clusters that do not exist is an error of the test. */
export function changesOfStep(step: GivenStep, snapshot: Snapshot, placement: PlacementRef): StepChanges {
  const given = Object.entries(step).filter(([, value]) => value !== undefined);
  if (given.length > 1) {
    const fields = given.map(([field]) => field).join(', ');
    return { ok: false, error: `a step has exactly one field, got ${fields}` };
  }
  if (step.numberOfClusters !== undefined)
    return one({ kind: 'set-number-of-clusters', placement, numberOfClusters: step.numberOfClusters });
  if (step.bindClusterSet !== undefined) return bind(step.bindClusterSet, snapshot, placement);
  if (step.passTime !== undefined) return passTime(step.passTime);
  if (step.addClusters !== undefined) return copies(step.addClusters, snapshot);
  const edits = clusterEdits(step);
  if (edits === undefined) return { ok: false, error: 'the step is empty, expected exactly one field' };
  const chosen = chooseClusters(edits.choice, snapshot.clusters);
  if (!chosen.ok) return chosen;
  return {
    ok: true,
    changes: chosen.clusters.flatMap((cluster) => edits.changesOf(cluster.metadata.name, snapshot)),
  };
}

function one(change: SnapshotChange): StepChanges {
  return { ok: true, changes: [change] };
}

interface ClusterEdits {
  readonly choice: ClusterChoice;
  readonly changesOf: (cluster: string, snapshot: Snapshot) => readonly SnapshotChange[];
}

function clusterEdits(step: GivenStep): ClusterEdits | undefined {
  const { loseClusters, taint, removeTaint, label, claim, score } = step;
  if (loseClusters !== undefined)
    return { choice: loseClusters, changesOf: (cluster) => [{ kind: 'remove-cluster', cluster }] };
  if (taint !== undefined)
    return { choice: taint, changesOf: (cluster, { now }) => [addTaint(taint, cluster, now)] };
  if (removeTaint !== undefined) {
    const { key, effect } = removeTaint;
    return { choice: removeTaint, changesOf: (cluster) => [{ kind: 'remove-taint', cluster, key, effect }] };
  }
  if (label !== undefined)
    return {
      choice: label,
      changesOf: (cluster) =>
        Object.entries(label.labels).map(([key, value]) =>
          value === null
            ? { kind: 'remove-label', cluster, key }
            : { kind: 'set-label', cluster, key, value },
        ),
    };
  if (claim !== undefined)
    return {
      choice: claim,
      changesOf: (cluster) =>
        Object.entries(claim.claims).map(([name, value]) =>
          value === null
            ? { kind: 'remove-claim', cluster, name }
            : { kind: 'set-claim', cluster, name, value },
        ),
    };
  if (score === undefined) return undefined;
  const { resourceName, scoreName, value } = score;
  return {
    choice: score,
    changesOf: (cluster) => [{ kind: 'set-score', cluster, resourceName, scoreName, value }],
  };
}

/** The hub stamps the time when a taint is added; here that is the present of the test. */
function addTaint(taint: NonNullable<GivenStep['taint']>, cluster: string, now: string): SnapshotChange {
  const { key, value, effect } = taint;
  const made = { key, ...(value === undefined ? {} : { value }), effect, timeAdded: now };
  return { kind: 'add-taint', cluster, taint: made };
}

function bind(clusterSet: string, snapshot: Snapshot, placement: PlacementRef): StepChanges {
  if (!snapshot.clusterSets.some(({ metadata }) => metadata.name === clusterSet))
    return { ok: false, error: `bindClusterSet: there is no ManagedClusterSet ${clusterSet}` };
  return one({ kind: 'bind-cluster-set', namespace: placement.namespace, clusterSet });
}

function passTime(text: string): StepChanges {
  const ms = parseGoDuration(text);
  if (ms === undefined || ms < 0)
    return {
      ok: false,
      error: `passTime: got ${JSON.stringify(text)}, expected a duration such as 90s or 1h30m`,
    };
  return one({ kind: 'pass-time', seconds: ms / 1000 });
}

function copies(step: NonNullable<GivenStep['addClusters']>, snapshot: Snapshot): StepChanges {
  const model = snapshot.clusters.find(({ metadata }) => metadata.name === step.like);
  if (model === undefined)
    return { ok: false, error: `addClusters: there is no cluster ${step.like} to copy` };
  const taken = step.names.find((name) => snapshot.clusters.some(({ metadata }) => metadata.name === name));
  if (taken !== undefined) return { ok: false, error: `addClusters: there is a cluster ${taken} already` };
  const changes = step.names.flatMap((name): readonly SnapshotChange[] => [
    { kind: 'add-cluster', cluster: { ...model, metadata: { ...model.metadata, name, uid: undefined } } },
    ...copiedScores(snapshot, step.like, name),
  ]);
  return { ok: true, changes };
}

function copiedScores(snapshot: Snapshot, like: string, cluster: string): readonly SnapshotChange[] {
  return snapshot.scores
    .filter(({ metadata }) => metadata.namespace === like)
    .flatMap(({ metadata, status }) =>
      (status?.scores ?? []).map(
        ({ name, value }): SnapshotChange => ({
          kind: 'set-score',
          cluster,
          resourceName: metadata.name,
          scoreName: name,
          value,
        }),
      ),
    );
}

type Chosen =
  | { readonly ok: true; readonly clusters: readonly ManagedCluster[] }
  | { readonly ok: false; readonly error: string };

function chooseClusters(choice: ClusterChoice, clusters: readonly ManagedCluster[]): Chosen {
  const { clusters: names, clusterSelector } = choice;
  if (names === undefined && clusterSelector === undefined)
    return { ok: false, error: 'expected clusters or clusterSelector' };
  const missing = names?.find((name) => !clusters.some(({ metadata }) => metadata.name === name));
  if (missing !== undefined) return { ok: false, error: `there is no cluster ${missing}` };
  const compiled = compileLabelSelector(clusterSelector ?? {});
  if (!compiled.ok) return { ok: false, error: `clusterSelector: ${compiled.error}` };
  const chosen = clusters.filter(
    ({ metadata }) =>
      (names === undefined || names.includes(metadata.name)) &&
      matchesLabels(compiled.selector, metadata.labels),
  );
  return chosen.length === 0
    ? { ok: false, error: 'clusterSelector matches no cluster' }
    : { ok: true, clusters: chosen };
}
