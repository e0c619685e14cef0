import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ForgeRepository } from '@berth/forge/request/forge-repository';
import { type ForgeResponse, startForge } from '../../../../packages/forge/test/fakes/forge-server.ts';
import { baseFiles, placement, yaml } from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';

const web = (count: number) => ({ 'web.yaml': yaml(placement('web', { numberOfClusters: count })) });
const BROKEN = { 'teams/broken.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: 3\n' };

describe('commit statuses of a served source', () => {
  let fleet: ServedFleet;
  let forge: Awaited<ReturnType<typeof startForge>>;
  let answer: (count: number) => ForgeResponse | undefined;
  beforeEach(async () => {
    answer = () => ({ status: 201, body: {} });
    forge = await startForge((count) => answer(count));
    fleet = await ServedFleet.create();
  });
  afterEach(async () => {
    await fleet.close();
    await forge.close();
  });
  const serve = (provider: ForgeRepository['provider'] = 'github') =>
    fleet.serve({
      sources: [
        {
          url: fleet.git.path,
          commitStatus: {
            target: { provider, apiUrl: forge.apiUrl, repository: 'team/fleet', token: async () => 'secret' },
          },
        },
      ],
    });
  const told = (count: number) => fleet.until(() => (forge.seen.length >= count ? forge.seen : undefined));

  it.each<[ForgeRepository['provider'], (commit: string) => string, string, string]>([
    ['github', (id) => `/repos/team/fleet/statuses/${id}`, 'failure', 'context'],
    ['gitea', (id) => `/repos/team/fleet/statuses/${id}`, 'failure', 'context'],
    ['gitlab', (id) => `/projects/team%2Ffleet/statuses/${id}`, 'failed', 'name'],
  ])(
    '%s hears of the broken file with line and column, and of its repair',
    async (provider, url, failure, context) => {
      const bad = fleet.git.commit({ ...baseFiles, ...web(1), ...BROKEN }, 'Break it');
      await serve(provider);
      await told(1);
      const good = fleet.git.commit({ 'teams/broken.yaml': undefined, ...web(2) }, 'Repair it');
      await told(2);
      expect(forge.seen).toMatchObject([
        {
          method: 'POST',
          url: url(bad),
          body: {
            state: failure,
            description: 'teams/broken.yaml:4:9: metadata.name: got number 3, expected a string',
          },
        },
        {
          url: url(good),
          body: { state: 'success', description: expect.stringMatching(/objects in 3 files/) as string },
        },
      ]);
      for (const { body } of forge.seen) expect(body).toMatchObject({ [context]: 'berth/fleet' });
    },
  );

  it('one commit is reported once, also after a restart', async () => {
    fleet.git.commit({ ...baseFiles, ...web(1) }, 'Good');
    await serve();
    await told(1);
    await fleet.advance(300);
    await fleet.stop();
    await serve();
    await fleet.event('synced');
    await fleet.advance(1_200);
    expect(forge.seen).toHaveLength(1);
  });

  it('a forge that is busy is asked again when it said, and holds up nothing', async () => {
    answer = (count) =>
      count === 1 ? { status: 429, headers: { 'retry-after': '1' } } : { status: 201, body: {} };
    fleet.git.commit({ ...baseFiles, ...web(1) }, 'Good');
    const startedAt = Date.now();
    await serve();
    await fleet.published('web');
    await told(2);
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1_000);
    expect(new Set(forge.seen.map(({ url }) => url)).size).toBe(1);
  });

  it('a forge that never answers holds up nothing', async () => {
    answer = () => undefined;
    fleet.git.commit({ ...baseFiles, ...web(1) }, 'Good');
    await serve();
    await fleet.published('web');
    const after = fleet.events.length;
    fleet.git.commit(web(2), 'More');
    expect((await fleet.published('web', after)).clusters).toHaveLength(2);
  });

  it('a refused token is reported once a commit, and not tried again and again', async () => {
    answer = () => ({ status: 401 });
    fleet.git.commit({ ...baseFiles, ...web(1) }, 'Good');
    await serve();
    await told(1);
    await fleet.event('error', ({ where }) => where === 'commit status of source fleet');
    await fleet.advance(1_500);
    expect(forge.seen).toHaveLength(1);
    fleet.git.commit(web(2), 'Next');
    await told(2);
  });
});
