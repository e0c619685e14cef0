import { afterEach, expect, it } from 'vitest';
import { MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import { Fleet, memoryHub } from './work-fleet.ts';

const KEY = { namespace: 'team', name: 'web' };
let fleet: Fleet;
afterEach(() => fleet.stop());

/** Another controller that writes the same status. */
it('leaves a replica set whose status another controller writes, after three rounds, and tries again later', async () => {
  const hub = memoryHub();
  fleet = await new Fleet(hub).start();
  await fleet.place('all', ['c1']);
  await fleet.replicaSet('1');
  await fleet.settle();
  const summary = { total: 9 };
  for (let round = 0; round < 4; round++) {
    expect(fleet.warnings()).toEqual([]);
    await fleet.status(MANIFEST_WORK_REPLICA_SET, KEY, { summary });
    await fleet.settle();
  }
  expect(await fleet.conditions()).toMatchObject({ 'berth.dev/Held': 'True SecondWriter' });
  expect(fleet.warnings()).toEqual([expect.stringMatching(/team\/web: another controller .* --no-works/)]);
  expect(fleet.errors).toEqual([['team/web', expect.objectContaining({ code: 'works.second-writer' })]]);
  const writes = hub.writes.length;
  await fleet.settle(60_000);
  expect(hub.writes).toHaveLength(writes);
  await fleet.settle(600_000);
  expect(await fleet.conditions()).toMatchObject({ 'berth.dev/Held': 'False Resumed' });
  expect(fleet.warnings()).toEqual([]);
});
