import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/core/preview/plan.ts';
import { baseFiles, cluster, placement, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

/** What the preview of a branch said is what happens when it is merged, or it is held and explained again. */
describe('a preview on a hub', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) }, 'First');
    await fleet.serve({ sources: [{ url: fleet.git.path, ref: { type: 'branch', name: 'main' } }] });
    await fleet.published('web');
  });
  afterEach(() => fleet.close());

  const old = { labels: { 'cluster.open-cluster-management.io/clusterset': 'old' } };
  const retired = (count: number) =>
    yaml(...[1, 2, 3, 4, 5, 6].map((n) => cluster(`c${n}`, n <= count ? old : {})));

  async function plan(): Promise<Plan> {
    const { stdout, stderr } = await fleet.berth(
      ...['plan', '--base', 'main', '--head', 'retire', '--kubeconfig', fleet.hub.kubeconfig, '-o', 'json'],
    );
    expect(stderr).toBe('');
    return JSON.parse(stdout) as Plan;
  }
  const merge = (): void => {
    fleet.git.run('checkout', '-q', 'main');
    fleet.git.run('merge', '-q', '--no-ff', '-m', 'Merge retire', 'retire');
  };

  it('names the token under which the merge is held, so that the pull request itself releases it', async () => {
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'clusters.yaml': retired(4) }, 'Retire four clusters');
    const [planned] = (await plan()).placements;
    expect(planned).toMatchObject({
      name: 'web',
      removed: ['c1', 'c2', 'c3', 'c4'].map((name) => ({ cluster: name })),
      held: { reason: 'RemovalBudgetExceeded' },
    });
    const token = planned?.token ?? '';
    fleet.git.commit(
      { 'web.yaml': yaml(placement('web', {}, { 'berth.dev/release': token })) },
      'It is meant',
    );
    expect((await plan()).placements[0]).toMatchObject({ token, removed: { length: 4 } });
    expect((await plan()).placements[0]?.held).toBeUndefined();
    const mark = fleet.events.length;
    merge();
    expect(await fleet.published('web', mark)).toMatchObject({
      clusters: ['c5', 'c6'],
      removed: ['c1', 'c2', 'c3', 'c4'],
    });
    await fleet.stop();
    const records = readFileSync(join(fleet.dataDir, 'history', 'records.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const merged = fleet.git.run('rev-parse', 'HEAD').trim();
    expect(JSON.parse(records.at(-1) ?? '')).toMatchObject({
      commit: { id: merged, subject: 'Merge retire' },
      released: { token, by: 'Ada' },
    });
    expect(readdirSync(join(fleet.dataDir, 'history', 'worlds')).length).toBeGreaterThan(0);
  });

  it('is held again, under another token, when the world has moved on since', async () => {
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'clusters.yaml': retired(4) }, 'Retire four clusters');
    const token = (await plan()).placements[0]?.token ?? '';
    fleet.git.commit(
      { 'web.yaml': yaml(placement('web', {}, { 'berth.dev/release': token })) },
      'It is meant',
    );
    // Somebody else adds a cluster meanwhile.
    fleet.git.run('checkout', '-q', 'main');
    const mark = fleet.events.length;
    fleet.git.commit({ 'other.yaml': yaml(cluster('c7')) }, 'One more cluster');
    await fleet.published('web', mark);
    merge();
    const condition = await fleet.held('web', 'True', 'RemovalBudgetExceeded');
    expect(condition.message).not.toContain(token);
    expect(await fleet.decisions('web')).toHaveLength(7);
    const again = /--token ([0-9a-f]{12})/.exec(condition.message)?.[1] ?? '';
    fleet.git.commit(
      { 'web.yaml': yaml(placement('web', {}, { 'berth.dev/release': again })) },
      'Still meant',
    );
    await fleet.held('web', 'False');
    expect(await fleet.decisions('web')).toEqual(['c5', 'c6', 'c7']);
  });
});
