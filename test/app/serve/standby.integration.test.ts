import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callPluginEndpoint } from '../../../src/app/demo/run-demo.ts';
import type { ControllerEvent } from '../../../src/controllers/events/controller-events.ts';
import { RECORDS_NAME, recordsOf } from '../../../src/core/publish/record/compact-record.ts';
import { type RunningController, serveController } from '../../../src/app/serve/serve-controller.ts';
import type { ServeOptions } from '../../../src/app/settings/serve-options.ts';
import { CONFIG_MAP, MANIFEST_WORK } from '@berth/kube/model/kinds';
import { startForge } from '../../../packages/forge/test/fakes/forge-server.ts';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { SteeredLeadership } from '../../fakes/steered-leadership.ts';
import { baseFiles, namespace, placement, retired, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

/** Counts what it writes, and to what. */
class CountingApi extends InterceptedKubeApi {
  readonly writes: string[] = [];
  protected override write<T>(request: () => Promise<T>, right: string): Promise<T> {
    this.writes.push(right);
    return request();
  }
}

const clusters = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
const web = (spec: object) => ({ 'web.yaml': yaml(placement('web', spec)) });
const replicaSet = {
  apiVersion: 'work.open-cluster-management.io/v1alpha1',
  kind: 'ManifestWorkReplicaSet',
  metadata: { name: 'web', namespace: 'team-a' },
  spec: {
    manifestWorkTemplate: {
      workload: {
        manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'd' } }],
      },
    },
    placementRefs: [{ name: 'web' }],
  },
};

describe('a controller that stands by', () => {
  let fleet: ServedFleet;
  let dataDir: string;
  let api: CountingApi;
  let leadership: SteeredLeadership;
  let standby: RunningController;
  let events: ControllerEvent[];

  beforeEach(async () => {
    fleet = await ServedFleet.create();
    dataDir = mkdtempSync(join(tmpdir(), 'berth-standby-'));
    [leadership, api] = [new SteeredLeadership(), new CountingApi(fleet.hub.api)];
  });
  afterEach(async () => {
    await standby.close();
    await fleet.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const lead = (over: Partial<ServeOptions> = {}) => fleet.serve({ embedded: false, ...over });

  async function standBy(over: Partial<ServeOptions> = {}): Promise<void> {
    standby = await serveController({
      api,
      leadership,
      sources: [{ url: fleet.git.path }],
      dataDir,
      clock: fleet.clock,
      log: new SilentLogger(),
      random: Math.random,
      engineVersion: 'test',
      env: process.env,
      pollIntervalMs: 50,
      ...over,
    });
    events = [];
    const seen = events;
    void (async () => {
      for await (const event of standby.events) seen.push(event);
    })();
    await standby.whenReady();
  }

  const listed = (count: number) =>
    fleet.until(async () => ((await fleet.decisions('web')).length === count ? true : undefined));

  it('reads, decides, is ready and answers from what the leader publishes; it writes nothing before it takes over', async () => {
    fleet.git.commit({
      ...baseFiles,
      'namespaces.yaml': yaml(...clusters.map(namespace)),
      'rollout.yaml': yaml(replicaSet),
      ...web({ numberOfClusters: 2 }),
    });
    await lead();
    await listed(2);
    const http = fleet.http();
    await standBy({ http });
    const { url = '' } = standby;
    const answered = async () => {
      const parameters = { placement: 'team-a/web' };
      const answer = await callPluginEndpoint({ url, tokenFile: http.tokenFile ?? '', parameters });
      return (answer as { output: { parameters: { clusterName: string }[] } }).output.parameters.map(
        ({ clusterName }) => clusterName,
      );
    };
    expect(await (await fetch(`${url}/readyz`)).text()).toBe(
      'ok\nstandby: the-other leads (Lease berth-system/berth-fleet)',
    );
    expect(await answered()).toEqual(['c1', 'c2']);

    fleet.git.commit(web({ numberOfClusters: 4 }));
    await listed(4);
    await expect.poll(answered).toEqual(['c1', 'c2', 'c3', 'c4']);
    await fleet.until(() =>
      events.some(({ kind, ...event }) => kind === 'decided' && 'added' in event && event.added.length === 2)
        ? true
        : undefined,
    );
    const status = await fleet.berth('status', '--server', url, '--token-file', http.tokenFile ?? '');
    expect(status).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        'Election: standby, the-other leads (Lease berth-system/berth-fleet)\n',
      ) as string,
    });
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/^berth_leader 0$/m);
    expect(metrics).toContain('berth_lease_holder{lease="berth-system/berth-fleet",holder="the-other"} 1\n');
    expect(api.writes).toEqual([]);

    await fleet.stop();
    fleet.git.commit(web({ numberOfClusters: 6 }));
    leadership.take();
    await listed(6);
    await expect.poll(answered).toHaveLength(6);
    await expect.poll(async () => (await fleet.hub.api.list(MANIFEST_WORK)).items.length).toBe(6);
    expect(await (await fetch(`${url}/readyz`)).text()).toContain('ok\nleading (');
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^berth_leader 1$/m);
  });

  it('follows no commit while it stands by, also when it is asked to, and does when it takes over', async () => {
    fleet.git.commit({ ...baseFiles, ...web({ numberOfClusters: 2 }) });
    await lead();
    await listed(2);
    await fleet.stop();
    await standBy();
    fleet.git.commit(web({ numberOfClusters: 3 }));
    await fleet.until(() =>
      events.some((event) => event.kind === 'commit-read' && event.objects > 0) ? true : undefined,
    );
    standby.reconcile();
    await fleet.advance(500);
    expect(api.writes).toEqual([]);
    leadership.take();
    await listed(3);
  });

  it('goes on counting the removals that the leader made, and knows its releases, from the records on the hub', async () => {
    fleet.git.commit({ ...baseFiles, ...web({}) });
    await lead();
    await listed(6);
    await standBy();
    // A quarter, but always two.
    fleet.git.commit({ 'clusters.yaml': retired(2) });
    await listed(4);
    const recorded = async () =>
      recordsOf(
        ((await fleet.hub.api.get(CONFIG_MAP, { namespace: 'team-a', name: RECORDS_NAME }))?.['data'] ??
          {}) as Record<string, string>,
      ).length;
    await expect.poll(recorded).toBe(2);
    await fleet.stop();
    leadership.take();
    fleet.git.commit({ 'clusters.yaml': retired(4) });
    await fleet.until(() =>
      events.some((event) => event.kind === 'held' && event.reason === 'RemovalBudgetExceeded')
        ? true
        : undefined,
    );
    expect(await fleet.decisions('web')).toHaveLength(4);
    // What it found there others had recorded.
    expect(await recorded()).toBe(2);
  });

  it('writes nothing in a pass that begins while its lease has lapsed, and goes on when it was renewed', async () => {
    fleet.git.commit({ ...baseFiles, ...web({ numberOfClusters: 2 }) });
    await standBy();
    leadership.take();
    await listed(2);
    await fleet.until(() => (events.some(({ kind }) => kind === 'published') ? true : undefined));
    // Its records, too, after what it was about to publish.
    const created = () => api.writes.filter((right) => right === 'create configmaps').length;
    await expect.poll(created).toBe(2);
    leadership.lapse();
    const before = api.writes.length;
    fleet.git.commit(web({ numberOfClusters: 3 }));
    await fleet.advance(500);
    expect(api.writes.slice(before)).toEqual([]);
    leadership.renew();
    await listed(3);
  });

  it('reports no commit to the forge; one that takes over reports the newest', async () => {
    const forge = await startForge(() => ({ status: 201, body: {} }));
    const token = async () => 'secret';
    const target = { provider: 'github', apiUrl: forge.apiUrl, repository: 'team/fleet', token } as const;
    fleet.git.commit({ ...baseFiles, ...web({ numberOfClusters: 1 }) });
    await standBy({ sources: [{ url: fleet.git.path, commitStatus: { target } }] });
    const newest = fleet.git.commit(web({ numberOfClusters: 2 }));
    await fleet.until(() =>
      events.some((event) => event.kind === 'commit-read' && event.commit?.id === newest) ? true : undefined,
    );
    expect(forge.seen).toEqual([]);
    leadership.take();
    await fleet.until(() => (forge.seen.length > 0 ? true : undefined));
    expect(forge.seen.map(({ url }) => url)).toEqual([`/repos/team/fleet/statuses/${newest}`]);
    await forge.close();
  });
});
