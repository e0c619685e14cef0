import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ARGO_CONTROLLER_PROGRAMS } from '../peers/argocd-controller.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { HUB_KINDS } from '../peers/shared-hubs.ts';
import { AGENT_KINDS } from './member-agents.ts';
import { PullWorld } from './pull-world.ts';

const GREETING = { greeting: 'hello' };

const ROWS = HUB_KINDS.flatMap((hub) => AGENT_KINDS.map((agents) => ({ ...hub, ...agents, agents })));

describe.each(ROWS)('the pull model, with real Argo CDs, on $name with $agent', (row) => {
  const { programs, agentPrograms, start, agents } = row;
  const test = it.skipIf(!hasPeers(...ARGO_CONTROLLER_PROGRAMS, ...programs, ...agentPrograms));
  let world: PullWorld;
  let revision: string;
  beforeAll(async () => {
    world = await PullWorld.start(await start(), agents);
    revision = world.commit('hello');
    await world.createSet();
  });
  afterAll(() => world?.stop());

  const runs = (conditions: readonly string[] = []) => ({
    health: 'Healthy',
    sync: 'Synced',
    revision,
    conditions,
  });

  const east = (): Promise<number> => world.members.east.startOf('rolling-east', revision);
  const west = (): Promise<number> => world.members.west.startOf('rolling-west', revision);

  test('brings an Application to the cluster that was chosen, which syncs it, and the hub says so', async () => {
    await expect.poll(() => world.status('shop-east')).toEqual(runs());
    await expect.poll(() => world.members.east.words()).toMatchObject({ data: GREETING });
    // The cluster reports its status in more than one step.
    await expect
      .poll(async () => (await world.application('shop-east'))?.status?.operationState)
      .toMatchObject({ phase: 'Succeeded' });
    const application = await world.application('shop-east');
    expect(application?.spec?.destination).toEqual({ name: 'east', namespace: 'shop' });
    expect(await world.works()).toEqual({ east: 'carried' });
  });

  test('moves it when the cluster is cut off, and says that the old copy may still run', async () => {
    await world.cutOff('east');
    await expect.poll(() => world.status('shop-west')).toEqual(runs(['UnconfirmedRemovalWarning']));
    expect(await world.members.west.words()).toMatchObject({ data: GREETING });
    // Both run: the hub cannot stop what it does not reach, and it does not hide it.
    expect(await world.members.east.words()).toMatchObject({ data: GREETING });
    expect(await world.application('shop-east')).toBeUndefined();
    expect(await world.works()).toEqual({ east: 'removed', west: 'carried' });
  });

  test('removes the old copy with all that it made when the cluster comes back', async () => {
    await world.reconnect('east');
    await expect.poll(() => world.works()).toEqual({ west: 'carried' });
    await expect.poll(() => world.members.east.application('shop-east')).toBeUndefined();
    await expect.poll(() => world.members.east.words()).toBeUndefined();
    await expect.poll(() => world.status('shop-west')).toEqual(runs());
  });

  test('starts no second copy where only one may run, before the first is known to be gone', async () => {
    await world.limitCopies();
    await expect
      .poll(
        async () => (await world.application('shop-west'))?.metadata.annotations?.['berth.dev/max-copies'],
      )
      .toBe('1');
    await world.cutOff('west');
    await expect
      .poll(() => world.status('shop-east'))
      .toMatchObject({ conditions: ['CopiesExceededWarning'] });
    await expect.poll(() => world.works()).toEqual({ west: 'removed' });
    expect(await world.members.east.words()).toBeUndefined();
    await world.reconnect('west');
    await expect.poll(() => world.status('shop-east')).toEqual(runs());
    expect(await world.members.west.application('shop-west')).toBeUndefined();
    expect(await world.members.east.words()).toMatchObject({ data: GREETING });
  });

  test('lets a RollingSync of the ApplicationSet controller go on from one cluster to the next', async () => {
    await world.createRollingSet();
    await expect
      .poll(() => world.rollout('rolling'))
      .toEqual({ 'rolling-east': 'Healthy', 'rolling-west': 'Healthy' });
    for (const name of ['rolling-east', 'rolling-west'] as const) {
      expect(await world.status(name)).toEqual(runs());
      // Its own operation was carried there and finished; it may set one twice before it reads the status.
      await expect.poll(async () => (await world.application(name))?.operation).toBeUndefined();
      const application = await world.application(name);
      expect(application?.status?.operationState).toMatchObject({ phase: 'Succeeded' });
      // Before Argo CD 3.3 it took `automated` away.
      expect(application?.spec?.['syncPolicy']).toMatchObject({ automated: { enabled: false } });
    }
    expect(await west()).toBeGreaterThanOrEqual(await east());
  });

  test('carries the next operation of a RollingSync, though it is equal to the last one', async () => {
    // Another text when the test runs again.
    const greeting = `bye at ${Date.now()}`;
    revision = world.commit(greeting);
    // The ApplicationSet controller keeps to the order only for changes that it sees at the same time or in order.
    for (const name of ['east', 'west'] as const) {
      await world.members[name].refresh(`rolling-${name}`);
      await expect.poll(() => world.status(`rolling-${name}`)).toMatchObject({ revision });
    }
    for (const name of ['rolling-east', 'rolling-west'] as const)
      await expect.poll(() => world.status(name)).toEqual(runs());
    for (const name of ['east', 'west'] as const)
      expect(await world.members[name].words('rolling')).toMatchObject({ data: { greeting } });
    expect(await west()).toBeGreaterThanOrEqual(await east());
  });
});
