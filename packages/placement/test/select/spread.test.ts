import { describe, expect, it } from 'vitest';
import { selectSpread } from '../../src/select/spread.ts';

/** Selects among entries whose topology values are these numbers; 0: the cluster does not have the key. */
function select(values: number[], whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway', limit: number) {
  const constraint = {
    topologyKey: 'zone',
    topologyKeyType: 'Label',
    maxSkew: 1,
    whenUnsatisfiable,
  } as const;
  const ranked = Uint32Array.from(values.keys());
  const constraints = [{ constraint, values: Int32Array.from(values) }];
  const { taken, skews } = selectSpread({ ranked, limit, constraints });
  return { taken: [...taken], skews };
}

describe('clusters without the key of a spread constraint', () => {
  it('are never selected under DoNotSchedule', () => {
    expect(select([1, 0, 2, 0], 'DoNotSchedule', 4)).toEqual({ taken: [0, 2], skews: [0] });
  });

  it('are selected under ScheduleAnyway, and do not count as a value', () => {
    expect(select([1, 0, 0, 2], 'ScheduleAnyway', 4)).toEqual({ taken: [0, 1, 2, 3], skews: [0] });
  });
});
