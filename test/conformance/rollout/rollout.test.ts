import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { RolloutStrategy } from '@berth/ocm/kind/manifest-work-replica-set';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { planRollout, decisionGroups } from '../../../src/core/rollout/plan-rollout.ts';
import type { RolloutEntry, RolloutRules, RolloutStatus } from '../../../src/core/rollout/rollout-plan.ts';

interface RecordedEntry {
  readonly clusterName: string;
  readonly status: string;
  readonly recheckTime?: string;
  readonly groupName?: string;
  readonly groupIndex?: number;
}

interface Recorded {
  readonly case: {
    readonly name: string;
    readonly now: string;
    readonly decisions: readonly {
      readonly groupName?: string;
      readonly groupIndex?: string;
      readonly clusters: readonly string[];
    }[];
    readonly strategy: RolloutStrategy;
    readonly existing: readonly {
      readonly clusterName: string;
      readonly status: RolloutStatus;
      readonly lastTransitionTime?: string;
    }[];
  };
  readonly expected: {
    readonly error: string | null;
    readonly stage?: string;
    readonly clustersToRollout: readonly RecordedEntry[];
    readonly clustersTimeOut: readonly RecordedEntry[];
    readonly clustersRemoved: readonly RecordedEntry[];
    readonly maxFailureBreach: boolean;
    readonly recheckAfterSeconds: number | null;
  };
}

const recorded = gunzipSync(readFileSync(new URL('./rollout.jsonl.gz', import.meta.url)))
  .toString('utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

function decision(index: number, given: Recorded['case']['decisions'][number]): PlacementDecision {
  const labels: Record<string, string> = {};
  if (given.groupName !== undefined)
    labels['cluster.open-cluster-management.io/decision-group-name'] = given.groupName;
  if (given.groupIndex !== undefined)
    labels['cluster.open-cluster-management.io/decision-group-index'] = given.groupIndex;
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'PlacementDecision',
    metadata: { name: `decision-${index}`, namespace: 'default', labels },
    status: { decisions: given.clusters.map((clusterName) => ({ clusterName, reason: '' })) },
  };
}

function byCluster(entries: readonly RecordedEntry[]): object {
  return Object.fromEntries(
    entries.map((e) => [
      e.clusterName,
      [
        e.status,
        e.recheckTime === undefined ? null : Date.parse(e.recheckTime),
        e.groupName ?? null,
        e.groupIndex ?? null,
      ],
    ]),
  );
}

function ours(entries: readonly RolloutEntry[]): object {
  return Object.fromEntries(
    entries.map((e) => [
      e.clusterName,
      [e.status, e.recheckAtMs ?? null, e.group?.name ?? null, e.group?.index ?? null],
    ]),
  );
}

function answer(input: Recorded['case'], rules: RolloutRules): object {
  const groups = decisionGroups(input.decisions.map((given, index) => decision(index, given)));
  if (!groups.ok) return { error: true, stage: 'decisions' };
  const plan = planRollout({
    strategy: input.strategy,
    groups: groups.value,
    existing: input.existing.map((e) => ({
      clusterName: e.clusterName,
      status: e.status,
      lastTransitionMs: e.lastTransitionTime === undefined ? undefined : Date.parse(e.lastTransitionTime),
    })),
    nowMs: Date.parse(input.now),
    rules,
  });
  if (!plan.ok) return { error: true, stage: 'strategy' };
  return {
    rollout: ours(plan.value.rollout),
    timedOut: ours(plan.value.timedOut),
    removed: ours(plan.value.removed),
    breach: plan.value.maxFailureBreach,
    recheckAfterSeconds: plan.value.recheckAfterMs === undefined ? null : plan.value.recheckAfterMs / 1000,
  };
}

function want(expected: Recorded['expected']): object {
  if (expected.error !== null) return { error: true, stage: expected.stage };
  return {
    rollout: byCluster(expected.clustersToRollout),
    timedOut: byCluster(expected.clustersTimeOut),
    removed: byCluster(expected.clustersRemoved),
    breach: expected.maxFailureBreach,
    recheckAfterSeconds: expected.recheckAfterSeconds,
  };
}

describe('rollout with upstream rules', () => {
  it.each(recorded.map((r) => ({ name: r.case.name, r })))('$name', ({ r }) => {
    expect(answer(r.case, 'upstream')).toEqual(want(r.expected));
  });
});

/** Why our own rules answer otherwise; each record that differs must fall under one of these. */
const REASONS: Readonly<Record<string, (r: Recorded) => boolean>> = {
  'mandatory groups look only at their own clusters': ({ case: c }) =>
    (staged(c.strategy)?.mandatoryDecisionGroups ?? []).length > 0,
  'a tolerated failure counts in whichever group it happens': ({ case: c }) =>
    c.strategy.type === 'ProgressivePerGroup',
  'a gap between group indexes hides no group': ({ case: c }) => {
    const indexes = new Set(c.decisions.map((d) => d.groupIndex));
    return [...indexes].some((index) => Number(index) < 0 || Number(index) >= indexes.size);
  },
  'everything in flight is looked at before the window is full, and a breach stops every ToApply': ({
    case: c,
  }) => c.strategy.type === 'Progressive' && c.existing.length > 1,
};

function staged(strategy: RolloutStrategy): RolloutStrategy['progressive'] {
  return strategy.progressive ?? strategy.progressivePerGroup;
}

describe('rollout with our own rules', () => {
  it('agrees with the records except for the reasons listed', () => {
    const differing = recorded.filter(
      (r) => JSON.stringify(sorted(answer(r.case, 'berth'))) !== JSON.stringify(sorted(want(r.expected))),
    );
    const unexplained = differing.filter((r) => !Object.values(REASONS).some((applies) => applies(r)));
    expect(unexplained.map((r) => r.case.name)).toEqual([]);
    // Every strategy of type All, and most others, give the same answer under both sets of rules.
    expect(differing.filter((r) => r.case.strategy.type === 'All' && !REASONS[GAP]?.(r))).toEqual([]);
    expect(differing.length).toBe(198);
  });
});

const GAP = 'a gap between group indexes hides no group';

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, field]) => [key, sorted(field)]),
  );
}
