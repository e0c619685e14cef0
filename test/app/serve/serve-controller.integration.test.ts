import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { ControllerEvent } from '../../../src/controllers/events/controller-events.ts';
import { baseFiles, cluster, placement, retired, yaml } from './fleet-fixture.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { ServedFleet } from './served-fleet.ts';

describe('serveController on the embedded hub', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    ({ hub, git, dataDir, serve, until, published, decisions, read } = fleet);
  });
  afterEach(() => fleet.close());
  let { hub, git, dataDir, serve, until, published, decisions, read } = {} as ServedFleet;

  it('fetches at once when a forge tells of a push with the right signature, and only then', async () => {
    git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', { numberOfClusters: 1 })) }, 'First fleet');
    const secretFile = join(dataDir, 'github-secret');
    writeFileSync(secretFile, 'old secret\nnew secret\n');
    const { url = '' } = await serve({
      pollIntervalMs: 3_600_000,
      http: { host: '127.0.0.1', port: 0, webhookSecretFiles: { github: secretFile } },
    });
    await published('web');
    const second = git.commit({ 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) }, 'Second');
    const body = JSON.stringify({ ref: 'refs/heads/main', repository: { clone_url: git.path } });
    const push = (secret: string, provider = 'github') =>
      fetch(`${url}/webhooks/${provider}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'push',
          'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        },
        body,
      }).then(({ status }) => status);
    expect(await push('a guess')).toBe(401);
    expect(await push('new secret', 'gitlab')).toBe(404);
    expect(fleet.events.some((event) => event.kind === 'commit-read' && event.commit?.id === second)).toBe(
      false,
    );
    expect(await push('new secret')).toBe(202);
    await until(() =>
      fleet.events.find((event) => event.kind === 'published' && event.clusters.length === 2),
    );
  });

  it('answers monitors, and refuses strangers at the API', async () => {
    git.commit(baseFiles, 'First fleet');
    const log = new SilentLogger();
    const controller = await serve({ log, http: { host: '127.0.0.1', port: 0 } });
    await controller.whenReady();
    expect(log.entries).toContainEqual({
      level: 'info',
      message: expect.stringContaining('no token file is set: berth status') as string,
      fields: { hint: expect.stringContaining('--token-file') as string },
    });
    const ask = (path: string) =>
      fetch(`${controller.url}${path}`).then(async (answer) => [answer.status, await answer.text()] as const);
    expect(await ask('/healthz')).toEqual([200, 'ok']);
    expect(await ask('/readyz')).toEqual([200, 'ok']);
    expect((await ask('/metrics'))[1]).toContain('berth_published_placements');
    expect((await ask('/api/v1/status'))[0]).toBe(401);
    expect(await ask('/__proto__')).toEqual([404, '{"message":"nothing is served at GET /__proto__"}']);
  });

  it('brings a commit to the hub: objects, decisions, status, and changes after it', async () => {
    git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) }, 'First fleet');
    await serve();
    expect(await published('web')).toMatchObject({ clusters: ['c1', 'c2'], added: ['c1', 'c2'] });
    expect(await decisions('web')).toEqual(['c1', 'c2']);
    const status = await until(async () => (await read('web')).status);
    expect(status).toMatchObject({
      numberOfSelectedClusters: 2,
      decisionGroups: [
        { decisionGroupIndex: 0, decisionGroupName: '', decisions: ['web-decision-1'], clusterCount: 2 },
      ],
    });
    expect(status.conditions?.map(({ type, status: value }) => `${type}=${value}`).sort()).toEqual([
      'PlacementMisconfigured=False',
      'PlacementSatisfied=True',
    ]);
    expect(fleet.events.find((event) => event.kind === 'commit-read')).toMatchObject({
      commit: { subject: 'First fleet', author: { name: 'Ada' } },
      problems: [],
    });

    const seen = fleet.events.length;
    const tainted = { taints: [{ key: 'drain', value: 'x', effect: 'NoSelect' }] };
    git.commit({
      'c1.yaml': yaml(cluster('c1', tainted)),
      'clusters.yaml': yaml(...[2, 3, 4, 5, 6].map((n) => cluster(`c${n}`))),
    });
    expect(await published('web', seen)).toMatchObject({
      clusters: ['c2', 'c3'],
      added: ['c3'],
      removed: ['c1'],
    });
  });

  it('lists the clusters again when somebody takes a page from its placement', async () => {
    // All clusters: the decision stays as it is, so that nothing else is a reason to look at the placement.
    git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) }, 'First fleet');
    await serve();
    await published('web');
    await until(async () => (await read('web')).status);
    const labels = { 'cluster.open-cluster-management.io/placement': null };
    const page = { namespace: 'team-a', name: 'web-decision-1' };
    await hub.api.mergePatch(PLACEMENT_DECISION, page, { metadata: { labels } });
    expect(await decisions('web')).toEqual([]);
    await until(async () => ((await decisions('web')).length === 6 ? true : undefined));
  });

  it('holds a change beyond the budget, says how to let it through, and a commit that does so releases it', async () => {
    git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    await serve();
    await published('web');
    git.commit({ 'clusters.yaml': retired(4) });
    const held = await until(
      () =>
        fleet.events.find((event) => event.kind === 'held') as
          | (ControllerEvent & { kind: 'held' })
          | undefined,
    );
    expect(held).toMatchObject({ placement: 'team-a/web', reason: 'RemovalBudgetExceeded' });
    const condition = await until(async () =>
      (await read('web')).status?.conditions?.find(({ type }) => type === 'berth.dev/Held'),
    );
    expect(condition).toMatchObject({ status: 'True', reason: 'RemovalBudgetExceeded' });
    expect(condition.message).toContain('4 of 6 clusters would be removed (budget 2): c1, c2, c3, c4.');
    expect(condition.message).toContain(`berth release team-a/web --token ${held.token}`);
    expect(condition.message).toContain('Why: c1, c2, c3, c4 (not in cluster set prod).');
    expect(await decisions('web')).toHaveLength(6);
    const seen = fleet.events.length;
    git.commit({ 'web.yaml': yaml(placement('web', {}, { 'berth.dev/release': held.token })) }, 'Release it');
    expect(await published('web', seen)).toMatchObject({ clusters: ['c5', 'c6'] });
    const after = await until(async () => {
      const found = (await read('web')).status?.conditions?.find(({ type }) => type === 'berth.dev/Held');
      return found?.status === 'False' ? found : undefined;
    });
    expect(after.reason).toBe('Published');
  });

  it('a restart with nothing changed writes nothing', async () => {
    git.commit({
      ...baseFiles,
      'web.yaml': yaml(placement('web'), placement('api', { numberOfClusters: 1 })),
    });
    await (await serve()).whenReady();
    await published('web');
    await published('api');
    await until(async () => ((await read('web')).status === undefined ? undefined : true));
    await until(async () => ((await read('api')).status === undefined ? undefined : true));
    await fleet.stop();
    const before = (await hub.api.list(PLACEMENT)).resourceVersion;
    await (await serve()).whenReady();
    const synced = await until(() => fleet.events.find((event) => event.kind === 'synced'));
    expect(synced).toMatchObject({ applied: 0, pruned: 0 });
    await fleet.advance(300);
    expect((await hub.api.list(PLACEMENT)).resourceVersion).toBe(before);
    expect(fleet.events.filter((event) => event.kind === 'published' || event.kind === 'error')).toEqual([]);
  });

  it('keeps the last good decisions when a file breaks, and goes on with the rest', async () => {
    git.commit({
      ...baseFiles,
      'web.yaml': yaml(placement('web')),
      'api.yaml': yaml(placement('api', { numberOfClusters: 1 })),
    });
    await serve();
    await published('web');
    await published('api');
    git.commit({
      'web.yaml': 'apiVersion: [\n',
      'api.yaml': yaml(placement('api', { numberOfClusters: 3 })),
    });
    const seen = fleet.events.length;
    expect(await published('api', seen)).toMatchObject({ clusters: ['c1', 'c2', 'c3'] });
    const problem = await until(() =>
      fleet.events.slice(seen).find((event) => event.kind === 'commit-read' && event.problems.length > 0),
    );
    expect(problem).toMatchObject({
      problems: expect.arrayContaining([
        expect.objectContaining({
          severity: 'error',
          location: expect.objectContaining({ file: 'web.yaml' }) as unknown,
        }),
      ]) as unknown,
    });
    expect(await decisions('web')).toHaveLength(6);
  });

  it('prunes what leaves Git, within the budget, and keeps what asks to be kept', async () => {
    const kept = placement('kept', {}, { 'berth.dev/prune': 'disabled' });
    const web = placement('web', {}, { 'berth.dev/removal-budget': '100%' });
    git.commit({ ...baseFiles, 'web.yaml': yaml(web), 'kept.yaml': yaml(kept) });
    await serve();
    await published('web');
    await published('kept');
    git.commit({ 'web.yaml': undefined, 'kept.yaml': undefined });
    await until(() => fleet.events.find((event) => event.kind === 'synced' && event.pruned === 1));
    expect(await hub.api.get(PLACEMENT, { namespace: 'team-a', name: 'web' })).toBeUndefined();
    expect(await read('kept')).toBeDefined();
    git.commit({ 'clusters.yaml': undefined });
    const held = await until(() => fleet.events.find((event) => event.kind === 'sync-problem'));
    expect(held).toMatchObject({ message: expect.stringContaining('6 of ') as string });
    expect((await hub.api.list(PLACEMENT_DECISION)).items.length).toBeGreaterThan(0);
  });

  it.each([
    { name: 'an unknown set', spec: { clusterSets: ['prdo'] } },
    {
      name: 'a selector typo',
      spec: {
        predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { regoin: 'eu' } } } }],
      },
    },
    {
      name: 'a CEL typo',
      spec: {
        predicates: [
          { requiredClusterSelector: { celSelector: { celExpressions: ['managedCluster.metdata ==='] } } },
        ],
      },
    },
  ])('keeps what is published when a placement selects nothing any more: $name', async ({ spec }) => {
    git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) });
    await serve();
    await published('web');
    git.commit({ 'web.yaml': yaml(placement('web', spec)) });
    const told = await until(() =>
      fleet.events.find(
        (event) => event.kind === 'held' || (event.kind === 'commit-read' && event.problems.length > 0),
      ),
    );
    expect(told).toBeDefined();
    await fleet.advance(500);
    expect(await decisions('web')).toEqual(['c1', 'c2']);
  });

  it('a placement that cannot be published stops no other and is not tried in a loop', async () => {
    const poison = placement('p'.repeat(70), { numberOfClusters: 1 });
    git.commit({
      ...baseFiles,
      'a.yaml': yaml(poison),
      'web.yaml': yaml(placement('web', { numberOfClusters: 2 })),
    });
    await serve();
    await published('web');
    const failed = () =>
      fleet.events.filter((event) => event.kind === 'error' && event.where.includes('ppp'));
    await until(() => (failed().length > 0 ? true : undefined));
    await fleet.advance(1_500);
    expect(failed().length).toBeLessThanOrEqual(2);
    expect(await decisions('web')).toHaveLength(2);
  });

  it('answers the plugin endpoint, health and status', async () => {
    git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) });
    const tokenFile = join(dataDir, 'tokens');
    const token = 'a-token-of-this-test';
    writeFileSync(tokenFile, token);
    const controller = await serve({ http: { host: '127.0.0.1', port: 0, tokenFile } });
    const url = controller.url ?? '';
    const ask = () =>
      fetch(`${url}/api/v1/getparams.execute`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({
          applicationSetName: 'web',
          input: { parameters: { placement: 'team-a/web' } },
        }),
      });
    await published('web');
    const answer = await until(async () => {
      const response = await ask();
      return response.status === 200
        ? ((await response.json()) as { output: { parameters: { name: string }[] } })
        : undefined;
    });
    expect(answer.output.parameters.map(({ name }) => name)).toEqual(['c1', 'c2']);
    expect(await (await fetch(`${url}/healthz`)).text()).toBe('ok');
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/berth_publications_total 1\n/);
    expect((await fetch(`${url}/api/v1/status`)).status).toBe(401);
    const status = await fetch(`${url}/api/v1/status`, { headers: { authorization: `Bearer ${token}` } });
    expect(await status.json()).toMatchObject({
      ready: true,
      schedule: 'berth',
      placements: [{ placement: 'team-a/web', clusters: 2 }],
    });
  });
});
