import { describe, expect, it } from 'vitest';
import { LastTransition } from '../../../src/controllers/publication/last-transition.ts';
import type { PlacementMove } from '../../../src/core/transition/unfinished-transition.ts';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { snapshotOf } from '../../../packages/placement/test/snapshots.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { VolatileMemory } from '../../fakes/volatile-memory.ts';

const moved = (after: readonly string[]) => new Map([['team/a', { uid: 'u', before: ['c1'], after }]]);
const AT_REST = new Map<string, never>();
const NEW = ['c2', 'c3'];
/** What is published when `moved(NEW)` was interrupted. */
const HALF: Snapshot = {
  ...snapshotOf({ clusters: [] }),
  placements: [
    { apiVersion: 'x/v1', kind: 'Placement', metadata: { name: 'a', namespace: 'team', uid: 'u' } },
  ],
  decisions: [
    {
      apiVersion: 'x/v1',
      kind: 'PlacementDecision',
      metadata: { name: 'a-decision-1', namespace: 'team', labels: { [PLACEMENT_LABEL]: 'a' } },
      status: { decisions: ['c1', 'c2'].map((clusterName) => ({ clusterName, reason: '' })) },
    },
  ],
};
const isUnfinished = (last: LastTransition): boolean => last.startingSnapshot(HALF) !== HALF;

describe('the last transition', () => {
  const memory = () => new VolatileMemory<readonly PlacementMove[]>();
  const open = (kept: VolatileMemory<readonly PlacementMove[]>) =>
    new LastTransition(kept, new SilentLogger());

  it('is unfinished in the next process until that has decided', async () => {
    const kept = memory();
    await open(kept).begin(moved(NEW));
    const next = open(kept);
    expect(isUnfinished(next)).toBe(true);
    await next.begin(moved(NEW));
    expect(isUnfinished(next)).toBe(false);
  });

  it('is finished when the hub shows all of it', async () => {
    const kept = memory();
    await open(kept).begin(moved(NEW));
    const next = open(kept);
    const hub = snapshotOf({ clusters: [] });
    // The placement is gone, so that nothing of it is left to publish.
    expect(next.startingSnapshot(hub)).toBe(hub);
    expect(isUnfinished(next)).toBe(false);
  });

  it('is finished when a transition moves nothing', async () => {
    const kept = memory();
    const lastTransition = open(kept);
    await lastTransition.begin(moved(NEW));
    await lastTransition.begin(AT_REST);
    expect(isUnfinished(open(kept))).toBe(false);
  });

  it('is kept before a publication may begin', async () => {
    let write = (): void => undefined;
    const written = new Promise<void>((resolve) => (write = resolve));
    const slow = { get: () => undefined, persist: () => written, delete: () => undefined };
    let mayPublish = false;
    const begun = new LastTransition(slow, new SilentLogger())
      .begin(moved(NEW))
      .then(() => (mayPublish = true));
    await Promise.resolve();
    expect(mayPublish).toBe(false);
    write();
    await begun;
    expect(mayPublish).toBe(true);
  });

  it('holds nothing up where it cannot be kept', async () => {
    const full = {
      get: () => undefined,
      persist: () => Promise.reject(new Error('disk full')),
      delete: () => undefined,
    };
    const lastTransition = new LastTransition(full, new SilentLogger());
    await lastTransition.begin(moved(NEW));
    expect(isUnfinished(lastTransition)).toBe(false);
  });

  it('is forgotten when another process has published since', async () => {
    const kept = memory();
    await open(kept).begin(moved(NEW));
    const next = open(kept);
    next.forget();
    expect([isUnfinished(next), isUnfinished(open(kept))]).toEqual([false, false]);
  });
});
