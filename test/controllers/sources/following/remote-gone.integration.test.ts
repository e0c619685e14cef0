import { renameSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MANAGED_CLUSTER, PLACEMENT } from '@berth/kube/model/kinds';
import { baseFiles, cluster, placement, yaml } from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';

const KEY = { namespace: 'team-a', name: 'web' };

describe('a remote that is gone', () => {
  let fleet: ServedFleet;
  let away: string;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    away = `${fleet.git.path}-away`;
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) });
  });
  afterEach(() => fleet.close());
  const options = { resyncIntervalMs: 300 };
  const start = async (): Promise<void> => {
    await fleet.serve(options);
    await fleet.published('web');
    await fleet.event('synced');
  };
  const putBack = () => fleet.until(() => fleet.hub.api.get(PLACEMENT, KEY));

  it('keeps the hub as the last commit says, also across a restart', async () => {
    await start();
    const commit = fleet.git.run('rev-parse', 'HEAD').trim();
    renameSync(fleet.git.path, away);
    await fleet.event('error');
    await fleet.hub.api.delete(PLACEMENT, KEY);
    await putBack();
    await fleet.stop();
    await fleet.hub.api.delete(PLACEMENT, KEY);
    await fleet.serve({ ...options, http: fleet.http() });
    await putBack();
    // Told after what could be done without the remote is done.
    await fleet.event('error');
    const { code, stdout } = await fleet.status();
    expect(code).toBe(1);
    expect(stdout).toMatch(new RegExp(`${commit.slice(0, 8)} .*there is no such repository`));
    renameSync(away, fleet.git.path);
  });

  it('does not bring back the commit of a branch that is followed no more', async () => {
    await start();
    await fleet.stop();
    renameSync(fleet.git.path, away);
    await fleet.hub.api.delete(PLACEMENT, KEY);
    await fleet.serve({
      ...options,
      sources: [{ url: fleet.git.path, ref: { type: 'branch', name: 'other' } }],
    });
    await fleet.event('error');
    await fleet.event('error', () => true, fleet.events.length);
    expect(await fleet.hub.api.get(PLACEMENT, KEY)).toBeUndefined();
    expect(fleet.events.filter(({ kind }) => kind === 'commit-read')).toEqual([]);
    renameSync(away, fleet.git.path);
  });

  it('takes nothing away that came to the hub meanwhile', async () => {
    await start();
    await fleet.stop();
    renameSync(fleet.git.path, away);
    await fleet.hub.api.create(MANAGED_CLUSTER, cluster('joined'));
    await fleet.serve(options);
    await fleet.event('synced');
    expect(await fleet.hub.api.get(MANAGED_CLUSTER, { namespace: '', name: 'joined' })).toBeDefined();
    renameSync(away, fleet.git.path);
  });
});
