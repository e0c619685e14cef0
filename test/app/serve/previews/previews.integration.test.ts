import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import { cluster, placement, yaml } from '../fleet-fixture.ts';
import { PreviewedFleet } from './previewed-fleet.ts';

const web = (count: number) => ({ 'web.yaml': yaml(placement('web', { numberOfClusters: count })) });

describe('pull requests of a served source', () => {
  let previewed: PreviewedFleet;
  beforeEach(async () => {
    previewed = await PreviewedFleet.create();
  });
  afterEach(() => previewed.close());
  const ownComments = () => previewed.server.comments.filter(({ author }) => author === 'berth');

  it('get a plan in one comment and a status, which follow every push', async () => {
    await previewed.serve(web(1));
    const first = previewed.open(7, web(2));
    await previewed.changed(7, 'opened');
    expect(await previewed.comment(7, '+1 cluster')).toContain('`team-a/web`');
    expect(await previewed.status(first, 'success')).toContain('+1 cluster');
    const second = previewed.open(7, web(3));
    await previewed.changed(7);
    await previewed.comment(7, '+2 clusters');
    await previewed.status(second, 'success');
    expect(ownComments()).toHaveLength(1);
  });

  it('are caught up at the start and survive a restart without a second comment', async () => {
    previewed.fleet.git.commit({}, 'Empty');
    const head = previewed.open(7, web(2));
    await previewed.serve(web(1));
    await previewed.planned(head);
    const asked = (): number => previewed.server.seen.filter(({ method }) => method !== 'GET').length;
    const before = asked();
    await previewed.fleet.stop();
    await previewed.restart();
    await previewed.changed(7);
    await previewed.fleet.advance(2_000);
    expect(asked()).toBe(before);
    expect(ownComments()).toHaveLength(1);
  });

  it('say what is wrong with a change that cannot be planned', async () => {
    await previewed.serve(web(1));
    const head = previewed.open(7, web(2));
    previewed.fleet.git.commit(web(3), 'Meanwhile');
    await previewed.changed(7, 'opened');
    expect(await previewed.comment(7, 'No plan')).toContain('both changed web.yaml');
    await previewed.status(head, 'failure');
    const broken = previewed.open(8, { 'web.yaml': 'apiVersion: v1\nkind: [' });
    await previewed.changed(8, 'opened');
    await previewed.comment(8, /error.* in the manifests/);
    await previewed.status(broken, 'failure');
  });

  it('are planned again when the base moves', async () => {
    await previewed.serve(web(1));
    previewed.open(7, { 'db.yaml': yaml(placement('db', { numberOfClusters: 1 })) });
    await previewed.changed(7, 'opened');
    await previewed.comment(7, 'team-a/db');
    const tip = previewed.fleet.git.commit(web(2), 'Meanwhile');
    await previewed.comment(7, tip.slice(0, 12));
  });

  it('are planned again when the hub changes in a way that changes the plan', async () => {
    await previewed.serve(web(1));
    const head = previewed.open(7, web(2));
    await previewed.changed(7, 'opened');
    expect(await previewed.comment(7, '+1 cluster')).toContain('`c2`');
    await previewed.status(head, 'success');
    const { api } = previewed.fleet.hub;
    const writes = (): number => previewed.server.seen.filter(({ method }) => method !== 'GET').length;
    const before = writes();
    const change = (name: string, patch: object) =>
      api.mergePatch(MANAGED_CLUSTER, { namespace: '', name }, patch);
    // Another state, and the same plan.
    await change('c6', { metadata: { labels: { note: 'unread' } } });
    await previewed.fleet.advance(120_000);
    expect(writes()).toBe(before);
    await change('c2', { spec: { taints: [{ key: 'drain', effect: 'NoSelect' }] } });
    await previewed.fleet.advance(120_000);
    const again = await previewed.comment(7, '`c3`');
    expect(again).not.toContain('`c2` joins');
    // The status did not come and go: only its last text was written again.
    expect(previewed.server.statuses.filter(({ state }) => state === 'pending')).toHaveLength(1);
    expect(ownComments()).toHaveLength(1);
  });

  it('are not needed by a gate, which says what is published', async () => {
    await previewed.serve({ ...web(1), 'db.yaml': yaml(placement('db', { numberOfClusters: 9 })) });
    await previewed.fleet.published('web');
    await previewed.fleet.published('db');
    const gate = async (path: string, token = 'a-token-of-this-test') => {
      const response = await previewed.get(`/v1/gates/placements/${path}`, {
        authorization: `Bearer ${token}`,
      });
      return { status: response.status, ...((await response.json()) as object) };
    };
    const open = { status: 200, placement: 'team-a/web', open: true, reasons: [] };
    await expect.poll(() => gate('team-a/web')).toEqual(open);
    const closed = {
      open: false,
      reasons: [{ reason: 'NotAllDecisionsScheduled', message: expect.any(String) as string }],
    };
    await expect.poll(() => gate('team-a/db')).toMatchObject({ status: 200, ...closed });
    expect(await gate('team-a/db?fail')).toMatchObject({ status: 409, ...closed });
    expect(await gate('team-a/web?fail')).toMatchObject({ status: 200 });
    expect(await gate('team-a/none')).toMatchObject({ status: 404 });
    expect((await gate('team-a/web', 'wrong')).status).toBe(401);
  });

  it.each([
    { ofSource: undefined, ofController: undefined, asks: true },
    { ofSource: undefined, ofController: false, asks: false },
    { ofSource: false, ofController: true, asks: false },
    { ofSource: true, ofController: false, asks: true },
  ])('ask the hub what it would hold, if the settings do not forbid it: %o', async ({ asks, ...dryRuns }) => {
    await previewed.serve(web(1), {}, dryRuns);
    previewed.open(7, web(2));
    await previewed.changed(7, 'opened');
    const text = await previewed.comment(7, '+1 cluster');
    expect(text.includes('The hub is not asked')).toBe(!asks);
  });

  it('hold up nothing when the forge fails, and get their plan when it is back', async () => {
    await previewed.serve(web(1));
    previewed.server.fault = ({ url }) => (url?.includes('/pulls') ? { status: 502 } : undefined);
    previewed.open(7, web(2));
    await previewed.changed(7, 'opened');
    await previewed.fleet.event('error', ({ where }) => where === 'previews of source fleet');
    previewed.fleet.git.commit({ 'c9.yaml': yaml(cluster('c9')), ...web(3) }, 'Goes on');
    await previewed.fleet.published('web');
    previewed.server.fault = () => undefined;
    await previewed.fleet.until(async () => {
      await previewed.fleet.advance(1_000);
      return ownComments()[0];
    });
  });

  it('have a report for who has its link or a token, and for nobody else', async () => {
    await previewed.serve(web(1));
    previewed.open(7, web(2));
    await previewed.changed(7, 'opened');
    const text = await previewed.comment(7, 'full report');
    const [, link = ''] = /\(https:\/\/berth\.example(\/previews\/[^)]+html[^)]+)\)/.exec(text) ?? [];
    const page = await previewed.get(link);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await page.text()).toContain('team-a/web');
    const picture = await previewed.get(link.replace(/\?.*/, '').replace('html', 'svg'), {
      authorization: 'Bearer a-token-of-this-test',
    });
    expect(picture.headers.get('content-type')).toContain('svg');
    for (const other of [
      link.replace('/7.html', '/8.html'),
      link.replace('7.html', '7.svg'),
      link.replace(/expires=\d+/, 'expires=99999999999'),
      link.replace(/signature=.*/, ''),
      '/previews/fleet/..%2F..%2Flink-key',
    ])
      expect((await previewed.get(other)).status, other).toBeGreaterThanOrEqual(401);
    previewed.fleet.clock.skip(9 * 86_400_000);
    expect((await previewed.get(link)).status).toBe(401);
  });
});
