import { describe, expect, it } from 'vitest';
import { LastTransition } from '../../../src/controllers/publication/last-transition.ts';
import type { PlacementMove } from '../../../src/core/transition/unfinished-transition.ts';
import { snapshotOf } from '../../../packages/placement/test/snapshots.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { VolatileMemory } from '../../fakes/volatile-memory.ts';

const moved = (after: readonly string[]) => new Map([['team/a', { uid: 'u', before: ['c1'], after }]]);
const AT_REST = new Map<string, never>();

describe('the last transition', () => {
  const memory = () => new VolatileMemory<readonly PlacementMove[]>();
  const open = (kept: VolatileMemory<readonly PlacementMove[]>) =>
    new LastTransition(kept, new SilentLogger());

  it('is unfinished in the next process until that has decided', async () => {
    const kept = memory();
    await open(kept).begin(moved(['c2']));
    const next = open(kept);
    expect(next.isUnfinished).toBe(true);
    await next.begin(moved(['c2']));
    expect(next.isUnfinished).toBe(false);
  });

  it('is unfinished as long as only half of a commit is on the hub', async () => {
    const kept = memory();
    await open(kept).begin(moved(['c2']));
    const next = open(kept);
    await next.beginOnPartialCommit(moved(['c3']));
    expect(next.isUnfinished).toBe(true);
    // Either may be published when this process ends.
    expect(kept.get('last')).toEqual([
      { placement: 'team/a', uid: 'u', added: ['c2', 'c3'], removed: ['c1'] },
    ]);
  });

  it('is finished when what seemed half of a commit was all of it', async () => {
    const kept = memory();
    await open(kept).begin(moved(['c2']));
    const next = open(kept);
    await next.beginOnPartialCommit(moved(['c3']));
    await next.begin(moved(['c3']));
    expect([next.isUnfinished, kept.get('last')]).toEqual([
      false,
      [{ placement: 'team/a', uid: 'u', added: ['c3'], removed: ['c1'] }],
    ]);
  });

  it('is finished when the hub shows all of it', async () => {
    const kept = memory();
    await open(kept).begin(moved(['c2']));
    const next = open(kept);
    const hub = snapshotOf({ clusters: [] });
    // The placement is gone, so that nothing of it is left to publish.
    expect(next.startingSnapshot(hub)).toBe(hub);
    expect(next.isUnfinished).toBe(false);
  });

  it('is finished when a transition moves nothing', async () => {
    const kept = memory();
    const lastTransition = open(kept);
    await lastTransition.begin(moved(['c2']));
    await lastTransition.begin(AT_REST);
    expect(open(kept).isUnfinished).toBe(false);
  });

  it('is kept before a publication may begin', async () => {
    let write = (): void => undefined;
    const written = new Promise<void>((resolve) => (write = resolve));
    const slow = { get: () => undefined, persist: () => written, delete: () => undefined };
    let mayPublish = false;
    const begun = new LastTransition(slow, new SilentLogger())
      .begin(moved(['c2']))
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
    await lastTransition.begin(moved(['c2']));
    expect(lastTransition.isUnfinished).toBe(false);
  });

  it('is forgotten when another process has published since', async () => {
    const kept = memory();
    await open(kept).begin(moved(['c2']));
    const next = open(kept);
    next.forget();
    expect([next.isUnfinished, open(kept).isUnfinished]).toEqual([false, false]);
  });
});
