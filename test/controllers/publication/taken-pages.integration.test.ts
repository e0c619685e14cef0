import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TransientError } from '@berth/runtime/errors';
import { PLACEMENT, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ServeOptions } from '../../../src/app/settings/serve-options.ts';
import { InterceptedKubeApi } from '@berth/test-kit/intercepted-kube-api';
import { baseFiles, cluster, placement, yaml } from '../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../app/serve/served-fleet.ts';

const drained = { taints: [{ key: 'drain', value: 'x', effect: 'NoSelect' }] };
const drain = (...numbers: number[]) => ({
  'clusters.yaml': yaml(
    ...[1, 2, 3, 4, 5, 6].map((n) => cluster(`c${n}`, numbers.includes(n) ? drained : {})),
  ),
});
/** Two groups of three, so two pages. */
const inGroups = { decisionStrategy: { groupStrategy: { clustersPerDecisionGroup: 3 } } };
const ALL = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'];
const budget = { percent: 0, atLeast: 2 };

/** A hub that is busy for the next writes of pages. */
class HubThatIsBusy extends InterceptedKubeApi {
  failures = 0;

  protected async write<T>(request: () => Promise<T>, right: string): Promise<T> {
    if (!right.includes('placementdecisions') || this.failures === 0) return request();
    this.failures -= 1;
    // Every other write is done all the same: its answer is lost.
    if (this.failures % 2 === 1) await request();
    throw new TransientError('busy', { code: 'kube.serviceunavailable', subject: 'hub' });
  }
}

describe('somebody takes from what is published', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
  });
  afterEach(() => fleet.close());

  const keyOf = (page: number) => ({ namespace: 'team-a', name: `web-decision-${page}` });
  const pages = async (): Promise<Record<string, readonly string[]>> => {
    const { items } = await fleet.hub.api.list(PLACEMENT_DECISION, { namespace: 'team-a' });
    return Object.fromEntries(items.map((item) => [item.metadata.name, clustersOf(item)]));
  };
  const listed = async () =>
    Object.values(await pages())
      .flat()
      .sort();
  const clustersOf = (page: KubeObject): readonly string[] =>
    ((page['status'] as { decisions?: { clusterName: string }[] } | undefined)?.decisions ?? []).map(
      ({ clusterName }) => clusterName,
    );
  const deletePage = async (page: number): Promise<void> => {
    expect(await fleet.hub.api.delete(PLACEMENT_DECISION, keyOf(page))).toBe(true);
  };
  const putBack = (want: Record<string, readonly string[]>) =>
    fleet.until(async () => (JSON.stringify(await pages()) === JSON.stringify(want) ? true : undefined));
  const codeOf = ({ message }: { readonly message?: string | undefined }) =>
    /--token ([0-9a-f]{12})/.exec(message ?? '')?.[1];

  /**
   * All six are published on two pages, three would go, which is held.
   * @returns the condition
   */
  async function startHeld(spec: object = inGroups, over: Partial<ServeOptions> = {}) {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', spec)) });
    await fleet.serve({ budget, ...over });
    await fleet.published('web');
    fleet.git.commit(drain(1, 2, 4));
    return fleet.held('web', 'True', 'RemovalBudgetExceeded');
  }
  const whole = { 'web-decision-1': ['c1', 'c2', 'c3'], 'web-decision-2': ['c4', 'c5', 'c6'] };

  it.each([
    { name: 'deletes a page', take: () => deletePage(1) },
    {
      name: 'deletes all of them',
      take: async () => {
        await deletePage(1);
        await deletePage(2);
      },
    },
    {
      name: 'takes clusters out of one, and puts another one in',
      take: async () => {
        const decisions = ['c9', 'c3'].map((clusterName) => ({ clusterName, reason: '' }));
        const options = { subresource: 'status', fieldManager: 'kubectl-edit' } as const;
        await fleet.hub.api.mergePatch(PLACEMENT_DECISION, keyOf(1), { status: { decisions } }, options);
      },
    },
    {
      name: 'takes its labels away',
      take: async () => {
        const labels = { 'cluster.open-cluster-management.io/decision-group-index': null };
        const options = { fieldManager: 'kubectl-edit' };
        await fleet.hub.api.mergePatch(PLACEMENT_DECISION, keyOf(2), { metadata: { labels } }, options);
      },
    },
  ])('while a result is held: who $name decides nothing', async ({ take }) => {
    const before = await startHeld();
    const seen = fleet.events.length;
    await take();
    await putBack(whole);
    // What is judged then is judged against what was published, and named by the same code.
    await fleet.advance(300);
    expect(await pages()).toEqual(whole);
    expect(await fleet.held('web', 'True')).toEqual(before);
    expect(fleet.events.slice(seen).filter(({ kind }) => kind === 'published')).toEqual([]);
    expect((await fleet.read('web')).status).toMatchObject({
      numberOfSelectedClusters: 6,
      decisionGroups: [{ decisions: ['web-decision-1'] }, { decisions: ['web-decision-2'] }],
    });
    const { items } = await fleet.hub.api.list(PLACEMENT_DECISION, { namespace: 'team-a' });
    const indexes = items.map(
      ({ metadata }) => metadata.labels?.['cluster.open-cluster-management.io/decision-group-index'],
    );
    expect(indexes).toEqual(['0', '1']);
  });

  it('while a result is held and no controller runs: the next one puts it back', async () => {
    const before = await startHeld();
    await fleet.stop();
    await deletePage(1);
    await fleet.serve({ budget });
    await putBack(whole);
    await fleet.event('ready');
    expect(await fleet.held('web', 'True')).toEqual(before);
    await fleet.stop();
    // Nothing was published: there is nothing to record.
    const { stdout } = await fleet.berth('history', 'team-a/web', '--data', fleet.dataDir, '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject([{ added: ALL, removed: [] }]);
  });

  it('while a result is held and the hub is busy: it is put back when that is over', async () => {
    const api = new HubThatIsBusy(fleet.hub.api);
    const before = await startHeld(inGroups, { api });
    api.failures = 5;
    await deletePage(1);
    await fleet.until(async () => (api.failures === 0 ? true : undefined));
    await putBack(whole);
    expect(await fleet.held('web', 'True')).toEqual(before);
    const told = fleet.events.filter((event) => event.kind === 'published' && event.removed.length > 0);
    expect(told).toEqual([]);
  });

  it('while no controller runs, and only from a page: it is found there again', async () => {
    const before = await startHeld();
    await fleet.stop();
    const decisions = [{ clusterName: 'c2', reason: '' }];
    const options = { subresource: 'status', fieldManager: 'kubectl-edit' } as const;
    await fleet.hub.api.mergePatch(PLACEMENT_DECISION, keyOf(1), { status: { decisions } }, options);
    await fleet.serve({ budget });
    await fleet.until(async () => ((await pages())['web-decision-1']?.length === 3 ? true : undefined));
    expect(Object.keys(await pages())).toEqual(Object.keys(whole));
    expect(await fleet.held('web', 'True')).toEqual(before);
  });

  it('while no controller runs: what goes by the next commit is counted from what was published', async () => {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', inGroups)) });
    await fleet.serve({ budget });
    await fleet.published('web');
    await fleet.stop();
    await deletePage(1);
    fleet.git.commit(drain(1, 2, 4));
    await fleet.serve({ budget });
    const { message } = await fleet.held('web', 'True', 'RemovalBudgetExceeded');
    expect(message).toContain('3 of 6 clusters would be removed');
    await putBack(whole);
  });

  it('a controller without a past takes what it finds for what was published', async () => {
    await startHeld();
    await fleet.stop();
    await deletePage(1);
    const dataDir = mkdtempSync(join(tmpdir(), 'berth-new-'));
    try {
      await fleet.serve({ budget, dataDir });
      // One of three, which is within the budget.
      await fleet.held('web', 'False');
      expect(await listed()).toEqual(['c3', 'c5', 'c6']);
      await fleet.stop();
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });

  it('with nothing held: it is there again, and what goes meanwhile counts', async () => {
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web', inGroups)) });
    await fleet.serve({ budget });
    await fleet.published('web');
    await deletePage(1);
    await putBack(whole);
    expect(fleet.events.filter(({ kind }) => kind === 'held')).toEqual([]);
  });

  it('a release lets the change through that was held before', async () => {
    const code = codeOf(await startHeld()) ?? '';
    await deletePage(2);
    await putBack(whole);
    fleet.git.commit({ 'web.yaml': yaml(placement('web', inGroups, { 'berth.dev/release': code })) });
    await fleet.held('web', 'False');
    expect(await listed()).toEqual(['c3', 'c5', 'c6']);
  });

  it('a handover under way lists old and new again', async () => {
    const moving = placement('web', { numberOfClusters: 1 }, { 'berth.dev/move-policy': 'MakeBeforeBreak' });
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(moving) });
    await fleet.serve({ budget });
    await fleet.published('web');
    fleet.git.commit(drain(1));
    const both = { 'web-decision-1': ['c2', 'c1'] };
    await putBack(both);
    // The pages are there before the event is sent.
    await fleet.event('published', ({ added }) => added.includes('c2'));
    const seen = fleet.events.length;
    await deletePage(1);
    await putBack(both);
    await fleet.advance(300);
    expect(await pages()).toEqual(both);
    const told = fleet.events.slice(seen).filter(({ kind }) => kind === 'published' || kind === 'held');
    expect(told).toMatchObject([{ kind: 'published', added: [], removed: [] }]);
  });

  it('a placement that was left to others in between has the past that they gave it', async () => {
    await startHeld();
    const keepAway = { 'cluster.open-cluster-management.io/experimental-scheduling-disable': 'true' };
    fleet.git.commit({ 'web.yaml': yaml(placement('web', inGroups, keepAway)) });
    await fleet.held('web', 'False', 'LeftToOthers');
    await fleet.hub.api.delete(PLACEMENT_DECISION, keyOf(1));
    fleet.git.commit({ 'web.yaml': yaml(placement('web', inGroups)) });
    // One of three would go, which is within the budget.
    await fleet.until(async () => {
      return (await listed()).join() === 'c3,c5,c6' ? true : undefined;
    });
    await fleet.held('web', 'False');
  });

  it('a placement that somebody deletes comes back with its pages and its hold', async () => {
    const before = await startHeld();
    const key = { namespace: 'team-a', name: 'web' };
    const { uid } = (await fleet.read('web')).metadata;
    const seen = fleet.events.length;
    await fleet.hub.api.delete(PLACEMENT, key);
    await fleet.until(async () => {
      const now = await fleet.hub.api.get(PLACEMENT, key);
      return now !== undefined && now.metadata.uid !== uid ? true : undefined;
    });
    const held = await fleet.held('web', 'True', 'RemovalBudgetExceeded');
    expect(codeOf(held)).toBe(codeOf(before));
    expect(await pages()).toEqual(whole);
    expect(fleet.events.slice(seen).filter(({ kind }) => kind === 'published')).toEqual([]);
  });

  /** On c1 and c2 because they were free at first; by now others are there, so that it would go elsewhere if it had not been there. */
  async function startSteady(over: Partial<ServeOptions> = {}) {
    const configurations = [
      { scoreCoordinate: { builtIn: 'Steady' }, weight: 3 },
      { scoreCoordinate: { builtIn: 'Balance' }, weight: 1 },
    ];
    const steady = { numberOfClusters: 2, prioritizerPolicy: { mode: 'Exact', configurations } };
    const matchLabels = { ring: 'a' };
    const onFirst = { predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels } } }] };
    const clusters = (...gone: number[]) =>
      yaml(
        ...[1, 2, 3, 4, 5, 6].map((n) =>
          cluster(`c${n}`, { labels: { ring: n < 3 ? 'a' : 'b' }, ...(gone.includes(n) && drained) }),
        ),
      );
    fleet.git.commit({
      ...baseFiles,
      'clusters.yaml': clusters(),
      'web.yaml': yaml(placement('web', steady)),
    });
    await fleet.serve({ budget, ...over });
    await fleet.published('web');
    fleet.git.commit({ 'api.yaml': yaml(placement('api', onFirst), placement('batch', onFirst)) });
    await Promise.all([fleet.published('api'), fleet.published('batch')]);
    expect(await fleet.decisions('web')).toEqual(['c1', 'c2']);
    return clusters;
  }

  it('a decision that prefers where it was does not move because it is no longer known where it was', async () => {
    await startSteady();
    const seen = fleet.events.length;
    await deletePage(1);
    await fleet.until(async () => ((await fleet.decisions('web')).length === 2 ? true : undefined));
    await fleet.advance(500);
    expect(await fleet.decisions('web')).toEqual(['c1', 'c2']);
    const moves = fleet.events
      .slice(seen)
      .filter((event) => event.kind === 'published' && event.removed.length > 0);
    expect(moves).toEqual([]);
  });

  it('nor after a restart', async () => {
    await startSteady();
    await fleet.stop();
    await deletePage(1);
    await fleet.serve({ budget });
    await fleet.event('ready');
    await fleet.advance(500);
    expect(await fleet.decisions('web')).toEqual(['c1', 'c2']);
  });

  it('nor is another change held for a moment', async () => {
    const clusters = await startSteady({ budget: { percent: 0, atLeast: 0 } });
    fleet.git.commit({ 'clusters.yaml': clusters(1) });
    const before = await fleet.held('web', 'True', 'RemovalBudgetExceeded');
    await deletePage(1);
    await putBack({
      'api-decision-1': ['c1', 'c2'],
      'batch-decision-1': ['c1', 'c2'],
      'web-decision-1': ['c1', 'c2'],
    });
    await fleet.advance(500);
    expect(await fleet.held('web', 'True')).toEqual(before);
    const told = fleet.events.filter((event) => event.kind === 'held' && event.placement === 'team-a/web');
    expect(told).toHaveLength(1);
    expect(fleet.events.filter((event) => event.kind === 'published' && event.removed.length > 0)).toEqual(
      [],
    );
  });
});
