import { beforeEach, describe, expect, it } from 'vitest';
import { HubTransition } from '../../../src/controllers/publication/hub-transition.ts';
import { LastTransition } from '../../../src/controllers/publication/last-transition.ts';
import type { PlacementMove } from '../../../src/core/transition/unfinished-transition.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { snapshotOf } from '../../../packages/placement/test/snapshots.ts';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { VolatileMemory } from '../../fakes/volatile-memory.ts';

const moved = (after: readonly string[]) => new Map([['team/a', { uid: 'u', before: ['c1'], after }]]);
const AT_REST = new Map<string, never>();
/** The placement is there, and nothing is published for it. */
const HUB: Snapshot = {
  ...snapshotOf({ clusters: [] }),
  placements: [
    {
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'Placement',
      metadata: { name: 'a', namespace: 'team', uid: 'u' },
    },
  ],
};

describe('the last transition', () => {
  const memory = () => new VolatileMemory<readonly PlacementMove[]>();
  const open = (kept: VolatileMemory<readonly PlacementMove[]>) =>
    new LastTransition(kept, new SilentLogger());

  const removed = { placement: 'team/a', uid: 'u', removed: ['c1'] };
  it('is made by the next process, once', async () => {
    const kept = memory();
    await open(kept).begin(moved(['c2']), HUB);
    const next = open(kept);
    expect(next.isUnfinished).toBe(true);
    expect(next.takeUnfinished()).toEqual([{ ...removed, added: ['c2'] }]);
    expect([next.isUnfinished, next.takeUnfinished()]).toEqual([false, []]);
  });

  it('is finished when a transition moves nothing', async () => {
    const kept = memory();
    const lastTransition = open(kept);
    await lastTransition.begin(moved(['c2']), HUB);
    await lastTransition.begin(AT_REST, HUB);
    expect(open(kept).isUnfinished).toBe(false);
  });

  it('is kept before a publication may begin', async () => {
    let write = (): void => undefined;
    const written = new Promise<void>((resolve) => (write = resolve));
    const slow = { get: () => undefined, persist: () => written };
    let mayPublish = false;
    const lastTransition = new LastTransition(slow, new SilentLogger());
    void lastTransition.begin(moved(['c2']), HUB);
    const begun = lastTransition.whenStored().then(() => (mayPublish = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(mayPublish).toBe(false);
    write();
    await begun;
    expect(mayPublish).toBe(true);
  });

  it('holds nothing up where it cannot be kept', async () => {
    const full = {
      get: () => undefined,
      persist: () => Promise.reject(new Error('disk full')),
    };
    const lastTransition = new LastTransition(full, new SilentLogger());
    await lastTransition.begin(moved(['c2']), HUB);
    expect(lastTransition.isUnfinished).toBe(false);
  });

  it('is forgotten when another process has published since', async () => {
    const kept = memory();
    await open(kept).begin(moved(['c2']), HUB);
    const next = open(kept);
    next.takeOver();
    expect([next.isUnfinished, open(kept).isUnfinished]).toEqual([false, false]);
  });

  describe('on the hub', () => {
    const log = new SilentLogger();
    let hub: FakeKubeApi;
    beforeEach(() => {
      hub = new FakeKubeApi();
      hub.addKind({ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true });
    });
    const onHub = () => new HubTransition(hub, 'berth-system/berth-fleet', log);
    const openOn = (store = memory()) => new LastTransition(store, log, onHub());
    const decided = { ...removed, added: ['c3'] };

    it('is that of the other process when it has published since', async () => {
      const own = memory();
      await openOn(own).begin(moved(['c2']), HUB);
      await openOn().begin(moved(['c3']), HUB);
      const next = openOn(own);
      await next.readLastLeader();
      next.takeOver();
      expect(next.isUnfinished).toBe(true);
      // It is on the disk too, for a process that is killed before it publishes.
      expect(own.get('decided')).toEqual([decided]);
    });

    it('is read from there where the disk has lost it, and not after a restore', async () => {
      await openOn().begin(moved(['c3']), HUB);
      const next = openOn();
      await next.readLastLeader();
      expect(next.takeUnfinished()).toEqual([decided]);
      const restored = openOn();
      restored.forget();
      await restored.readLastLeader();
      expect(restored.takeUnfinished()).toEqual([]);
    });

    it('stays where all of it is published, so that a restart at rest writes nothing', async () => {
      await openOn().begin(moved(['c3']), HUB);
      const next = openOn();
      await next.readLastLeader();
      await next.begin(AT_REST, { ...HUB, placements: [] });
      expect(await onHub().read()).toEqual([decided]);
    });

    it('ends there where something of it was given up', async () => {
      await openOn().begin(moved(['c3']), HUB);
      const next = openOn();
      await next.readLastLeader();
      await next.begin(AT_REST, HUB);
      expect(await onHub().read()).toEqual([]);
    });
  });
});
