import { afterEach, describe, expect, it } from 'vitest';
import { ObjectCache } from '@berth/kube/cache/object-cache';
import {
  type RunningRegistration,
  startRegistration,
} from '../../../src/controllers/registration/start-registration.ts';
import { TransientError } from '@berth/runtime/errors';
import { LEASE, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { formatMicroTime, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { ACCEPT_NOBODY } from '../../../src/core/registration/acceptance/auto-acceptance.ts';
import { CLUSTER_CONDITIONS } from '@berth/ocm/registration/cluster-conditions';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { seeded, seedsFrom } from '@berth/test-kit/seeded-random';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const LEASE_MS = 60_000;
const GRACE_MS = 5 * LEASE_MS;
const KEY = { namespace: 'c1', name: 'managed-cluster-lease' };

/** A hub in memory with the controllers of health, and agents that renew their leases while they run. */
class HealthFleet {
  readonly hub = new FakeKubeApi();
  readonly clock: FakeClock;
  readonly #running = new Set<string>();
  #isAnswering = true;
  overdue: RunningRegistration['overdue'] = () => [];
  #stop: () => Promise<void> = () => Promise.resolve();

  constructor(clock = new FakeClock()) {
    this.clock = clock;
  }

  async cluster(name: string): Promise<void> {
    await this.hub.create(MANAGED_CLUSTER, {
      apiVersion: 'cluster.open-cluster-management.io/v1',
      kind: 'ManagedCluster',
      metadata: { name },
      spec: { hubAcceptsClient: true, leaseDurationSeconds: 60 },
    });
    const conditions = [CLUSTER_CONDITIONS.accepted, CLUSTER_CONDITIONS.available];
    const key = { namespace: '', name };
    await this.hub.mergePatch(MANAGED_CLUSTER, key, { status: { conditions } }, { subresource: 'status' });
  }

  /** The controllers begin, as after a start of the process. */
  async start(): Promise<void> {
    const log = new SilentLogger();
    const shared = { clock: this.clock, random: seeded(1), log };
    const api = this.#api();
    const cache = new ObjectCache({ ...shared, api });
    const supervisor = new Supervisor(shared);
    const running = startRegistration({ ...shared, hub: api, cache, autoAcceptance: ACCEPT_NOBODY }, [
      'health',
      'taints',
    ]);
    this.overdue = () => running.overdue();
    cache.start(supervisor);
    this.#stop = async () => void (await Promise.all([running.close(), supervisor.close()]));
    await this.clock.advance(0);
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  run(...names: readonly string[]): void {
    for (const name of names) this.#running.add(name);
  }

  kill(...names: readonly string[]): void {
    for (const name of names) this.#running.delete(name);
  }

  /** The hub answers nothing, and its watches are silent. */
  cutOff(): void {
    this.#isAnswering = false;
  }

  reconnect(): void {
    this.#isAnswering = true;
  }

  /** Time passes; agents that run and reach the hub renew every minute, and report that they are available. */
  async pass(ms: number): Promise<void> {
    const stepMs = LEASE_MS / 4;
    for (let passedMs = 0; passedMs < ms; passedMs += stepMs) {
      await this.clock.advance(Math.min(stepMs, ms - passedMs));
      if ((this.clock.monotonicMs() / stepMs) % 4 === 0 && this.#isAnswering)
        for (const name of this.#running) await this.#renew(name);
      await this.clock.advance(0);
    }
  }

  async #renew(name: string): Promise<void> {
    const renewTime = formatMicroTime(instantFromEpochMs(this.clock.now()));
    const key = { namespace: name, name: KEY.name };
    if (this.hub.peek(LEASE).some(({ metadata }) => metadata.namespace === name))
      await this.hub.mergePatch(LEASE, key, { spec: { renewTime } });
    const conditions = [CLUSTER_CONDITIONS.accepted, CLUSTER_CONDITIONS.available];
    if (this.status(name) !== 'True')
      await this.hub.mergePatch(
        MANAGED_CLUSTER,
        { namespace: '', name },
        { status: { conditions } },
        { subresource: 'status' },
      );
  }

  status(name: string): string | undefined {
    const { conditions = [] } = (this.object(name)['status'] ?? {}) as { readonly conditions?: Condition[] };
    return conditions.find(({ type }) => type === 'ManagedClusterConditionAvailable')?.status;
  }

  condition(name: string, type: string): Condition | undefined {
    const { conditions = [] } = (this.object(name)['status'] ?? {}) as { readonly conditions?: Condition[] };
    return conditions.find((condition) => condition.type === type);
  }

  taints(name: string): readonly { readonly key: string; readonly timeAdded?: string }[] {
    return (this.object(name)['spec'] as { taints?: { key: string }[] }).taints ?? [];
  }

  object(name: string): KubeObject {
    const found = this.hub.peek(MANAGED_CLUSTER).find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new Error(`no cluster ${name}`);
    return found;
  }

  #api(): KubeApi {
    return new Proxy(this.hub, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: readonly unknown[]): unknown => {
          const isAway = !this.#isAnswering && name !== 'watch';
          const away = new TransientError('is away', { code: 'kube.network', subject: 'hub' });
          return isAway ? Promise.reject(away) : Reflect.apply(value, target, [...args]);
        };
      },
    });
  }
}

let fleet: HealthFleet;
afterEach(() => fleet.stop());

async function fleetOf(...names: readonly string[]): Promise<HealthFleet> {
  const made = new HealthFleet();
  for (const name of names) await made.cluster(name);
  made.run(...names);
  await made.start();
  await made.pass(2 * LEASE_MS);
  return made;
}

describe('the health of clusters', () => {
  it('makes the lease, and leaves a cluster alone whose agent renews it', async () => {
    fleet = await fleetOf('c1');
    await fleet.pass(3 * GRACE_MS);
    expect(fleet.hub.peek(LEASE)[0]).toMatchObject({
      metadata: { ...KEY, labels: { 'open-cluster-management.io/cluster-name': 'c1' } },
      spec: { holderIdentity: 'managed-cluster-lease' },
    });
    expect(fleet.status('c1')).toBe('True');
    expect(fleet.taints('c1')).toEqual([]);
    expect(fleet.condition('c1', 'ManagedClusterConditionClockSynced')?.status).toBe('True');
  });

  it('says Unknown once after five leases, taints, and takes the taint away when the agent is back', async () => {
    fleet = await fleetOf('c1', 'c2');
    fleet.kill('c1');
    await fleet.pass(GRACE_MS - LEASE_MS);
    expect(fleet.status('c1')).toBe('True');
    await fleet.pass(LEASE_MS);
    expect(fleet.condition('c1', 'ManagedClusterConditionAvailable')).toMatchObject(
      CLUSTER_CONDITIONS.leaseStopped,
    );
    expect(fleet.taints('c1')).toMatchObject([
      { key: 'cluster.open-cluster-management.io/unreachable', effect: 'NoSelect' },
    ]);
    expect(fleet.taints('c1')[0]?.timeAdded).toBeDefined();
    expect(fleet.status('c2')).toBe('True');
    const writes = fleet.hub.writes.filter((write) => write.includes('c1')).length;
    await fleet.pass(GRACE_MS);
    expect(fleet.hub.writes.filter((write) => write.includes('c1'))).toHaveLength(writes);
    fleet.run('c1');
    await fleet.pass(2 * LEASE_MS);
    expect(fleet.status('c1')).toBe('True');
    expect(fleet.taints('c1')).toEqual([]);
  });

  it('says beforehand which agents are overdue, and when it gives them up', async () => {
    fleet = await fleetOf('c1', 'c2');
    fleet.kill('c1');
    await fleet.pass(2 * LEASE_MS);
    expect(fleet.overdue()).toEqual([]);
    await fleet.pass(LEASE_MS);
    const [late, ...others] = fleet.overdue();
    expect(others).toEqual([]);
    expect(late?.cluster).toBe('c1');
    await fleet.pass(Date.parse(late?.runsOutAt ?? '') - fleet.clock.now());
    expect(fleet.taints('c1')).toHaveLength(1);
    const { timeAdded = '' } = fleet.taints('c1')[0] ?? {};
    expect(Math.abs(Date.parse(timeAdded) - Date.parse(late?.runsOutAt ?? ''))).toBeLessThan(5_000);
    expect(fleet.overdue()).toEqual([]);
  });

  it('gives every agent a full grace after a restart, and then says which are gone', async () => {
    fleet = await fleetOf('c1', 'c2');
    fleet.kill('c1');
    await fleet.pass(GRACE_MS - 2 * LEASE_MS);
    await fleet.stop();
    await fleet.pass(4 * GRACE_MS);
    fleet.kill('c2');
    await fleet.start();
    await fleet.pass(GRACE_MS - LEASE_MS);
    fleet.run('c2');
    expect([fleet.status('c1'), fleet.status('c2')]).toEqual(['True', 'True']);
    await fleet.pass(2 * LEASE_MS);
    expect([fleet.status('c1'), fleet.status('c2')]).toEqual(['Unknown', 'True']);
  });

  it('moves no fleet when the hub was away', async () => {
    fleet = await fleetOf('c1', 'c2');
    fleet.cutOff();
    await fleet.pass(3 * GRACE_MS);
    fleet.reconnect();
    await fleet.pass(GRACE_MS);
    expect([fleet.status('c1'), fleet.status('c2')]).toEqual(['True', 'True']);
  });

  it('moves no fleet when the machine slept, or the clock was set', async () => {
    fleet = await fleetOf('c1');
    fleet.clock.jump(24 * 3_600_000);
    await fleet.pass(GRACE_MS);
    expect(fleet.status('c1')).toBe('True');
    fleet.clock.jump(-48 * 3_600_000);
    await fleet.pass(GRACE_MS);
    expect(fleet.status('c1')).toBe('True');
  });

  it('moves no fleet when the machine slept, and the wall clock was set back by as much', async () => {
    fleet = await fleetOf('c1');
    fleet.kill('c1');
    await fleet.pass(GRACE_MS - LEASE_MS);
    fleet.clock.sleep(3_600_000);
    fleet.clock.jump(-3_600_000);
    await fleet.pass(GRACE_MS - LEASE_MS);
    expect(fleet.status('c1')).toBe('True');
    await fleet.pass(2 * LEASE_MS);
    expect(fleet.status('c1')).toBe('Unknown');
  });

  it('says that clocks differ, from renewals alone', async () => {
    fleet = await fleetOf('c1');
    fleet.kill('c1');
    const renewTime = formatMicroTime(instantFromEpochMs(fleet.clock.now() + 2 * GRACE_MS));
    await fleet.hub.mergePatch(LEASE, KEY, { spec: { renewTime } });
    await fleet.clock.advance(0);
    expect(fleet.condition('c1', 'ManagedClusterConditionClockSynced')).toMatchObject(
      CLUSTER_CONDITIONS.clockOutOfSync,
    );
    expect(fleet.status('c1')).toBe('True');
  });
});

describe('a long life with faults', () => {
  it.each([...seedsFrom(1, 6)])(
    'never calls an agent unreachable that lives, and finds those that died (seed %i)',
    async (seed) => {
      const random = seeded(seed);
      const names = ['c1', 'c2', 'c3', 'c4', 'c5'];
      fleet = await fleetOf(...names);
      const dead = new Set<string>();
      for (let day = 0; day < 25; day++) {
        const name = names[Math.floor(random() * names.length)] ?? 'c1';
        const what = Math.floor(random() * 5);
        if (what === 0) {
          await fleet.stop();
          await fleet.pass(Math.floor(random() * 3) * GRACE_MS);
          await fleet.start();
        } else if (what === 1) {
          fleet.cutOff();
          await fleet.pass(Math.floor(random() * 2 * 5) * LEASE_MS);
          fleet.reconnect();
          await fleet.pass(LEASE_MS);
        } else if (what === 2) fleet.clock.jump((random() - 0.5) * 24 * 3_600_000);
        else if (what === 3) {
          fleet.kill(name);
          dead.add(name);
        } else {
          fleet.run(name);
          dead.delete(name);
          await fleet.pass(2 * LEASE_MS);
        }
        await fleet.pass(Math.floor(random() * 4) * LEASE_MS);
        for (const one of names)
          if (!dead.has(one)) expect(fleet.status(one), `day ${day}: ${one}`).toBe('True');
      }
      await fleet.pass(3 * GRACE_MS);
      for (const one of names) expect(fleet.status(one)).toBe(dead.has(one) ? 'Unknown' : 'True');
    },
  );
});
