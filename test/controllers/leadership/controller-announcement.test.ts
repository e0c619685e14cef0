import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ControllerAnnouncement } from '../../../src/controllers/leadership/controller-announcement.ts';
import { readDecidedPlacements } from '../../../src/controllers/inventory/schedulable-placement.ts';
import { LEASE } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { ControllerDuties } from '../../../src/core/registration/install/controller-announcement.ts';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { RefusingKubeApi } from '@berth/test-kit/refusing-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const DECIDES_ALL: ControllerDuties = { decides: 'all', applies: ['fleet'], registration: [], addons: [] };
const DECIDES_OWN: ControllerDuties = { decides: 'own', applies: ['fleet'], registration: [], addons: [] };
const REGISTERS: ControllerDuties = {
  decides: 'none',
  applies: [],
  registration: ['acceptance', 'sets'],
  addons: [],
};
const KEEPS_SETS: ControllerDuties = { decides: 'own', applies: [], registration: ['sets'], addons: [] };

const SETTINGS = {
  version: '1',
  embedded: true,
  removalBudget: { percent: 25, atLeast: 2 },
  deletionWindow: 600_000,
  sources: [{ name: 'fleet', url: '/srv/fleet' }],
};

let hub: FakeKubeApi;
let clock: FakeClock;
let log: SilentLogger;
let running: { readonly announcement: ControllerAnnouncement; readonly supervisor: Supervisor }[];
beforeEach(() => {
  hub = new FakeKubeApi();
  clock = new FakeClock();
  log = new SilentLogger();
  running = [];
});
afterEach(() => stopAll());

function start(
  name: string,
  duties: ControllerDuties,
  { identity = name, api = hub }: { readonly identity?: string; readonly api?: KubeApi } = {},
): ControllerAnnouncement {
  const announcement = new ControllerAnnouncement({
    api,
    name,
    identity,
    duties,
    settings: SETTINGS,
    clock,
    log,
  });
  const supervisor = new Supervisor({ clock, log, random: () => 0.5 });
  announcement.start(supervisor);
  running.push({ announcement, supervisor });
  return announcement;
}

async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1_000) await clock.advance(1_000);
}

async function stop(announcement: ControllerAnnouncement): Promise<void> {
  const closed = running.find((one) => one.announcement === announcement)?.supervisor.close();
  await pass(2_000);
  await closed;
}

async function stopAll(): Promise<void> {
  for (const { announcement } of running) await stop(announcement);
}

const holder = async (name: string): Promise<unknown> =>
  (await hub.get(LEASE, { namespace: 'berth-system', name }))?.['spec'];

describe('two controllers', () => {
  it.each([
    { name: 'the same sources', one: DECIDES_OWN, other: DECIDES_OWN, both: 'both apply source fleet' },
    {
      name: 'a hub that one of them has for itself',
      one: DECIDES_ALL,
      other: { ...DECIDES_OWN, applies: ['apps'] },
      both: 'both decide the placements of the hub',
    },
    {
      name: 'the same duties of registration',
      one: REGISTERS,
      other: KEEPS_SETS,
      both: 'both do the sets of registration',
    },
  ])('with $name notice each other, once, and when one ends', async ({ one, other, both }) => {
    const [a, b] = [start('a', one), start('b', other)];
    await pass(60_000);
    expect(a.warnings()).toEqual([expect.stringContaining(`to this hub (b): ${both}`)]);
    expect(b.warnings()).toEqual([expect.stringContaining(`to this hub (a): ${both}`)]);
    const warned = () => log.entries.filter(({ level }) => level === 'warn').length;
    expect(warned()).toBe(2);
    await stop(b);
    await pass(30_000);
    expect([a.warnings(), warned()]).toEqual([[], 2]);
  });

  it.each([
    { name: 'other sources', one: DECIDES_OWN, other: { ...DECIDES_OWN, applies: ['apps'] } },
    { name: 'other duties', one: DECIDES_ALL, other: REGISTERS },
  ])('with $name run beside each other without a word', async ({ one, other }) => {
    const [a, b] = [start('a', one), start('b', other)];
    await pass(60_000);
    expect([a.warnings(), b.warnings(), log.entries]).toEqual([[], [], []]);
  });

  it('with one data directory notice each other', async () => {
    const [a, b] = [start('a', DECIDES_ALL), start('a', DECIDES_ALL, { identity: 'second' })];
    await pass(60_000);
    expect([...a.warnings(), ...b.warnings()].join()).toContain('both apply source fleet');
  });
});

it('a process that was killed is noticed neither by its next start nor by others', async () => {
  const network = new RefusingKubeApi(hub, 'kube.forbidden');
  start('a', DECIDES_ALL, { api: network });
  await pass(60_000);
  // Nothing that it sends arrives any more.
  for (const verb of ['list', 'patch', 'get', 'create']) network.refused.add(`${verb} leases`);
  const again = start('a', REGISTERS, { identity: 'next' });
  const other = start('b', DECIDES_ALL);
  await pass(60_000);
  expect([again.warnings(), other.warnings()]).toEqual([[], []]);
  expect(await holder('a')).toMatchObject({ holderIdentity: 'next' });
  await stop(again);
  expect(await holder('a')).toMatchObject({ holderIdentity: '' });
});

it('a controller without a right on namespaces says what it writes where its namespace is there', async () => {
  const network = new RefusingKubeApi(hub, 'kube.forbidden');
  for (const verb of ['get', 'create']) network.refused.add(`${verb} namespaces`);
  start('a', DECIDES_ALL, { api: network });
  await pass(15_000);
  expect([await holder('a'), log.entries]).toEqual([expect.objectContaining({ holderIdentity: 'a' }), []]);
});

it('a hub that refuses the Leases is one line in the log, and nothing else', async () => {
  const network = new RefusingKubeApi(hub, 'kube.forbidden');
  network.refused.add('list leases');
  const one = start('a', DECIDES_ALL, { api: network });
  await pass(60_000);
  expect(one.warnings()).toEqual([]);
  expect(log.entries.map(({ message }) => message)).toEqual([
    'other controllers on this hub cannot be noticed',
  ]);
});

describe('which placements Berth decides', () => {
  it.each([
    { name: 'no controller', duties: [], want: 'own' },
    { name: 'one that decides its own', duties: [DECIDES_OWN], want: 'own' },
    { name: 'one that decides all', duties: [REGISTERS, DECIDES_ALL], want: 'all' },
  ])('is read from the hub, with $name, also after it ended: $want', async ({ duties, want }) => {
    duties.forEach((one, at) => start(`c${at}`, one));
    await pass(15_000);
    expect(await readDecidedPlacements(hub)).toBe(want);
    await stopAll();
    expect(await readDecidedPlacements(hub)).toBe(want);
  });

  it('counts as those with its annotation where the Leases cannot be read', async () => {
    start('a', DECIDES_ALL);
    await pass(15_000);
    const deaf = new RefusingKubeApi(hub, 'kube.forbidden');
    deaf.refused.add('list leases');
    expect(await readDecidedPlacements(deaf)).toBe('own');
  });
});
