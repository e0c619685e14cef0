import { describe, expect, it } from 'vitest';
import type {
  ManifestWorkReplicaSet,
  ManifestWorkReplicaSetStatus,
} from '@berth/ocm/kind/manifest-work-replica-set';
import { StatusRivals } from '../../../../src/core/work/replica-set/status-rivals.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const status = (message: string): ManifestWorkReplicaSetStatus =>
  ({ conditions: [{ type: 'PlacementVerified', status: 'True', reason: 'AsExpected', message }] }) as never;
const seen = (version: number, message: string): ManifestWorkReplicaSet =>
  ({
    metadata: { name: 'web', namespace: 'team-a', resourceVersion: String(version) },
    status: status(message),
  }) as never;

describe('another controller that writes the status of a replica set', () => {
  /**
   * The other answers so often; each time Berth writes again.
   * @returns what the last look says
   */
  const rounds = (count: number, theirs = 'theirs', stepMs = 0): number | undefined => {
    const rivals = new StatusRivals();
    let last: number | undefined;
    for (let round = 0; round < count; round++) {
      rivals.recordWrite(seen(0, ''), status('ours'), String(10 * round + 1));
      last = rivals.yieldMs(seen(10 * round + 2, theirs), NOW + round * stepMs);
    }
    return last;
  };

  it.each([
    { name: 'is answered three times', last: rounds(3), want: undefined },
    { name: 'gets the replica set after that', last: rounds(4), want: 600_000 },
    { name: 'may change other things', last: rounds(9, 'ours'), want: undefined },
    { name: 'may write now and then', last: rounds(9, 'theirs', 300_000), want: undefined },
  ])('$name', ({ last, want }) => expect(last).toBe(want));

  it('is not one where the watch is behind', () => {
    const rivals = new StatusRivals();
    rivals.recordWrite(seen(1, ''), status('ours'), '20');
    for (let version = 10; version < 20; version++) rivals.yieldMs(seen(version, 'older'), NOW);
    expect(rivals.yieldMs(seen(20, 'ours'), NOW)).toBeUndefined();
  });

  it('is tried again after ten minutes', () => {
    const rivals = new StatusRivals();
    for (let version = 1; version < 9; version += 2) {
      rivals.recordWrite(seen(0, ''), status('ours'), String(version));
      rivals.yieldMs(seen(version + 1, 'theirs'), NOW);
    }
    expect(rivals.yieldMs(seen(30, 'theirs again'), NOW + 1_000)).toBe(599_000);
    expect(rivals.yieldMs(seen(30, 'theirs again'), NOW + 600_000)).toBeUndefined();
  });
});
