import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MANIFEST_WORK, PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { GitFixture } from '../../../packages/git-reader/test/fakes/git-fixture.ts';
import { SteeredClock } from '../../fakes/steered-clock.ts';
import { baseFiles, cluster, placement, yaml } from '../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../app/serve/served-fleet.ts';

const drained = { taints: [{ key: 'drain', value: 'x', effect: 'NoSelect' }] };
/** Six clusters, the first ones drained. */
const drain = (count: number) =>
  yaml(...[1, 2, 3, 4, 5, 6].map((n) => cluster(`c${n}`, n <= count ? drained : {})));

describe('make before break', () => {
  let fleet: ServedFleet;
  afterEach(() => fleet.close());

  const replicaSet = {
    apiVersion: 'work.open-cluster-management.io/v1alpha1',
    kind: 'ManifestWorkReplicaSet',
    metadata: { name: 'web', namespace: 'team-a' },
    spec: {
      placementRefs: [{ name: 'web' }],
      manifestWorkTemplate: {
        workload: {
          manifests: [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'default' } }],
        },
      },
    },
  };
  const web = (annotations: Record<string, string> = {}) => ({
    'web.yaml': yaml(
      placement(
        'web',
        { numberOfClusters: 1 },
        { 'berth.dev/move-policy': 'MakeBeforeBreak', ...annotations },
      ),
      replicaSet,
    ),
  });
  const workOn = (namespace: string): Promise<KubeObject> =>
    fleet.until(async () => (await fleet.hub.api.list(MANIFEST_WORK, { namespace })).items[0]);
  /** What the agent of a cluster would report. */
  async function reportAvailable(namespace: string): Promise<void> {
    const { metadata } = await workOn(namespace);
    const conditions = ['Applied', 'Available'].map((type) => ({
      type,
      status: 'True',
      reason: 'Done',
      message: '',
      observedGeneration: metadata.generation,
      lastTransitionTime: '2026-03-01T12:00:00Z',
    }));
    const key = { namespace, name: metadata.name };
    await fleet.hub.api.mergePatch(MANIFEST_WORK, key, { status: { conditions } }, { subresource: 'status' });
  }

  /** The workload runs on c1, which is then drained: c2 is to take over. */
  async function startHandover(annotations: Record<string, string> = {}): Promise<void> {
    fleet = await ServedFleet.create();
    fleet.git.commit({ ...baseFiles, ...web(annotations) });
    await fleet.serve();
    await fleet.published('web');
    await reportAvailable('c1');
    const seen = fleet.events.length;
    fleet.git.commit({ 'clusters.yaml': drain(1) });
    expect(await fleet.published('web', seen)).toMatchObject({
      clusters: ['c2', 'c1'],
      added: ['c2'],
      removed: [],
    });
  }

  it('lists old and new side by side until the new one’s work reports Available', async () => {
    await startHandover();
    await workOn('c2');
    expect([...(await fleet.decisions('web'))].sort()).toEqual(['c1', 'c2']);
    const seen = fleet.events.length;
    await reportAvailable('c2');
    expect(await fleet.published('web', seen)).toMatchObject({ clusters: ['c2'], removed: ['c1'] });
    expect(await fleet.decisions('web')).toEqual(['c2']);
  });

  it('is held at the deadline; aborted, the new cluster goes; the record tells both', async () => {
    await startHandover({ 'berth.dev/move-deadline': '1s' });
    const held = await fleet.held('web', 'True', 'MoveTimedOut');
    expect(held.message).toContain('Not ready in time: c2.');
    expect([...(await fleet.decisions('web'))].sort()).toEqual(['c1', 'c2']);
    const code = /move-abort: "([0-9a-f]{12})"/.exec(held.message)?.[1] ?? '';
    const seen = fleet.events.length;
    fleet.git.commit(web({ 'berth.dev/move-deadline': '1s', 'berth.dev/move-abort': code }), 'Give up');
    expect(await fleet.published('web', seen)).toMatchObject({ clusters: ['c1'], removed: ['c2'] });
    await fleet.held('web', 'False');
    await fleet.advance(1_500);
    expect(await fleet.decisions('web')).toEqual(['c1']);
  });

  it('finishes at once by a release that names it, though the new one is not ready', async () => {
    await startHandover({ 'berth.dev/move-deadline': '1s' });
    const held = await fleet.held('web', 'True', 'MoveTimedOut');
    const code = /release: "([0-9a-f]{12})"/.exec(held.message)?.[1] ?? '';
    const release = ['release', 'team-a/web', '--token', code, '--as', 'Grace'];
    expect(await fleet.berth(...release, '--kubeconfig', fleet.hub.kubeconfig)).toMatchObject({ code: 0 });
    await fleet.held('web', 'False');
    expect(await fleet.decisions('web')).toEqual(['c2']);
    await fleet.stop();
    const { stdout } = await fleet.berth('history', 'team-a/web', '--data', fleet.dataDir);
    expect(stdout.trim().split('\n').at(-1)).toMatch(
      / 1 +−1 +[0-9a-f]{8} +Grace \(Kubernetes user [a-z:]+, as recorded by the client\) at /,
    );
  });
});

describe('releases and sources', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
  });
  afterEach(() => fleet.close());

  /** The code under which the placement is held now; another one than `not`. */
  const heldCode = (not = ''): Promise<string> =>
    fleet.until(async () => {
      const { message } = await fleet.held('web', 'True', 'RemovalBudgetExceeded');
      const code = /--token ([0-9a-f]{12})/.exec(message)?.[1];
      return code === not ? undefined : code;
    });

  it('by hand and in Git do not get into each other’s way, whichever comes first', async () => {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    await fleet.serve({ budget: { percent: 0, atLeast: 0 }, resyncIntervalMs: 100, http: fleet.http() });
    await fleet.published('web');
    const byHand = async (code: string): Promise<void> => {
      const release = ['release', 'team-a/web', '--token', code, '--as', 'Grace'];
      expect(await fleet.berth(...release, '--kubeconfig', fleet.hub.kubeconfig)).toMatchObject({ code: 0 });
    };
    const listed = (count: number) =>
      fleet.until(async () => ((await fleet.decisions('web')).length === count ? true : undefined));
    fleet.git.commit({ 'clusters.yaml': drain(1) }, 'One');
    const first = await heldCode();
    await byHand(first);
    await listed(5);
    fleet.git.commit({ 'clusters.yaml': drain(2) }, 'Two');
    const second = await heldCode(first);
    fleet.git.commit(
      { 'web.yaml': yaml(placement('web', {}, { 'berth.dev/release': second })) },
      'Release two',
    );
    await listed(4);
    fleet.git.commit({ 'clusters.yaml': drain(3) }, 'Three');
    await byHand(await heldCode(second));
    await listed(3);
    await fleet.held('web', 'False');
    expect(await fleet.status()).toMatchObject({
      code: 0,
      stdout: expect.not.stringContaining('Warning') as string,
    });
    expect(fleet.events.filter(({ kind }) => kind === 'sync-problem')).toEqual([]);
    await fleet.stop();
    const { stdout } = await fleet.berth('history', 'team-a/web', '--data', fleet.dataDir, '-o', 'json');
    const records = JSON.parse(stdout) as { released: { by: string } | null; commit: { subject: string } }[];
    expect(records.map(({ released, commit }) => [released?.by.slice(0, 5), commit.subject])).toEqual([
      [undefined, 'change'],
      ['Grace', 'One'],
      ['Ada', 'Release two'],
      ['Grace', 'Three'],
    ]);
  });

  it('that is in Git and was used does not let the same change through again, also after a restart', async () => {
    const budget = { percent: 0, atLeast: 0 };
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    await fleet.serve({ budget });
    await fleet.published('web');
    const listed = (count: number) =>
      fleet.until(async () => ((await fleet.decisions('web')).length === count ? true : undefined));
    fleet.git.commit({ 'clusters.yaml': drain(1) }, 'Drain');
    const code = await heldCode();
    fleet.git.commit({ 'web.yaml': yaml(placement('web', {}, { 'berth.dev/release': code })) }, 'Release');
    await listed(5);
    fleet.git.commit({ 'clusters.yaml': drain(0) }, 'Back');
    await listed(6);
    await fleet.held('web', 'False');
    await fleet.stop();
    await fleet.serve({ budget });
    fleet.git.commit({ 'clusters.yaml': drain(1) }, 'The same again');
    const again = await heldCode(code);
    expect(again).not.toBe(code);
    expect(await fleet.decisions('web')).toHaveLength(6);
  });

  it('a placement has the commit and the budget of its own source', async () => {
    const other = new GitFixture();
    try {
      fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) }, 'Of the first');
      other.commit({ 'api.yaml': yaml(placement('api')) }, 'Of the second');
      await fleet.serve({
        sources: [
          { name: 'first', url: fleet.git.path },
          { name: 'second', url: other.path, budget: { percent: 0, atLeast: 1 } },
        ],
      });
      await Promise.all([fleet.published('web'), fleet.published('api')]);
      const seen = fleet.events.length;
      fleet.git.commit({ 'clusters.yaml': drain(2) }, 'Two go');
      expect(await fleet.published('web', seen)).toMatchObject({ removed: ['c1', 'c2'] });
      expect((await fleet.held('api', 'True')).message).toContain(
        '2 of 6 clusters would be removed (budget 1)',
      );
      await fleet.stop();
      const { stdout } = await fleet.berth('history', '--data', fleet.dataDir, '-o', 'json');
      const records = JSON.parse(stdout) as { placement: string; commit: { subject: string } }[];
      const told = records.map(({ placement: key, commit }) => `${key} ${commit.subject}`);
      expect([...new Set(told)].sort()).toEqual([
        'team-a/api Of the second',
        'team-a/web Of the first',
        'team-a/web Two go',
      ]);
    } finally {
      other.remove();
    }
  });
});

describe('two schedulers on one hub', () => {
  let fleet: ServedFleet;
  let clock: SteeredClock;
  beforeEach(async () => {
    clock = new SteeredClock();
    fleet = await ServedFleet.create();
  });
  afterEach(() => fleet.close());

  /** Writes a page as OCM's controller would. */
  async function upstreamDecides(...clusters: string[]): Promise<void> {
    const { api } = fleet.hub;
    const key = { namespace: 'team-a', name: 'web-decision-1' };
    const labels = {
      'cluster.open-cluster-management.io/placement': 'web',
      'cluster.open-cluster-management.io/decision-group-index': '0',
      'cluster.open-cluster-management.io/decision-group-name': '',
    };
    const page = {
      apiVersion: 'cluster.open-cluster-management.io/v1beta1',
      kind: 'PlacementDecision',
      metadata: { ...key, labels },
    };
    if ((await api.get(PLACEMENT_DECISION, key)) === undefined) await api.create(PLACEMENT_DECISION, page);
    const decisions = clusters.map((clusterName) => ({ clusterName, reason: '' }));
    const options = { subresource: 'status', fieldManager: 'placement-controller' } as const;
    await api.mergePatch(PLACEMENT_DECISION, key, { status: { decisions } }, options);
  }

  async function endpointSays(url: string): Promise<readonly string[] | undefined> {
    const response = await fetch(`${url}/api/v1/getparams.execute`, {
      method: 'POST',
      headers: { authorization: 'Bearer a-token-of-this-test' },
      body: JSON.stringify({ applicationSetName: 'web', input: { parameters: { placement: 'team-a/web' } } }),
    });
    if (response.status !== 200) return undefined;
    const body = (await response.json()) as { output: { parameters: { name: string }[] } };
    return body.output.parameters.map(({ name }) => name);
  }

  it('schedule: upstream publishes what OCM decided, once it rests, and writes no decision itself', async () => {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    const { url = '' } = await fleet.serve({ schedule: 'upstream', http: fleet.http(), clock });
    await fleet.event('synced');
    await upstreamDecides('c5', 'c6');
    await fleet.until(async () => ((await endpointSays(url))?.join() === 'c5,c6' ? true : undefined));
    // Written cluster by cluster, as OCM does when it moves between objects: nobody sees the gap.
    clock.stop();
    await upstreamDecides('c6');
    expect(await endpointSays(url)).toEqual(['c5', 'c6']);
    await upstreamDecides('c4', 'c6');
    clock.go();
    await fleet.until(async () => ((await endpointSays(url))?.join() === 'c4,c6' ? true : undefined));
    expect(await fleet.decisions('web')).toEqual(['c4', 'c6']);
    const { code, stdout } = await fleet.status();
    expect(stdout).toContain('Placements are decided by: OCM (schedule: upstream)');
    expect(stdout).not.toContain('Warning');
    expect(code).toBe(0);
    const live = await fleet.hub.api.get(PLACEMENT, { namespace: 'team-a', name: 'web' });
    expect(live?.metadata.annotations).not.toHaveProperty('berth.dev/scheduler');
  });

  /** All six clusters are published, and one would go, which is held. */
  async function startHeld(): Promise<string> {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    const { url = '' } = await fleet.serve({
      budget: { percent: 0, atLeast: 0 },
      http: fleet.http(),
      clock,
    });
    await fleet.published('web');
    fleet.git.commit({ 'clusters.yaml': drain(1) });
    await fleet.held('web', 'True', 'RemovalBudgetExceeded');
    return url;
  }

  it('a placement that its owner takes away from Berth is held no more, and published as others write it', async () => {
    const url = await startHeld();
    const keepAway = { 'cluster.open-cluster-management.io/experimental-scheduling-disable': 'true' };
    fleet.git.commit({ 'web.yaml': yaml(placement('web', {}, keepAway)) });
    expect(await fleet.held('web', 'False')).toMatchObject({ reason: 'LeftToOthers' });
    expect((await fleet.status()).code).toBe(0);
    await upstreamDecides('c5', 'c6');
    await fleet.until(async () => ((await endpointSays(url))?.join() === 'c5,c6' ? true : undefined));
    clock.stop();
    await upstreamDecides('c6');
    expect(await endpointSays(url)).toEqual(['c5', 'c6']);
    await upstreamDecides('c4', 'c6');
    clock.go();
    await fleet.until(async () => ((await endpointSays(url))?.join() === 'c4,c6' ? true : undefined));
    // A restart says the same.
    await fleet.stop();
    const { url: again = '' } = await fleet.serve({ http: fleet.http() });
    await fleet.until(async () => ((await endpointSays(again))?.join() === 'c4,c6' ? true : undefined));
  });

  it('schedule: upstream does not tell of a hold that was Berth’s', async () => {
    await startHeld();
    await fleet.stop();
    await fleet.serve({ schedule: 'upstream', http: fleet.http() });
    await fleet.event('ready');
    const { code, stdout } = await fleet.status();
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('RemovalBudgetExceeded')]);
  });

  it('schedule: upstream warns of placements that tell OCM to keep away', async () => {
    const marked = placement('web', {}, { 'berth.dev/scheduler': 'berth' });
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(marked) });
    await fleet.serve({ schedule: 'upstream', http: fleet.http() });
    await fleet.event('synced');
    await fleet.until(async () => {
      const { code, stdout } = await fleet.status();
      return code === 1 && /Warning: .*runs with schedule: upstream: team-a\/web/.test(stdout)
        ? true
        : undefined;
    });
  });

  it('schedule: berth undoes three times what another scheduler writes, then leaves it and says so', async () => {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    const { url = '' } = await fleet.serve({ http: fleet.http() });
    await fleet.published('web');
    expect((await fleet.status()).stdout).not.toContain('Warning');
    for (let round = 0; round < 3; round++) {
      await upstreamDecides(`c${round + 1}`);
      await fleet.until(async () => ((await fleet.decisions('web')).length === 6 ? true : undefined));
    }
    const { code, stdout } = await fleet.status();
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /Warning: another controller keeps writing the PlacementDecisions of team-a\/web: two schedulers run/,
    );
    const live = await fleet.hub.api.get(PLACEMENT, { namespace: 'team-a', name: 'web' });
    expect(live?.metadata.annotations).toMatchObject({ 'berth.dev/scheduler': 'berth' });
    await upstreamDecides('c1');
    await fleet.held('web', 'True', 'SecondWriter');
    await fleet.event('held', ({ reason }) => reason === 'SecondWriter');
    await fleet.advance(60_000);
    expect(await fleet.decisions('web')).toEqual(['c1']);
    expect(await endpointSays(url)).toHaveLength(6);
  });

  it('on a hub that is not embedded, a placement that a person made is not decided', async () => {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    await fleet.serve({ embedded: false });
    await fleet.published('web');
    await fleet.hub.api.create(PLACEMENT, placement('theirs'));
    await fleet.hub.api.create(PLACEMENT, placement('ours', {}, { 'berth.dev/scheduler': 'berth' }));
    await fleet.published('ours');
    expect(await fleet.decisions('theirs')).toEqual([]);
  });

  it('on a hub that is not embedded, what another tool applies from Git is marked as Berth’s', async () => {
    const files = { ...baseFiles, 'web.yaml': yaml(placement('web')) };
    fleet.git.commit(files);
    await fleet.serve();
    await fleet.published('web');
    await fleet.stop();
    await fleet.hub.api.delete(PLACEMENT, { namespace: 'team-a', name: 'web' });
    await fleet.hub.api.create(PLACEMENT, placement('web'));
    await fleet.serve({ embedded: false, sources: [{ url: fleet.git.path, sync: 'observe' }] });
    await fleet.published('web');
    const live = await fleet.hub.api.get(PLACEMENT, { namespace: 'team-a', name: 'web' });
    expect(live?.metadata.annotations).toMatchObject({ 'berth.dev/scheduler': 'berth' });
  });

  it('on a hub that is not embedded, placements from Git tell OCM to keep away from their first moment on', async () => {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) });
    await fleet.serve({ embedded: false });
    await fleet.published('web');
    const live = await fleet.hub.api.get(PLACEMENT, { namespace: 'team-a', name: 'web' });
    expect(live?.metadata.annotations).toMatchObject({
      'cluster.open-cluster-management.io/experimental-scheduling-disable': 'true',
      'berth.dev/scheduler': 'berth',
    });
    const fields = (live?.metadata.managedFields ?? []) as readonly { manager?: string }[];
    const entry = fields.find(({ manager }) => manager === 'berth');
    expect(JSON.stringify(entry)).toContain('experimental-scheduling-disable');
  });
});
