import { afterAll, expect, it } from 'vitest';
import { OUTAGE_PATIENCE_MS } from '@berth/test-kit/patience';
import type { StepName } from '../../src/core/timeline/timeline.ts';
import {
  type ClusterName,
  CLUSTERS,
  MigrationWorld,
  type StartAgent,
  UNREACHABLE,
} from './migration-world.ts';

/** Longer than any test. */
const HOURS = 36_000;

/**
 * How a placement leaves a cluster that cannot go on, with agents of one kind.
 * @param begin starts the agent of a cluster
 */
export function migrationStories(begin: StartAgent): void {
  let world: MigrationWorld;
  afterAll(() => world.close());

  /** Where it runs now, and where it may go. */
  async function here(): Promise<{ readonly from: ClusterName; readonly to: ClusterName }> {
    await expect.poll(() => world.decided(), { timeout: OUTAGE_PATIENCE_MS }).toHaveLength(1);
    const [now] = await world.decided();
    const [from, to] = now === 'east' ? CLUSTERS : ([...CLUSTERS].reverse() as [ClusterName, ClusterName]);
    await world.runsOn(from);
    return { from, to };
  }

  /** The steps in this order, others between them; each is of its cluster. */
  async function expectSteps(
    since: string,
    wanted: readonly (readonly [StepName, ClusterName | undefined])[],
  ): Promise<void> {
    const missing = async (): Promise<unknown> => {
      let left = (await world.timeline()).filter(({ at }) => Date.parse(at) >= Date.parse(since) - 1_000);
      return wanted.find(([step, cluster]) => {
        const at = left.findIndex((one) => one.step === step && one.cluster === cluster);
        left = left.slice(at + 1);
        return at < 0;
      });
    };
    await expect.poll(missing, { timeout: OUTAGE_PATIENCE_MS, interval: 1_000 }).toBeUndefined();
  }

  const now = (): string => new Date().toISOString();

  it('and begins on one of two that have joined', async () => {
    world = await MigrationWorld.create(begin);
    await world.start({ seconds: 2 });
    const { from, to } = await here();
    expect(await world.hasCopy(to)).toBe(false);
    expect(await world.taints(from)).toEqual([]);
  });

  it.each([
    {
      what: 'killed',
      away: (cluster: ClusterName): Promise<void> | void => world.kill(cluster),
      back: (cluster: ClusterName): Promise<void> | void => world.startAgent(cluster),
    },
    {
      what: 'frozen',
      away: (cluster: ClusterName): Promise<void> | void => world.freeze(cluster),
      back: (cluster: ClusterName) => world.thaw(cluster),
    },
    {
      what: 'cut off',
      away: (cluster: ClusterName): Promise<void> | void => world.network(cluster, 'silent'),
      // The connections that were silent end: as after a cable is plugged in again.
      back: (cluster: ClusterName) => {
        world.network(cluster, 'refuse');
        world.network(cluster, 'pass');
      },
    },
  ])('whose agent is $what; an agent that comes back late removes the old copy', async ({ away, back }) => {
    const { from, to } = await here();
    const since = now();
    await away(from);
    await world.becomes(from, 'Unknown');
    await world.runsOn(to);
    expect(await world.taints(from)).toEqual([UNREACHABLE]);
    // Nobody can tell the old cluster to stop: the hub says that its copy may still run.
    expect((await world.work(from))?.metadata.deletionTimestamp).toBeDefined();
    expect(await world.hasCopy(from)).toBe(true);
    await back(from);
    await world.becomes(from, 'True');
    await expect.poll(() => world.hasCopy(from), { timeout: OUTAGE_PATIENCE_MS }).toBe(false);
    await expect.poll(() => world.work(from), { timeout: OUTAGE_PATIENCE_MS }).toBeUndefined();
    await expect.poll(() => world.taints(from), { timeout: OUTAGE_PATIENCE_MS }).toEqual([]);
    expect(await world.decided()).toEqual([to]);
    expect(await world.hasCopy(to)).toBe(true);
    await expectSteps(since, [
      ['lease-expired', from],
      ['unknown', from],
      ['taint-added', from],
      ['toleration-ended', from],
      ['decision-moved', undefined],
      ['work-applied', to],
      ['work-removed', from],
    ]);
    await expectSteps(since, [
      ['taint-added', from],
      ['available', from],
      ['taint-removed', from],
    ]);
  });

  it('that is under maintenance, at once; nothing moves back', async () => {
    const { from, to } = await here();
    const since = now();
    await world.maintain(from, true);
    await world.runsOn(to);
    await expect.poll(() => world.hasCopy(from), { timeout: OUTAGE_PATIENCE_MS }).toBe(false);
    await world.maintain(from, false);
    await expectSteps(since, [
      ['taint-added', from],
      ['decision-moved', undefined],
      ['work-removed', from],
    ]);
    await expectSteps(since, [
      ['taint-added', from],
      ['taint-removed', from],
    ]);
    expect(await world.decided()).toEqual([to]);
  });

  it('only when the copy on the other cluster is there, where that is asked for', async () => {
    world.commit({ seconds: 2, makeBeforeBreak: true });
    const { from, to } = await here();
    await expect
      .poll(async () => JSON.stringify((await world.placement())?.metadata.annotations))
      .toContain('MakeBeforeBreak');
    const since = now();
    world.freeze(to);
    await world.maintain(from, true);
    // The other one does not apply the work, so the first keeps its copy, and both are published.
    await expect
      .poll(async () => [...(await world.decided())].sort(), { timeout: OUTAGE_PATIENCE_MS })
      .toEqual([...CLUSTERS]);
    expect(await world.hasCopy(from)).toBe(true);
    world.thaw(to);
    await world.runsOn(to);
    await world.maintain(from, false);
    await expectSteps(since, [
      ['taint-added', from],
      ['decision-moved', to],
      ['work-applied', to],
      ['decision-moved', from],
      ['work-removed', from],
    ]);
  });

  it('not at all when its agent comes back in time', async () => {
    world.commit({ seconds: HOURS });
    await expect
      .poll(async () => JSON.stringify((await world.placement())?.['spec']))
      .toContain(String(HOURS));
    const { from, to } = await here();
    const since = now();
    world.freeze(from);
    await world.becomes(from, 'Unknown');
    await expect.poll(() => world.taints(from), { timeout: OUTAGE_PATIENCE_MS }).toEqual([UNREACHABLE]);
    world.thaw(from);
    await world.becomes(from, 'True');
    await expect.poll(() => world.taints(from), { timeout: OUTAGE_PATIENCE_MS }).toEqual([]);
    await expectSteps(since, [
      ['lease-expired', from],
      ['unknown', from],
      ['taint-added', from],
      ['available', from],
      ['taint-removed', from],
    ]);
    const steps = (await world.timeline()).filter(({ at }) => Date.parse(at) >= Date.parse(since));
    expect(steps.filter(({ step }) => step === 'decision-moved' || step.startsWith('work-'))).toEqual([]);
    expect(await world.decided()).toEqual([from]);
    expect(await world.hasCopy(to)).toBe(false);
  });
}
