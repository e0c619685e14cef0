import { beforeEach, describe, expect, it } from 'vitest';
import { DecidedWorlds } from '../../../src/controllers/publication/decided-worlds.ts';
import type { ScheduleResult } from '../../../src/core/placement/result/schedule-result.ts';
import type { World } from '../../../src/core/snapshot/world.ts';

describe('DecidedWorlds', () => {
  let isHalf: boolean;
  let revision: number;
  let worldOf: Map<ScheduleResult, World>;
  let worlds: DecidedWorlds;
  beforeEach(() => {
    [isHalf, revision, worldOf] = [false, 1, new Map()];
    worlds = new DecidedWorlds({
      barrier: {
        get isHalf() {
          return isHalf;
        },
      },
      revision: () => revision,
      worldOf: (result) => worldOf.get(result),
    });
  });
  /** A result that was decided from the hub as it is now. */
  const decidedNow = (decisions: readonly unknown[] = []) => {
    const [result, world] = [{} as ScheduleResult, worlds.made({ decisions } as unknown as World)];
    worldOf.set(result, world);
    return result;
  };

  it('takes what was decided before a commit began, and while none is on its way', () => {
    const result = decidedNow();
    isHalf = true;
    expect(worlds.ageOf(result)).toBe('whole');
  });

  it('does not take what was decided half way, until the commit is there and only the last answer was missing', () => {
    isHalf = true;
    const result = decidedNow();
    expect(worlds.ageOf(result)).toBe('half');
    isHalf = false;
    expect(worlds.ageOf(result)).toBe('whole');
    [isHalf, revision] = [true, 2];
    expect(worlds.ageOf(result)).toBe('whole');
  });

  it('does not take it when more came meanwhile', () => {
    isHalf = true;
    const result = decidedNow();
    [isHalf, revision] = [false, 2];
    expect(worlds.ageOf(result)).toBe('overtaken');
  });

  it('looks at the world in which the transition began', () => {
    isHalf = true;
    const start = worlds.made({} as World);
    isHalf = false;
    const [result, end] = [{} as ScheduleResult, {} as World];
    worldOf.set(result, end);
    worlds.decided(end, start);
    revision = 2;
    expect(worlds.ageOf(result)).toBe('overtaken');
  });

  it('takes what was decided from an unknown world', () => {
    expect(worlds.ageOf({} as ScheduleResult)).toBe('whole');
    expect(worlds.knew('team-a/web', {} as ScheduleResult, ['c1'])).toBe(true);
  });

  it('knows what the pages of a placement listed when it was decided', () => {
    const page = {
      metadata: {
        namespace: 'team-a',
        labels: { 'cluster.open-cluster-management.io/placement': 'web' },
      },
      status: { decisions: [{ clusterName: 'c1' }] },
    };
    const result = decidedNow([page]);
    expect(worlds.knew('team-a/web', result, ['c1'])).toBe(true);
    expect(worlds.knew('team-a/web', result, ['c1', 'c2'])).toBe(false);
    expect(worlds.knew('team-a/api', result, ['c1'])).toBe(false);
  });
});
