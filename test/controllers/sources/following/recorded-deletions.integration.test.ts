import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../../src/adapters/log/pino-logger.ts';
import { logEvent } from '../../../../src/app/serve/log-event.ts';
import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET, NAMESPACE } from '@berth/kube/model/kinds';
import { baseFiles, cluster, placement, replicaSet, yaml } from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';

describe('what the sync deletes', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    for (const n of [1, 2, 3, 4, 5, 6])
      await fleet.hub.api.create(NAMESPACE, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: `c${n}` },
      });
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')), 'works.yaml': yaml(replicaSet) });
  });
  afterEach(() => fleet.close());

  const history = (...args: string[]) =>
    fleet.berth('history', '--deletions', '--data', fleet.dataDir, ...args);

  it('is reported by name with commit and author, and recorded with what it took away', async () => {
    await fleet.serve({ budget: { percent: 100, atLeast: 6 } });
    await expect.poll(async () => (await fleet.hub.api.list(MANIFEST_WORK)).items.length).toBe(6);
    const total = async () => {
      const { items } = await fleet.hub.api.list(MANIFEST_WORK_REPLICA_SET);
      return (items[0]?.['status'] as { summary?: { total?: number } } | undefined)?.summary?.total;
    };
    await expect.poll(total).toBe(6);
    const id = fleet.git.commit({ 'web.yaml': undefined, 'works.yaml': undefined }, 'Retire the web');
    const known = {
      source: 'fleet',
      commit: { id, author: expect.stringMatching(/^.+ <.+@.+>$/) as string, subject: 'Retire the web' },
      released: null,
      deletedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) as string,
    };
    const deleted = await Promise.all([
      fleet.event('deleted', ({ record }) => record.object === 'Placement team-a/web'),
      fleet.event('deleted', ({ record }) => record.object === 'ManifestWorkReplicaSet team-a/web'),
    ]);
    const uid = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
    expect(deleted.map(({ record }) => record)).toEqual([
      { ...known, uid, object: 'Placement team-a/web', took: { clusters: 6 } },
      { ...known, uid, object: 'ManifestWorkReplicaSet team-a/web', took: { works: 6 } },
    ]);
    const lines: string[] = [];
    logEvent(createLogger({ level: 'info', stream: { write: (line) => void lines.push(line) } }), deleted[0]);
    expect(JSON.parse(lines.join(''))).toMatchObject({
      msg: 'object deleted from the hub',
      object: 'Placement team-a/web',
      commit: id,
      author: known.commit.author,
      clusters: 6,
    });

    // After a restart as well, and beside what was published.
    await fleet.stop();
    const { code, stdout } = await history();
    expect(code).toBe(0);
    expect(stdout).toMatch(/Placement team-a\/web +fleet +decision for 6 clusters/);
    expect(stdout).toMatch(/ManifestWorkReplicaSet team-a\/web +fleet +works on 6 clusters/);
    expect(stdout).toContain(id.slice(0, 8));
    expect(JSON.parse((await history('team-a/web', '-o', 'json')).stdout)).toHaveLength(2);
    expect(JSON.parse((await history('team-b/web', '-o', 'json')).stdout)).toEqual([]);
    const all = (await fleet.berth('history', '--data', fleet.dataDir)).stdout;
    expect(all).toContain('team-a/web');
    expect(all).not.toContain('Deleted from the hub');
    const one = (await fleet.berth('history', 'team-a/web', '--data', fleet.dataDir)).stdout;
    expect(one).toMatch(/\nDeleted from the hub:\nDELETED [^]*Placement team-a\/web +fleet +decision for 6 /);
  });

  it('is recorded with the release that let it happen', async () => {
    await fleet.serve();
    await fleet.published('web');
    fleet.git.commit({ 'clusters.yaml': yaml(cluster('c1')) });
    const held = await fleet.event('sync-problem', ({ message }) => message.includes('these stay: '));
    const code = /release: "([0-9a-f]+)"/.exec(held.message)?.[1] ?? '';
    const released = placement('web', {}, { 'berth.dev/release': code });
    fleet.git.commit({ 'web.yaml': yaml(released) }, 'Release them');
    const { record } = await fleet.event('deleted', (event) => event.record.object === 'ManagedCluster c6');
    expect(record).toMatchObject({
      commit: { subject: 'Release them' },
      took: {},
      released: { token: code, by: expect.stringContaining('in commit') as string },
    });
  });
});
