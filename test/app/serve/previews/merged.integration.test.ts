import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { placement, retired, yaml } from '../fleet-fixture.ts';
import { PreviewedFleet } from './previewed-fleet.ts';

const web = (count: number) => ({ 'web.yaml': yaml(placement('web', { numberOfClusters: count })) });
const nowhere = {
  predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { region: 'nowhere' } } } }],
};
const MERGED = 'berth/merged/fleet';

describe('merged pull requests', () => {
  let previewed: PreviewedFleet;
  beforeEach(async () => {
    previewed = await PreviewedFleet.create();
    previewed.server.permissions.set('ada', 'write').set('grace', 'write');
  });
  afterEach(() => previewed.close());
  const ownComments = () => previewed.server.comments.filter(({ author }) => author === 'berth');
  const notices = () =>
    ownComments().filter(({ body }) => body.startsWith('<!-- berth:preview:fleet:merged -->'));

  const open = async (number: number, files: Readonly<Record<string, string>>, says: string) => {
    previewed.open(number, files);
    await previewed.changed(number, 'opened');
    await previewed.comment(number, says);
  };
  const merge = async (number: number): Promise<string> => {
    const merged = previewed.merge(number);
    await previewed.changed(number, 'closed');
    return merged;
  };
  const decides = (clusters: string) =>
    previewed.fleet.until(async () =>
      (await previewed.fleet.decisions('web')).join() === clusters ? true : undefined,
    );
  /** Time passes until the comparison is over. */
  const settled = async (merged: string, state: string): Promise<string> => {
    await previewed.fleet.until(async () => {
      await previewed.fleet.advance(20_000);
      return previewed.server.statusOf(merged, MERGED)?.state === state ? true : undefined;
    });
    return previewed.server.statusOf(merged, MERGED)?.description ?? '';
  };

  it('are compared with the plan after the merge', async () => {
    await previewed.serve(web(1));
    previewed.open(7, web(2));
    await previewed.changed(7, 'opened');
    await previewed.comment(7, '+1 cluster');
    const merged = previewed.merge(7);
    await previewed.changed(7, 'closed');
    await previewed.comment(7, 'Merged: everything is as this plan said.');
    expect(await previewed.status(merged, 'success', 'berth/merged/fleet')).toBe('As the plan said');
    expect(ownComments()).toHaveLength(1);
  });

  it.each(['comment', 'status'])(
    'are compared where they are merged while the controller is away, since its %s',
    async (last) => {
      await previewed.serve(web(1));
      const head = previewed.open(7, web(2));
      await previewed.changed(7, 'opened');
      await previewed.comment(7, '+1 cluster');
      if (last === 'status') await previewed.status(head, 'success');
      await previewed.fleet.stop();
      const merged = previewed.merge(7);
      await previewed.restart();
      await previewed.comment(7, 'Merged: everything is as this plan said.');
      expect(await previewed.status(merged, 'success', 'berth/merged/fleet')).toBe('As the plan said');
    },
  );

  it('are compared with the plan where the forge says closed before it says merged', async () => {
    await previewed.serve(web(1));
    previewed.open(7, web(2));
    await previewed.changed(7, 'opened');
    await previewed.comment(7, '+1 cluster');
    const pull = previewed.server.pulls.get(7);
    if (pull === undefined) throw new Error('not open');
    const reads = () => previewed.server.seen.filter(({ url }) => url?.endsWith('/pulls/7') === true).length;
    const before = reads();
    pull.state = 'closed';
    await previewed.changed(7, 'closed');
    await previewed.fleet.until(() => (reads() > before ? true : undefined));
    previewed.merge(7);
    await previewed.fleet.advance(10_000);
    await previewed.comment(7, 'Merged: everything is as this plan said.');
  });

  it('keep their plan where the base holds the head before the forge says merged', async () => {
    await previewed.serve(web(1));
    const head = previewed.open(7, web(2));
    await previewed.changed(7, 'opened');
    const planned = await previewed.comment(7, '+1 cluster');
    await previewed.status(head, 'success');
    previewed.fleet.git.run('merge', '-q', '--ff-only', 'change-7');
    await previewed.fleet.until(async () =>
      (await previewed.fleet.decisions('web')).length === 2 ? true : undefined,
    );
    await previewed.fleet.advance(10_000);
    await previewed.changed(7);
    await previewed.fleet.advance(10_000);
    expect(await previewed.comment(7, '+1 cluster')).toBe(planned);
    const pull = previewed.server.pulls.get(7);
    if (pull !== undefined) pull.merged = head;
    await previewed.changed(7, 'closed');
    expect(await previewed.comment(7, 'Merged: everything is as this plan said.')).toContain('+1 cluster');
  });

  it('with a hold say so in a comment of its own, take an approval there, and are followed up until it is released', async () => {
    await previewed.serve(web(2));
    await previewed.fleet.published('web');
    await open(7, { 'web.yaml': yaml(placement('web', nowhere)) }, 'would be held');
    const merged = await merge(7);
    const notice = await previewed.comment(7, /:merged -->[^]*1 change is held and not applied/);
    expect(notice).toContain('`team-a/web` stays on `c1`, `c2`.**');
    const [, code = ''] = /`\/berth approve ([0-9a-f]{12})`/.exec(notice) ?? [];
    expect(await previewed.status(merged, 'pending', MERGED)).toBe(
      '1 change is held and not applied: team-a/web stays on c1, c2',
    );
    await previewed.say(7, 'grace', '/berth aproove');
    await previewed.comment(7, 'Did you mean `/berth approve`?');
    // It is followed up after a restart, too.
    await previewed.fleet.stop();
    await previewed.restart();
    await previewed.say(7, 'grace', `/berth approve ${code}`);
    await previewed.comment(7, '`grace`: Approved. Berth does this now:');
    await decides('');
    await previewed.fleet.advance(20_000);
    await previewed.comment(7, /:merged -->[^]*released by grace on team/);
    expect(await previewed.status(merged, 'success', MERGED)).toBe('As the plan said');
    await previewed.comment(7, /^<!-- berth:preview:fleet -->[^]*Merged: everything is as this plan said/);
    expect(notices()).toHaveLength(1);
    await previewed.say(7, 'grace', '/berth approve');
    await previewed.comment(7, 'Nothing is held.');
  });

  it('with a hold that another pull request ends name that one', async () => {
    await previewed.serve(web(2));
    await previewed.fleet.published('web');
    await open(7, { 'web.yaml': yaml(placement('web', nowhere)) }, 'would be held');
    const merged = await merge(7);
    await previewed.status(merged, 'pending', MERGED);
    await open(9, { 'web.yaml': yaml(placement('web', { numberOfClusters: 3 })) }, '+1 cluster');
    await merge(9);
    await decides('c1,c2,c3');
    expect(await settled(merged, 'success')).toBe('Nothing is held any more');
    const notice = await previewed.comment(7, /:merged -->[^]*not held any more/);
    expect(notice).toContain(', which was merged later, moves it, too. It is on `c1`, `c2`, `c3`.');
  });

  it('with held deletions say so', async () => {
    const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => placement(name, { numberOfClusters: 1 }));
    await previewed.serve({ 'many.yaml': yaml(...many) });
    await previewed.fleet.published('f');
    await open(7, { 'many.yaml': yaml(...many.slice(0, 1)) }, 'deletions would be held');
    const merged = await merge(7);
    const notice = await previewed.comment(7, /:merged -->[^]*the deletions of source `fleet`/);
    const [, codes = ''] = /`(\/berth approve [0-9a-f ]+)`/.exec(notice) ?? [];
    await previewed.status(merged, 'pending', MERGED);
    await previewed.say(7, 'grace', codes);
    expect(await settled(merged, 'success')).toBe('As the plan said');
    await previewed.comment(7, /:merged -->[^]*released by grace on team/);
  });

  it('are not blamed for a commit right behind them, nor for one later', async () => {
    await previewed.serve(web(1));
    await open(7, web(2), '+1 cluster');
    const merged = previewed.merge(7);
    previewed.fleet.git.commit(web(4), 'Right behind it');
    await previewed.changed(7, 'closed');
    await decides('c1,c2,c3,c4');
    expect(await settled(merged, 'success')).toBe('1 placement moved again, not by this pull request');
    await previewed.comment(7, /^<!-- berth:preview:fleet -->[^]*and not by this pull request\.\*\*/);
    expect(ownComments()).toHaveLength(1);
  });

  it('are not blamed for another one that was merged between their plan and their merge', async () => {
    await previewed.serve(web(4));
    await previewed.fleet.published('web');
    // It moves the placement, because it takes away one of its clusters.
    await open(8, { 'clusters.yaml': retired(1) }, '+1 −1 cluster');
    await open(7, web(5), '+1 cluster');
    await previewed.fleet.stop();
    const other = previewed.merge(8);
    const merged = previewed.merge(7);
    await previewed.restart();
    await decides('c2,c3,c4,c5,c6');
    expect(await settled(merged, 'failure')).toBe(
      'Not as the plan said: 1 placement, not by this pull request',
    );
    expect(await settled(other, 'success')).toBe('1 placement moved again, not by this pull request');
    const notice = await previewed.comment(7, /:merged -->[^]*not by this pull request/);
    expect(notice).toMatch(/8, which was merged between this plan and this merge, moves it, too/);
  });
});
