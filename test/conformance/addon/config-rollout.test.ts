import { describe, expect, it } from 'vitest';
import type { ClusterManagementAddOn, ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import type { Placement } from '@berth/ocm/kind/placement';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import type { Condition } from '@berth/kube/model/object-meta';
import { rollOutConfigs } from '../../../src/core/addon/config-rollout.ts';
import { type Recorded, readRecorded } from './recorded.ts';

interface Given {
  readonly now: string;
  readonly clusterManagementAddOn: ClusterManagementAddOn;
  readonly managedClusterAddOns: readonly ManagedClusterAddOn[];
  readonly placements: readonly Placement[];
  readonly placementDecisions: readonly PlacementDecision[];
}

interface Expected {
  readonly error: string | null;
  readonly requeueAfterSeconds: number | null;
  readonly addons: Readonly<
    Record<string, { readonly configured: unknown; readonly configReferences: readonly unknown[] | null }>
  >;
  readonly installProgressions: readonly unknown[];
}

const PLACEMENT_LABEL = 'cluster.open-cluster-management.io/placement';
/** Upstream reports no later moment than this. */
const LONGEST_RECHECK_MS = 600_000;

const recorded = readRecorded<Given, Expected>('config-rollout');

/** The records give no times of conditions, and null for one that is absent. */
const recordedCondition = (found: Condition | undefined): unknown =>
  found === undefined ? null : { status: found.status, reason: found.reason, message: found.message };

/** An empty list is not written, and is recorded as null or as it was read. */
const listed = (list: readonly unknown[] | undefined): unknown => (list?.length ? list : null);

function resultOf({ case: given }: Recorded<Given, Expected>): unknown {
  const { clusterManagementAddOn: addOn, managedClusterAddOns } = given;
  const installed = new Map(managedClusterAddOns.map((addon) => [addon.metadata.namespace ?? '', addon]));
  const result = rollOutConfigs({
    nowMs: Date.parse(given.now),
    addOn,
    installed,
    placement: (namespace, name) =>
      given.placements.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    decisions: (namespace, name) =>
      given.placementDecisions.filter(
        ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[PLACEMENT_LABEL] === name,
      ),
  });
  const changed = result.ok ? result.value : undefined;
  const addons = [...installed].map(([cluster, { status }]) => {
    const now = changed?.addons.get(cluster);
    const before = status?.conditions?.find(({ type }) => type === 'Configured');
    return [
      cluster,
      {
        configured: recordedCondition(now?.configured ?? before),
        configReferences: listed(now?.configReferences ?? status?.configReferences),
      },
    ] as const;
  });
  const progressions = changed?.progressions ?? addOn.status?.installProgressions ?? [];
  const recheckMs = changed?.recheckAfterMs ?? Infinity;
  return {
    error: !result.ok,
    requeueAfterSeconds: recheckMs < LONGEST_RECHECK_MS ? recheckMs / 1000 : null,
    addons: Object.fromEntries(addons),
    installProgressions: progressions.map(({ namespace, name, conditions, configReferences }) => ({
      namespace,
      name,
      progressing: recordedCondition(conditions?.find(({ type }) => type === 'Progressing')),
      configReferences: listed(configReferences),
    })),
  };
}

describe('one pass over the configurations of an add-on', () => {
  it.each(recorded.map((entry) => ({ name: entry.case.name, entry })))('$name', ({ entry }) => {
    const { expected } = entry;
    const addons = Object.entries(expected.addons).map(([cluster, { configured, configReferences }]) => [
      cluster,
      { configured, configReferences: listed(configReferences ?? undefined) },
    ]);
    expect(resultOf(entry)).toEqual({
      ...expected,
      error: expected.error !== null,
      addons: Object.fromEntries(addons),
    });
  });

  it('is held to all recorded cases', () => {
    expect(recorded).toHaveLength(200);
  });
});
