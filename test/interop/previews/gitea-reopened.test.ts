import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasGiteaModule } from '../peers/gitea.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { asks, GiteaFleet } from './gitea-fleet.ts';

/** Pull requests of a real Gitea that are closed, and what happens when they are opened again. */
describe.skipIf(!hasPeers('gitea') || !hasGiteaModule())('a closed pull request on a real Gitea', () => {
  let forge: GiteaFleet;
  beforeAll(async () => {
    forge = await GiteaFleet.create();
  });
  beforeEach(() => forge.begin());
  afterAll(() => forge.close());

  const close = (number: number) => forge.edit(number, { state: 'closed' });
  const reopen = (number: number) => forge.edit(number, { state: 'open' });
  /** Its only comment is the plan of this head. Closes it. */
  const isPlanned = async (number: number, head: string, verdict: string): Promise<void> => {
    await forge.comment(number, verdict);
    await forge.status(head, 'success');
    expect(await forge.comments(number)).toHaveLength(1);
    await close(number);
  };
  /** A later pull request has its comment: what was begun before is over. */
  const afterAnother = async (): Promise<void> => {
    forge.push('later', asks(2, 'later'));
    const later = await forge.open('later');
    await forge.comment(later, '+2 clusters');
    await close(later);
  };

  it('gets no comment when it is closed while its first plan is made, and gets one when it is opened again', async () => {
    const release = forge.holdPlans();
    const head = forge.push('early', asks(2));
    const number = await forge.open('early');
    expect(await forge.status(head, 'pending')).toBe('Planning what this would move');
    await close(number);
    await forge.delivered('closed', number);
    release();
    await forge.described(head, 'Not planned: it was closed');
    await afterAnother();
    expect(await forge.comments(number)).toEqual([]);
    await reopen(number);
    await forge.comment(number, '+1 cluster');
    expect(await forge.status(head, 'success')).toContain('+1 cluster');
    await close(number);
  });

  it('keeps its one comment when it is closed while it is planned again', async () => {
    forge.push('replanned', asks(2));
    const number = await forge.open('replanned');
    await forge.comment(number, '+1 cluster');
    const release = forge.holdPlans();
    const head = forge.push('replanned', asks(3));
    expect(await forge.status(head, 'pending')).toBe('Planning what this would move');
    await close(number);
    await forge.delivered('closed', number);
    release();
    await forge.described(head, 'Not planned: it was closed');
    await afterAnother();
    expect((await forge.comments(number)).map(({ body }) => body)).toEqual([
      expect.stringContaining('+1 cluster'),
    ]);
    await reopen(number);
    await forge.comment(number, '+2 clusters');
    await forge.status(head, 'success');
    expect(await forge.comments(number)).toHaveLength(1);
    await close(number);
  });

  it('is planned at its new head when it was pushed to while it was closed', async () => {
    const first = forge.push('pushed', asks(2));
    const number = await forge.open('pushed');
    await forge.status(first, 'success');
    await close(number);
    await forge.delivered('closed', number);
    const second = forge.push('pushed', asks(3));
    await reopen(number);
    await forge.comment(number, '+2 clusters');
    expect(await forge.status(second, 'success')).toContain('+2 clusters');
    expect(await forge.comments(number)).toHaveLength(1);
    await close(number);
  });

  it('is planned on the new base when the base moved while it was closed', async () => {
    const head = forge.push('behind', asks(3));
    const number = await forge.open('behind');
    expect(await forge.status(head, 'success')).toContain('+2 clusters');
    await close(number);
    await forge.delivered('closed', number);
    const base = forge.push('main', asks(2, 'beside'));
    await forge.fleet.until(async () =>
      (await forge.fleet.decisions('beside')).length === 2 ? true : undefined,
    );
    await reopen(number);
    const { body } = await forge.comment(number, `on base \`${base.slice(0, 12)}\``);
    expect(body).toContain('+2 clusters');
    expect(body).toMatch(/- [0-9a-f]{12} has moved on since [0-9a-f]{12} branched off at/);
    expect(await forge.comments(number)).toHaveLength(1);
    await close(number);
    forge.push('main', { 'beside.yaml': undefined });
  });

  it('is compared with its plan when it is opened again and merged at once', async () => {
    forge.push('at-once', asks(2));
    const number = await forge.open('at-once');
    await forge.comment(number, '+1 cluster');
    await close(number);
    await forge.delivered('closed', number);
    await reopen(number);
    const merged = await forge.merge(number);
    await forge.comment(number, 'Merged: everything is as this plan said.');
    expect(await forge.status(merged, 'success', 'berth/merged/fleet')).toBe('As the plan said');
    expect(await forge.comments(number)).toHaveLength(1);
  });

  it('is not taken for merged when its commits are pushed to the base', async () => {
    const head = forge.push('by-hand', asks(2));
    const number = await forge.open('by-hand');
    const { body } = await forge.comment(number, '+1 cluster');
    await forge.status(head, 'success');
    await close(number);
    await forge.delivered('closed', number);
    const { git } = forge.fleet;
    git.run('push', '-q', 'forge', `${head}:refs/heads/main`);
    await forge.fleet.until(async () =>
      (await forge.fleet.decisions('web')).length === 2 ? true : undefined,
    );
    await afterAnother();
    expect((await forge.comments(number)).map((comment) => comment.body)).toEqual([body]);
  });

  it('is planned when it is opened again while the controller is away', async () => {
    forge.push('away', asks(2));
    const number = await forge.open('away');
    await forge.comment(number, '+1 cluster');
    await close(number);
    await forge.delivered('closed', number);
    await forge.stop();
    const head = forge.push('away', asks(4));
    await reopen(number);
    await forge.serve();
    await isPlanned(number, head, '+3 clusters');
  });

  it('is planned when it was closed and opened again while the controller was away', async () => {
    forge.push('both', asks(2));
    const number = await forge.open('both');
    await forge.comment(number, '+1 cluster');
    await forge.stop();
    await close(number);
    forge.push('main', asks(2, 'beside'));
    const head = forge.push('both', asks(3));
    await reopen(number);
    await forge.serve();
    await isPlanned(number, head, '+2 clusters');
    forge.push('main', { 'beside.yaml': undefined });
  });

  it('that was closed while the controller was away and planning is planned when it is opened again', async () => {
    const release = forge.holdPlans();
    const head = forge.push('stopped', asks(2));
    const number = await forge.open('stopped');
    await forge.status(head, 'pending');
    const stopped = forge.stop();
    release();
    await stopped;
    await close(number);
    await forge.serve();
    await forge.described(head, 'Not planned: it was closed');
    expect(await forge.comments(number)).toEqual([]);
    await reopen(number);
    await forge.comment(number, '+1 cluster');
    await forge.status(head, 'success');
    await close(number);
  });
});
