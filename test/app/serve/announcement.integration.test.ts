import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { CONTROLLER_LEASES } from '../../../src/controllers/inventory/schedulable-placement.ts';
import { LEASE, PLACEMENT } from '@berth/kube/model/kinds';
import type { Plan } from '../../../src/core/preview/plan.ts';
import {
  type ControllerDuties,
  readDuties,
} from '../../../src/core/registration/install/controller-announcement.ts';
import { makeCliIo } from '../cli-harness.ts';
import { baseFiles, placement, retired, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

const ANNOUNCEMENT = { name: 'berth-controller-test', identity: 'test' };
const CLUSTERS = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];

/** What each controller says that it writes is compared in `controller-announcement.test.ts`. */
it('berth serve says what it writes, with leader election and without, in a Lease of its own', async () => {
  const fleet = await ServedFleet.create();
  fleet.git.commit(baseFiles);
  const end = new AbortController();
  const serve = (data: string, ...args: string[]): Promise<number> => {
    const hub = ['--kubeconfig', fleet.hub.kubeconfig, '--data', join(fleet.dataDir, data)];
    return runCli(['serve', ...hub, ...args], makeCliIo({ env: process.env, signal: end.signal }).io);
  };
  const running = [
    serve('elected', '--repo', fleet.git.path),
    serve('sole', '--embedded', '--registration', 'all'),
  ];
  const said = async (): Promise<readonly ControllerDuties[]> =>
    (await fleet.hub.api.list(LEASE, CONTROLLER_LEASES)).items.map(readDuties);
  await expect
    .poll(async () => (await said()).map(({ decides, applies }) => ({ decides, applies })))
    .toEqual(
      expect.arrayContaining([
        { decides: 'own', applies: ['fleet'] },
        { decides: 'all', applies: [] },
      ]),
    );
  end.abort();
  expect(await Promise.all(running)).toEqual([0, 0]);
  await fleet.close();
});

/** A hub where Berth decides all placements. Two of them are in no commit: one that a person made, and one that left Git and whose deletion is held. */
describe('on a hub that a controller has for itself', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ ...baseFiles, 'gone.yaml': yaml(placement('gone')) });
    const ref = { type: 'branch', name: 'main' } as const;
    await fleet.serve({ announcement: ANNOUNCEMENT, sources: [{ url: fleet.git.path, ref }] });
    await fleet.published('gone');
    await fleet.hub.api.create(PLACEMENT, placement('by-hand'));
    await expect.poll(() => fleet.decisions('by-hand')).toEqual(CLUSTERS);
    fleet.git.commit({ 'gone.yaml': undefined });
    await fleet.event('sync-problem', ({ message }) => message.includes('team-a/gone'));
    const key = { namespace: 'berth-system', name: ANNOUNCEMENT.name };
    await expect.poll(() => fleet.hub.api.get(LEASE, key)).toBeDefined();
    await fleet.stop();
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'clusters.yaml': retired(1) });
  });
  afterEach(() => fleet.close());

  const moved = async (...hub: string[]): Promise<readonly unknown[]> => {
    const { stdout } = await fleet.berth(
      ...['plan', '--base', 'main', '--head', 'retire', '-o', 'json'],
      ...hub,
    );
    const { placements, notEvaluated } = JSON.parse(stdout) as Plan;
    expect(notEvaluated.join()).not.toContain('Another controller decides');
    return placements.map(({ name, removed }) => [name, removed.map(({ cluster }) => cluster)]);
  };

  it('explain and plan see what it decides, without a flag, also after it ended', async () => {
    const hub = ['--kubeconfig', fleet.hub.kubeconfig];
    for (const name of ['by-hand', 'gone']) {
      const { stdout } = await fleet.berth('explain', `team-a/${name}`, ...hub);
      expect(stdout).toContain('c1');
      expect(stdout).not.toContain('Another controller decides');
    }
    const want = [
      ['by-hand', ['c1']],
      ['gone', ['c1']],
    ];
    expect(await moved(...hub)).toEqual(want);
    const file = join(fleet.dataDir, 'hub.json');
    await fleet.berth('snapshot', ...hub, '--file', file);
    expect(await moved('--inventory', file)).toEqual(want);
  });
});
