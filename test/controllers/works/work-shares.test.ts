import { KubeLeaseStore } from '@berth/kube/kube-lease-store';
import { LeaderElector } from '@berth/kube/leader-election/leader-elector';
import { DEFAULT_TIMING } from '@berth/kube/leader-election/lease';
import { LEASE } from '@berth/kube/model/kinds';
import { TransientError } from '@berth/runtime/errors';
import { sha256 } from '@berth/runtime/sha256';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WorkShares } from '../../../src/controllers/works/work-shares.ts';
import { shareOf, WORK_SHARES } from '../../../src/core/work/replica-set/work-shares.ts';

const KEY = { namespace: 'berth-system', name: 'berth-fleet' };
const NAMESPACES = Array.from({ length: 60 }, (_, at) => `team-${at}`);
/** Longer than a lease of a process that does not renew it. */
const LAPSED_MS = 20_000;

/** The hub, as long as it can be reached. */
class Reachable extends InterceptedKubeApi {
  isAway = false;
  override read<T>(request: () => Promise<T>): Promise<T> {
    return this.isAway ? Promise.reject(away()) : request();
  }
  protected override write<T>(request: () => Promise<T>): Promise<T> {
    return this.isAway ? Promise.reject(away()) : request();
  }
  close(): void {}
}
const away = () => new TransientError('away', { code: 'test.away', subject: 'hub' });

interface Process {
  readonly shares: WorkShares;
  readonly hub: Reachable;
  /** Namespaces whose works it could write now. */
  writes(): readonly string[];
}

describe('processes that share the works', () => {
  let clock: FakeClock;
  let api: FakeKubeApi;
  let processes: Process[];
  beforeEach(() => {
    [clock, api, processes] = [new FakeClock(), new FakeKubeApi(), []];
  });
  afterEach(async () => {
    const closing = Promise.all(processes.map(({ shares }) => shares.close()));
    await clock.advance(LAPSED_MS);
    await closing;
    expect(clock.pendingTimers).toBe(0);
  });

  async function start(): Promise<Process> {
    const hub = new Reachable(api);
    const identity = `host_process-${processes.length}`;
    const running = new Set<{ isHeld: () => boolean; owns: (namespace: string) => boolean }>();
    const electorOf = new Map<object, LeaderElector>();
    const [timing, log, random] = [DEFAULT_TIMING, new SilentLogger(), () => 0.5];
    const shares = new WorkShares({
      ...{ random, log },
      elections: {
        ...{ key: KEY, timing, clock, identity, hub },
        elect: (name, mayTake) => {
          const store = new KubeLeaseStore(hub, { ...KEY, name });
          const elector = new LeaderElector({ store, identity, timing, clock, random, log, mayTake });
          const client = Object.create(hub) as Reachable;
          electorOf.set(client, elector);
          return { elector, connect: () => client };
        },
      },
      run: (client, _mayWrite, owns) => {
        const one = { isHeld: () => electorOf.get(client)?.isHeld === true, owns };
        running.add(one);
        return {
          whenIdle: async () => undefined,
          warnings: () => [],
          close: async () => void running.delete(one),
        };
      },
    });
    const process = {
      ...{ shares, hub },
      writes: () => {
        const active = [...running].filter(({ isHeld }) => isHeld());
        return NAMESPACES.filter((namespace) => active.some(({ owns }) => owns(namespace)));
      },
    };
    shares.start();
    processes.push(process);
    await clock.advance(0);
    return process;
  }

  /** Lets time pass, and looks all the time whether two processes could write the same. */
  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      await clock.advance(500);
      const all = processes.flatMap((process) => process.writes());
      expect(all.length, 'writers of some namespace').toBe(new Set(all).size);
    }
  }
  const counts = () => processes.map(({ shares }) => shares.shares().held.length);
  const written = () => new Set(processes.flatMap((process) => process.writes())).size;

  it('one alone writes all', async () => {
    await start();
    await pass(5_000);
    expect(counts()).toEqual([WORK_SHARES]);
    expect(written()).toBe(NAMESPACES.length);
  });

  it('each gets its part as others come, and what one gives back when it ends', async () => {
    await start();
    await pass(5_000);
    await start();
    await pass(10_000);
    expect(counts()).toEqual([6, 6]);
    await start();
    await pass(10_000);
    expect(counts()).toEqual([4, 4, 4]);
    expect(written()).toBe(NAMESPACES.length);
    const ended = processes.shift();
    await Promise.all([ended?.shares.close(), clock.advance(5_000)]);
    await pass(10_000);
    expect(counts()).toEqual([6, 6]);
    expect(written()).toBe(NAMESPACES.length);
  });

  it('what one had that the hub does not hear any more is taken when its leases are over', async () => {
    for (let at = 0; at < 3; at++) await start();
    await pass(20_000);
    const [lost] = processes;
    if (lost === undefined) throw new Error('no process');
    lost.hub.isAway = true;
    await pass(9_000);
    expect(written()).toBe(NAMESPACES.length);
    await pass(2 * LAPSED_MS);
    expect(lost.writes()).toEqual([]);
    expect(lost.shares.warnings()).toEqual(['works: their shares cannot be divided: hub: away']);
    expect(written()).toBe(NAMESPACES.length);
    lost.hub.isAway = false;
    await pass(2 * LAPSED_MS);
    expect(counts()).toEqual([4, 4, 4]);
    expect(lost.shares.warnings()).toEqual([]);
  });

  it('of those that ended without a word nothing stays', async () => {
    await start();
    const [killed] = processes.splice(0, 1);
    if (killed !== undefined) killed.hub.isAway = true;
    await start();
    await pass(200_000);
    const lease = await api.get(LEASE, { ...KEY, name: 'berth-fleet-works' });
    expect(Object.keys(lease?.metadata.annotations ?? {})).toEqual(['process.berth.dev/process-0']);
    await Promise.all([killed?.shares.close(), clock.advance(LAPSED_MS)]);
  });

  it('a namespace has the same share in every process and version', () => {
    expect(['default', 'team-a', 'kube-system'].map((one) => shareOf(sha256, one))).toMatchInlineSnapshot(`
      [
        9,
        0,
        0,
      ]
    `);
    expect(new Set(NAMESPACES.map((one) => shareOf(sha256, one))).size).toBe(WORK_SHARES);
  });
});
