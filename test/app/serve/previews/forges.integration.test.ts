import { FORGE_PROVIDERS } from '@berth/forge/request/forge-repository';
import { afterEach, describe, expect, it } from 'vitest';
import { GitHubFake } from '../../../../packages/forge/test/fakes/forges/github-fake.ts';
import { placement, yaml } from '../fleet-fixture.ts';
import { PreviewedFleet } from './previewed-fleet.ts';

const web = (count: number) => ({ 'web.yaml': yaml(placement('web', { numberOfClusters: count })) });
const RULES = '.berth/rules.yaml';
const FEW = 'rules:\n- {name: few, expression: size(plan.added) <= 1, message: One at a time.}\n';

describe('previews at every forge', () => {
  let previewed: PreviewedFleet;
  afterEach(() => previewed.close());
  const ownComments = () => previewed.server.comments.filter(({ author }) => author === 'berth');

  it.each(FORGE_PROVIDERS)(
    '%s: from the first delivery to the comparison after the merge',
    async (provider) => {
      previewed = await PreviewedFleet.create(provider);
      const { server } = previewed;
      await previewed.serve({ ...web(1), [RULES]: FEW });
      const first = previewed.open(7, web(2));
      const opened = server.pullDelivery(7, 'opened', previewed.secret);
      await previewed.deliver(opened);
      expect(await previewed.comment(7, '+1 cluster')).toContain('`team-a/web`');
      await previewed.status(first, 'success');
      expect(await previewed.status(first, 'success', 'berth/rule/fleet/few')).toBe('Kept');
      // The push is reported first, then what was before it, then both once more.
      const second = previewed.open(7, web(3));
      const pushed = server.pullDelivery(7, 'pushed', previewed.secret);
      for (const delivery of [pushed, opened, pushed, opened]) await previewed.deliver(delivery);
      await previewed.comment(7, '+2 clusters');
      await previewed.status(second, 'failure');
      expect(await previewed.status(second, 'failure', 'berth/rule/fleet/few')).toContain('One at a time.');
      server.permissions.set('grace', 'write');
      await previewed.say(7, 'grace', '/berth approve 000000000000');
      await previewed.comment(7, 'is not the approval code of a change');
      const said = server.comments.find(({ author }) => author === 'grace');
      const hasReactions = ['gitea', 'github', 'gitlab'].includes(provider);
      await expect.poll(() => [...(said?.reactions ?? [])]).toEqual(hasReactions ? ['confused'] : []);
      const merged = previewed.merge(7);
      await previewed.changed(7, 'merged');
      await previewed.comment(7, 'Merged: everything is as this plan said.');
      expect(await previewed.status(merged, 'success', 'berth/merged/fleet')).toBe('As the plan said');
      // The plan and the answer.
      expect(ownComments()).toHaveLength(2);
    },
  );

  it('a required status of a rule that is gone comes, also after a restart', async () => {
    previewed = await PreviewedFleet.create('github');
    await previewed.serve({ ...web(1), [RULES]: FEW });
    const before = previewed.open(7, web(2));
    await previewed.changed(7, 'opened');
    await previewed.status(before, 'success', 'berth/rule/fleet/few');
    previewed.fleet.git.commit({ [RULES]: undefined }, 'No rules');
    await previewed.fleet.stop();
    await previewed.restart();
    const after = previewed.open(8, web(3));
    await previewed.changed(8, 'opened');
    const gone = await previewed.status(after, 'success', 'berth/rule/fleet/few');
    expect(gone).toBe('There is no such rule any more');
  });

  it('a status that could not be written is written when the forge is back', async () => {
    previewed = await PreviewedFleet.create('gitlab');
    await previewed.serve(web(1));
    const head = previewed.open(7, web(2));
    let pending = false;
    previewed.server.fault = ({ url, body }) => {
      if (url?.includes('/statuses/') !== true) return undefined;
      if ((body as { readonly state?: string }).state === 'pending') return void (pending = true);
      return { status: 502 };
    };
    await previewed.changed(7, 'opened');
    await previewed.fleet.event('error', ({ where }) => where === 'previews of source fleet');
    expect(pending).toBe(true);
    previewed.server.fault = () => undefined;
    await previewed.fleet.until(async () => {
      await previewed.fleet.advance(1_000);
      return previewed.server.statusOf(head, 'berth/preview/fleet')?.state === 'success' ? true : undefined;
    });
    expect(ownComments()).toHaveLength(1);
  });

  it('a group of the merge queue gets its checks, with what was approved on its pull requests', async () => {
    previewed = await PreviewedFleet.create('github');
    const { server, fleet } = previewed;
    if (!(server instanceof GitHubFake)) throw new Error('expected the fake of GitHub');
    await previewed.serve({ ...web(1), [RULES]: FEW });
    const base = fleet.git.run('rev-parse', 'HEAD').trim();
    const group = previewed.open(7, web(3));
    server.pulls.clear();
    await previewed.deliver(server.mergeGroupDelivery(group, base, previewed.secret));
    expect(await previewed.status(group, 'failure')).toContain('+2 clusters');
    await previewed.status(group, 'failure', 'berth/rule/fleet/few');
    const small = previewed.open(7, web(2));
    server.pulls.clear();
    await previewed.deliver(server.mergeGroupDelivery(small, base, previewed.secret));
    await previewed.status(small, 'success');
    expect(server.comments).toEqual([]);
  });
});
