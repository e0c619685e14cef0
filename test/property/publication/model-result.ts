import type { ScheduleResult } from '@berth/placement/result/schedule-result';

/** The clusters in groups of this size. */
export function modelResult(
  placement: ScheduleResult['placement'],
  selected: readonly string[],
  outcome: ScheduleResult['outcome'],
  groupSize: number,
): ScheduleResult {
  const count = Math.max(1, Math.ceil(selected.length / groupSize));
  const groups = Array.from({ length: count }, (_, index) => ({
    index,
    name: '',
    clusters: selected.slice(index * groupSize, (index + 1) * groupSize),
  }));
  return {
    placement,
    outcome,
    status: { code: outcome === 'misconfigured' ? 'Misconfigured' : 'Success', plugin: '', message: '' },
    selected,
    selectedScores: selected.map(() => 0),
    unscheduled: 0,
    groups,
    conditions: [],
    requeueAtMs: undefined,
  };
}
