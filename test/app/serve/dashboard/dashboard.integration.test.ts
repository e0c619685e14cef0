import { waitingText } from '../../../../src/core/preview/plan-text.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  baseFiles,
  binding,
  cluster,
  clusterSet,
  namespace,
  outside,
  placement,
  yaml,
} from '../fleet-fixture.ts';
import { ServedFleet } from '../served-fleet.ts';
import { adminToken, askDashboard, tenantToken } from './dashboard-client.ts';

describe('the JSON of the dashboard', () => {
  let fleet: ServedFleet;
  let url: string | undefined;
  let admin: string;
  let tenant: string;
  beforeAll(async () => {
    fleet = await ServedFleet.create();
    const { prioritizerPolicy } = { prioritizerPolicy: { mode: 'Additive' } };
    fleet.git.commit({
      ...baseFiles,
      'set.yaml': yaml(namespace('team-a'), namespace('team-b'), clusterSet, binding()),
      'more.yaml': yaml(
        cluster('old1', outside),
        cluster('c7', { taints: [{ key: 'broken', effect: 'NoSelect' }] }),
      ),
      'web.yaml': yaml(placement('web', { numberOfClusters: 2, prioritizerPolicy })),
      'other.yaml': yaml(placement('other', {}, {}, 'team-b')),
    });
    ({ url } = await fleet.serve({ http: fleet.http() }));
    await fleet.published('web');
    admin = adminToken(fleet.hub.kubeconfig);
    tenant = await tenantToken(fleet.hub.api, 'team-a');
  });
  afterAll(() => fleet.close());
  const ask = async (path: string, token: string) => askDashboard(url, `/ui/api${path}`, { token });

  it('has every cluster with its set and state, and every placement', async () => {
    const { json } = await ask('/fleet', admin);
    expect(json.clusters.map(([name]: [string]) => name)).toEqual([
      'c1',
      'c2',
      'c3',
      'c4',
      'c5',
      'c6',
      'c7',
      'old1',
    ]);
    expect(json.clusters[6]).toEqual(['c7', 0, -1, 'unknown']);
    expect(json.sets).toEqual(['prod']);
    expect(json.placements).toMatchObject([
      { namespace: 'team-a', name: 'web', clusters: 2, wanted: 2, held: '', problem: '' },
      { namespace: 'team-b', name: 'other' },
    ]);
  });

  it('shows a tenant his placements and the clusters that they can select', async () => {
    const { json } = await ask('/fleet', tenant);
    expect(json.placements.map(({ name }: { name: string }) => name)).toEqual(['web']);
    expect(json.clusters.map(([name]: [string]) => name)).not.toContain('old1');
    expect((await ask('/placements/team-b/other', tenant)).status).toBe(404);
    expect((await ask('/placements/team-b/other/history', tenant)).status).toBe(404);
    expect((await ask('/placements/team-b/other/causes', tenant)).status).toBe(404);
    expect((await ask('/clusters/old1', tenant)).status).toBe(404);
    expect((await ask('/clusters/c1', tenant)).json.details).toBeUndefined();
    const { json: page, text } = await ask('/placements/team-a/web', tenant);
    expect(page.table.refused.flatMap(({ gate }: { gate: string }) => gate)).toEqual([
      'cluster sets',
      'taints',
    ]);
    expect(text).not.toContain('old1');
  });

  it('explains a placement with the table of the report, and a cluster that it does not select', async () => {
    const { json } = await ask('/placements/team-a/web', admin);
    expect(json).toMatchObject({ published: ['c1', 'c2'], table: { selectedCount: 2, clusterCount: 8 } });
    const { json: pair } = await ask('/placements/team-a/web/clusters/c7', admin);
    expect(pair).toMatchObject({ selected: false });
    expect(pair.lines.join('\n')).toContain('broken');
  });

  it('tells the history of a placement, and why its clusters moved', async () => {
    const before = fleet.events.length;
    fleet.git.commit({
      'clusters.yaml': yaml(
        ...[1, 3, 4, 5, 6].map((n) => cluster(`c${n}`)),
        cluster('c2', { taints: [{ key: 'drain', effect: 'NoSelect' }] }),
      ),
    });
    await fleet.published('web', before);
    await fleet.until(async () => {
      const { json } = await ask('/placements/team-a/web/history', admin);
      return json?.records?.length >= 2 ? json : undefined;
    });
    const { json } = await ask('/placements/team-a/web/history', admin);
    expect(json.records[0]).toMatchObject({ removed: { names: ['c2'] }, added: { names: ['c3'] } });
    const { json: causes } = await ask('/placements/team-a/web/causes', admin);
    expect(causes[json.records[0].hash].lost).toMatchObject([
      { cluster: 'c2', causes: ['ManagedCluster c2'] },
    ]);
    const { json: story } = await ask('/story', admin);
    expect(story.steps).toContainEqual(
      expect.objectContaining({ step: 'decision-moved', placement: 'team-a/web' }),
    );
  });

  it.each([
    ['drain=c1', ['c1'], ['c4']],
    ['lose=c1', ['c1'], ['c4']],
  ])('answers what %s would move', async (query, removed, added) => {
    const { json } = await ask(`/change?${query}`, admin);
    const [plan] = json.outcome.plan.placements.filter(({ name }: { name: string }) => name === 'web');
    const names = (moves: { cluster: string }[]): string[] => moves.map((move) => move.cluster);
    expect({ removed: names(plan.removed), added: names(plan.added) }).toEqual({ removed, added });
    const { json: own } = await ask(`/change?${query}`, tenant);
    expect(own.outcome.plan.placements.map(({ name }: { name: string }) => name)).toEqual(['web']);
    expect(JSON.stringify(own)).not.toContain('old1');
  });

  it('adds clusters, and says what is wrong with a question', async () => {
    const { json } = await ask('/change?add=2&like=c1', admin);
    const [other] = json.outcome.plan.whatIf;
    expect(other).toBe('add c1-new1, like c1');
    expect(await ask('/change?drain=nobody', admin)).toMatchObject({ status: 400 });
    expect(await ask('/change?add=0', admin)).toMatchObject({ status: 400 });
    expect(await ask('/change?pr=x', admin)).toMatchObject({ status: 400 });
    expect(await ask('/change', admin)).toMatchObject({ status: 400 });
    expect(await ask('/change?pr=12', admin)).toMatchObject({ status: 404 });
  });

  it('says over one stream that something changed', async () => {
    const stop = new AbortController();
    const response = await fetch(`${url}/ui/events`, {
      headers: { authorization: `Bearer ${admin}` },
      signal: stop.signal,
    });
    const reader = response.body!.getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    const first = await next();
    expect(first).toMatch(/^event: changed\ndata: \d+\n\n$/);
    fleet.git.commit({ 'late.yaml': yaml(placement('late', { numberOfClusters: 1 })) });
    await fleet.published('late');
    fleet.clock.skip(1_500);
    expect(await next()).not.toBe(first);
    stop.abort();
  });

  it('leaves out of a question what waits already, and says that it does', async () => {
    fleet.git.commit({ 'late.yaml': yaml(placement('late', { clusterSets: ['none'] })) });
    await fleet.held('late', 'True', 'WouldEmpty');
    await fleet.until(async () => {
      const { json } = await ask('/change?drain=c5', admin);
      return json.outcome.plan.waiting.length > 0 ? json : undefined;
    });
    const { json } = await ask('/change?drain=c5', admin);
    expect(json.outcome.plan.summary.held).toBe(0);
    expect(waitingText(json.outcome.plan)).toBe(
      'Waiting already: 1 hold (team-a/late: 1 → 0 clusters, WouldEmpty). Nothing about it changes.',
    );
  });
});
