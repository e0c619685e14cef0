import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasGiteaModule } from '../peers/gitea.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { asks, GiteaFleet } from './gitea-fleet.ts';

/** What happens around pull requests of a real Gitea: drafts, forks, several at once, lost and repeated deliveries. */
describe.skipIf(!hasPeers('gitea') || !hasGiteaModule())('on a real Gitea', () => {
  let forge: GiteaFleet;
  beforeAll(async () => {
    forge = await GiteaFleet.create({ drafts: false });
  });
  beforeEach(() => forge.begin());
  afterAll(() => forge.close());

  it('a draft is planned when it is one no more', async () => {
    const head = forge.push('draft', asks(2));
    const number = await forge.open('draft', { title: 'WIP: draft' });
    expect(await forge.status(head, 'pending')).toBe(
      'Not planned: it is a draft. Who may write to this repository can comment /berth plan',
    );
    expect(await forge.comments(number)).toEqual([]);
    await forge.edit(number, { title: 'ready' });
    await forge.comment(number, '+1 cluster');
    expect(await forge.status(head, 'success')).toContain('+1 cluster');
    await forge.edit(number, { state: 'closed' });
  });

  it('a fork is planned when somebody who may write asks for it, and that head only', async () => {
    const { gitea } = forge;
    await gitea.call('POST', '/repos/root/fleet/forks', {}, 'mallory').catch((error: unknown) => {
      // Made by the try before.
      if (!String(error).includes('409')) throw error;
    });
    const fork = forge.remote('mallory', 'mallory');
    const head = forge.push('fork', asks(2), fork);
    const number = await forge.open('fork', { account: 'mallory', owner: 'mallory' });
    expect(await forge.status(head, 'pending')).toBe(
      'Not planned: the head is in a fork. Who may write to this repository can comment /berth plan',
    );
    await forge.say(number, '/berth plan', 'mallory');
    const refusal = await forge.comment(number, '`mallory` may not write to this repository');
    await forge.say(number, '/berth plan', 'grace');
    const asked = await forge.comment(number, '+1 cluster');
    expect(asked.body).not.toContain('mallory');
    const answer = await forge.comment(number, '`grace`: Berth plans again');
    await forge.status(head, 'success');
    const next = forge.push('fork', asks(3), fork);
    expect(await forge.status(next, 'pending')).toBe(
      'Not planned: the head is in a fork. Who may write to this repository can comment /berth plan',
    );
    const bodies = (await forge.comments(number)).map(({ body }) => body);
    expect(bodies.toSorted()).toEqual([refusal.body, asked.body, answer.body].toSorted());
    await forge.edit(number, { state: 'closed' });
  });

  it('two at once get a plan each, and that of the second is made again when the first is merged', async () => {
    forge.push('one', asks(2));
    forge.push('two', asks(4));
    const [one, two] = [await forge.open('one'), await forge.open('two')];
    await forge.comment(one, '+1 cluster');
    await forge.comment(two, '+3 clusters');
    forge.push('other', asks(2, 'other'));
    const other = await forge.open('other');
    await forge.comment(other, '+2 clusters');
    await forge.merge(other);
    await forge.comment(other, 'Merged: everything is as this plan said.');
    await forge.comment(two, '+3 clusters');
    await forge.merge(one);
    await forge.comment(one, 'Merged: everything is as this plan said.');
    for (const number of [one, two, other]) expect(await forge.comments(number)).toHaveLength(1);
    await forge.edit(two, { state: 'closed' });
    forge.push('main', { 'other.yaml': undefined });
  });

  it('a branch that is rebased is planned again, on the new base', async () => {
    forge.push('moved', asks(3));
    const number = await forge.open('moved');
    await forge.comment(number, '+2 clusters');
    forge.push('main', asks(2));
    const head = forge.push('moved', asks(3));
    expect(await forge.status(head, 'success')).toContain('+1 cluster');
    expect((await forge.comment(number, '+1 cluster')).body).not.toContain('+2 clusters');
    expect(await forge.comments(number)).toHaveLength(1);
    await forge.edit(number, { state: 'closed' });
  });

  it('deliveries that come twice, and late, change nothing', async () => {
    const seen = forge.deliveries.length;
    forge.push('again', asks(2));
    const number = await forge.open('again');
    await forge.comment(number, '+1 cluster');
    const head = forge.push('again', asks(3));
    await forge.status(head, 'success');
    const [comment] = await forge.comments(number);
    const own = forge.deliveries
      .slice(seen)
      .filter(({ headers }) => headers['x-gitea-event'] === 'pull_request');
    expect(own.length).toBeGreaterThan(0);
    for (const delivery of [...own, ...own].reverse())
      expect(await forge.deliver(delivery)).toBeLessThan(300);
    // A later pull request is through: what they began is over.
    forge.push('after', asks(2));
    const after = await forge.open('after');
    await forge.comment(after, '+1 cluster');
    expect(await forge.comments(number)).toEqual([comment]);
    for (const one of [number, after]) await forge.edit(one, { state: 'closed' });
  });

  it('what happens while the controller is away is caught up when it is back', async () => {
    forge.push('before', asks(2));
    const known = await forge.open('before');
    await forge.comment(known, '+1 cluster');
    await forge.stop();
    const pushed = forge.push('before', asks(3));
    forge.push('meanwhile', asks(4));
    const opened = await forge.open('meanwhile');
    await forge.serve();
    await forge.comment(opened, '+3 clusters');
    await forge.comment(known, '+2 clusters');
    await forge.status(pushed, 'success');
    expect(await forge.comments(known)).toHaveLength(1);
    for (const one of [known, opened]) await forge.edit(one, { state: 'closed' });
  });

  it('a merge while the controller is away is compared when it is back', async () => {
    forge.push('merged', asks(2));
    const number = await forge.open('merged');
    await forge.comment(number, '+1 cluster');
    await forge.stop();
    const commit = await forge.merge(number);
    await forge.serve();
    await forge.comment(number, 'Merged: everything is as this plan said.');
    expect(await forge.status(commit, 'success', 'berth/merged/fleet')).toBe('As the plan said');
  });
});
