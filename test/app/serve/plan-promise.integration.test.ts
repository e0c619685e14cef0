import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { MANAGED_CLUSTER, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { Plan } from '../../../src/core/preview/plan.ts';
import {
  baseFiles,
  binding,
  cluster,
  clusterSet,
  namespace,
  outside,
  placement,
  replicaSet,
  retired,
  yaml,
} from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

/** As the controllers of these tests apply them. */
const EVERY_KIND = ['--kind', '*'];

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

  const works = async (): Promise<readonly string[]> =>
    (await fleet.hub.api.list(MANIFEST_WORK)).items
      .map(({ metadata }) => metadata.namespace ?? '')
      .toSorted();

  async function plan(): Promise<Plan> {
    const flags = ['--kubeconfig', fleet.hub.kubeconfig, '-o', 'json', ...EVERY_KIND];
    const { stdout, stderr } = await fleet.berth('plan', '--base', 'main', '--head', 'retire', ...flags);
    expect(stderr).toBe('');
    return JSON.parse(stdout) as Plan;
  }

  it('names the code under which the merge is held, so that the pull request itself releases it', async () => {
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'clusters.yaml': retired(4) }, 'Retire four clusters');
    const [planned] = (await plan()).placements;
    expect(planned).toMatchObject({
      name: 'web',
      removed: ['c1', 'c2', 'c3', 'c4'].map((name) => ({ cluster: name })),
      held: { reason: 'RemovalBudgetExceeded' },
    });
    const code = planned?.token ?? '';
    fleet.git.commit(
      { 'web.yaml': yaml(placement('web', {}, { 'berth.dev/release': code })) },
      'It is meant',
    );
    expect((await plan()).placements[0]).toMatchObject({ token: code, removed: { length: 4 } });
    expect((await plan()).placements[0]?.held).toBeUndefined();
    const seen = fleet.events.length;
    fleet.git.merge('retire');
    expect(await fleet.published('web', seen)).toMatchObject({
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
      released: { token: code, by: 'Ada' },
    });
    expect(readdirSync(join(fleet.dataDir, 'history', 'worlds')).length).toBeGreaterThan(0);
  });

  it('is held again, under another code, when the snapshot has moved on since', async () => {
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'clusters.yaml': retired(4) }, 'Retire four clusters');
    const code = (await plan()).placements[0]?.token ?? '';
    fleet.git.commit(
      { 'web.yaml': yaml(placement('web', {}, { 'berth.dev/release': code })) },
      'It is meant',
    );
    // Somebody else adds a cluster meanwhile.
    fleet.git.run('checkout', '-q', 'main');
    const seen = fleet.events.length;
    fleet.git.commit({ 'other.yaml': yaml(cluster('c7')) }, 'One more cluster');
    await fleet.published('web', seen);
    fleet.git.merge('retire');
    const condition = await fleet.held('web', 'True', 'RemovalBudgetExceeded');
    expect(condition.message).not.toContain(code);
    expect(await fleet.decisions('web')).toHaveLength(7);
    const again = /--token ([0-9a-f]{12})/.exec(condition.message)?.[1] ?? '';
    fleet.git.commit(
      { 'web.yaml': yaml(placement('web', {}, { 'berth.dev/release': again })) },
      'Still meant',
    );
    await fleet.held('web', 'False');
    expect(await fleet.decisions('web')).toEqual(['c5', 'c6', 'c7']);
  });

  it('weighs deletions by what a placement says that comes back while its own deletion is held', async () => {
    fleet.git.commit(
      { 'web.yaml': yaml(placement('web', {}, { 'berth.dev/removal-budget': '1' })) },
      'Careful',
    );
    await expect.poll(async () => (await fleet.read('web')).metadata.annotations).toBeDefined();
    fleet.git.commit({ 'web.yaml': undefined }, 'Web leaves');
    await fleet.event('sync-problem', ({ message }) => message.includes('Placement team-a/web'));
    fleet.git.run('checkout', '-q', '-b', 'retire');
    const stays = ['c3', 'c4', 'c5', 'c6'].map((name) => cluster(name));
    fleet.git.commit(
      { 'web.yaml': yaml(placement('web')), 'clusters.yaml': yaml(...stays) },
      'Two clusters are gone',
    );
    expect((await plan()).deletionsHeld).toEqual([]);
    const seen = fleet.events.length;
    fleet.git.merge('retire');
    expect(await fleet.published('web', seen)).toMatchObject({ removed: ['c1', 'c2'] });
  });

  it('names the code of deletions too, so that one pull request may take clusters away altogether', async () => {
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'clusters.yaml': yaml(cluster('c1'), cluster('c2')) }, 'Four clusters are gone');
    const planned = await plan();
    const [deletions] = planned.deletionsHeld;
    expect(deletions).toMatchObject({
      source: 'fleet',
      message: expect.stringContaining('4 of 10 objects left Git (budget 2)') as string,
    });
    const text = await fleet.berth('plan', '--base', 'main', '--head', 'retire');
    expect(text.stdout).toContain(`! source fleet: 4 of 10 objects left Git`);
    expect(text.stdout).toContain('- ManagedCluster c3 (held)\n');
    expect(planned.objects.filter(({ held }) => held)).toHaveLength(4);
    const annotations = { 'berth.dev/release': deletions?.token ?? '' };
    const team = yaml(
      { ...namespace('team-a'), metadata: { name: 'team-a', annotations } },
      clusterSet,
      binding(),
    );
    // While the clusters are held nothing moves, so the first plan has no code for that.
    expect(planned.placements).toEqual([]);
    fleet.git.commit({ 'set.yaml': team }, 'The deletion is meant');
    const released = await plan();
    expect(released.deletionsHeld).toEqual([]);
    expect(released.objects.filter(({ held }) => held)).toEqual([]);
    const [moved] = released.placements;
    expect(moved).toMatchObject({ removed: { length: 4 }, held: { reason: 'RemovalBudgetExceeded' } });
    const web = yaml(placement('web', {}, { 'berth.dev/release': moved?.token ?? '' }));
    fleet.git.commit({ 'web.yaml': web }, 'All of it is meant');
    expect((await plan()).placements[0]?.held).toBeUndefined();
    const seen = fleet.events.length;
    fleet.git.merge('retire');
    expect(await fleet.published('web', seen)).toMatchObject({ removed: ['c3', 'c4', 'c5', 'c6'] });
    expect(await fleet.event('synced', ({ pruned }) => pruned > 0, seen)).toMatchObject({
      pruned: 4,
      released: { token: deletions?.token },
    });
    expect(fleet.events.slice(seen).filter(({ kind }) => kind === 'held' || kind === 'sync-problem')).toEqual(
      [],
    );
  });

  it('names the works that a placement takes away when it comes back to a replica set that left Git', async () => {
    const budget = { 'berth.dev/removal-budget': '100%' };
    fleet.git.commit(
      { 'web.yaml': yaml(placement('web', {}, budget)), 'works.yaml': yaml(replicaSet) },
      'Works',
    );
    await expect.poll(works).toHaveLength(6);
    // Its works stay, because the reference may be a typo.
    fleet.git.commit({ 'web.yaml': undefined }, 'Web leaves');
    await fleet.event('synced', ({ pruned }) => pruned === 1);
    fleet.git.commit({ 'works.yaml': undefined }, 'Its works leave');
    await fleet.event('sync-problem', ({ message }) => message.includes('takes away 6 of 6 works'));
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'web.yaml': yaml(placement('web', { numberOfClusters: 2 })) }, 'Web comes back');
    const planned = await plan();
    expect(planned.workloads).toMatchObject([
      { name: 'web', change: 'moved', added: [], removed: ['c3', 'c4', 'c5', 'c6'] },
    ]);
    fleet.git.merge('retire');
    await expect.poll(works).toEqual(['c1', 'c2']);
  });

  const settings = (...numbers: number[]) => ({
    'settings.yaml': yaml(
      ...numbers.map((n) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `s${n}`, namespace: 'team-a' },
      })),
    ),
  });
  const applied = (count: number, after: number) =>
    fleet.event('synced', (event) => event.applied === count, after);

  it('counts what was deleted shortly before, as the controller does', async () => {
    let seen = fleet.events.length;
    fleet.git.commit(settings(1, 2, 3, 4), 'Settings');
    await applied(4, seen);
    fleet.git.commit(settings(3, 4), 'Fewer settings');
    await fleet.event('synced', ({ pruned }) => pruned === 2, seen);
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'settings.yaml': undefined }, 'No settings');
    const planned = await plan();
    const [deletions] = planned.deletionsHeld;
    expect(deletions?.message).toContain(
      '2 of 12 objects left Git, after 2 that were deleted in the 10 minutes before (budget 3)',
    );
    const offline = await fleet.berth(
      ...['plan', '--base', 'main', '--head', 'retire', '-o', 'json', ...EVERY_KIND],
    );
    expect(JSON.parse(offline.stdout)).toMatchObject({
      deletionsHeld: [],
      notEvaluated: expect.arrayContaining([
        'Earlier deletions and releases of source fleet count as well: only a hub knows (--hub).',
      ]) as string[],
    });
    seen = fleet.events.length;
    fleet.git.merge('retire');
    const held = await fleet.event('sync-problem', ({ message }) => message.includes('left Git'), seen);
    expect(held.message).toBe(deletions?.message);
    // It is held by now: what the next merge deletes is more than that merge says.
    fleet.git.run('checkout', '-q', '-B', 'retire');
    fleet.git.commit({ 'web.yaml': undefined }, 'No placement');
    const [joined] = (await plan()).deletionsHeld;
    expect(joined?.message).toContain('ConfigMap team-a/s3, ConfigMap team-a/s4, Placement team-a/web');
    seen = fleet.events.length;
    fleet.git.merge('retire');
    const both = await fleet.event('sync-problem', ({ message }) => message.includes('team-a/web'), seen);
    expect(both.message).toContain(`--token ${joined?.token}`);
  });

  it('knows which release of deletions was used already', async () => {
    const all = settings(1, 2, 3, 4, 5);
    let seen = fleet.events.length;
    fleet.git.commit(all, 'Settings');
    await applied(5, seen);
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'settings.yaml': undefined }, 'No settings');
    const [first] = (await plan()).deletionsHeld;
    fleet.git.merge('retire');
    await fleet.event('sync-problem', ({ message }) => message.includes('left Git'), seen);
    const code = first?.token ?? '';
    await fleet.berth(
      ...['release', '--source', 'fleet', '--kubeconfig', fleet.hub.kubeconfig, '--token', code],
    );
    await fleet.event('synced', ({ pruned }) => pruned === 5, seen);
    seen = fleet.events.length;
    fleet.git.commit(all, 'Settings again');
    await applied(5, seen);
    fleet.git.run('checkout', '-q', '-B', 'retire');
    fleet.git.commit({ 'settings.yaml': undefined }, 'No settings again');
    const [second] = (await plan()).deletionsHeld;
    expect(second?.token).not.toBe(code);
    seen = fleet.events.length;
    fleet.git.merge('retire');
    const held = await fleet.event('sync-problem', ({ message }) => message.includes('left Git'), seen);
    expect(held.message).toBe(second?.message);
  });

  it('names the same code for objects that name no namespace, of Kubernetes’ kinds and of those that Git defines', async () => {
    const gadgets = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'gadgets.example.org' },
      spec: {
        group: 'example.org',
        scope: 'Namespaced',
        names: { kind: 'Gadget', plural: 'gadgets' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    };
    const named = (apiVersion: string, kind: string, name: string) => ({
      apiVersion,
      kind,
      metadata: { name },
    });
    const unplaced = [1, 2, 3].map((n) => named('v1', 'ConfigMap', `settings-${n}`));
    const gadget = named('example.org/v1', 'Gadget', 'one');
    const role = named('rbac.authorization.k8s.io/v1', 'ClusterRole', 'viewer');
    const start = fleet.events.length;
    fleet.git.commit(
      { 'crd.yaml': yaml(gadgets), 'apps.yaml': yaml(...unplaced, { ...role, rules: [] }, gadget) },
      'Apps',
    );
    const follows = fleet.until(async () => {
      const applied = fleet.events
        .slice(start)
        .flatMap((event) => (event.kind === 'synced' ? event.applied : []));
      return applied.reduce((sum, count) => sum + count, 0) >= 6 ? true : undefined;
    });
    await follows;
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'apps.yaml': undefined }, 'No apps');
    const [deletions] = (await plan()).deletionsHeld;
    expect(deletions?.message).toContain('ConfigMap default/settings-1');
    expect(deletions?.message).toContain('Gadget default/one');
    expect(deletions?.message).toContain('ClusterRole viewer');
    expect(deletions?.message).not.toContain('has namespaces');
    const seen = fleet.events.length;
    fleet.git.merge('retire');
    const held = await fleet.event('sync-problem', ({ message }) => message.includes('left Git'), seen);
    expect(held.message).toContain(`--token ${deletions?.token}`);
  });

  it('says so where nobody here knows whether a kind has namespaces', async () => {
    const widgets = [1, 2, 3, 4].map((n) => ({
      apiVersion: 'example.org/v1',
      kind: 'Widget',
      metadata: { name: `w${n}` },
    }));
    fleet.git.commit({ 'widgets.yaml': yaml(...widgets) }, 'Widgets of somebody else’s definition');
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'widgets.yaml': undefined }, 'No widgets');
    const [deletions] = (await plan()).deletionsHeld;
    expect(deletions?.message).toContain('another one if Widget has namespaces');
  });

  it('a change within the budget is held where it is not the one that the commit was approved with', async () => {
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'clusters.yaml': retired(1) }, 'Retire one cluster');
    const text = await fleet.berth(
      'plan',
      '--base',
      'main',
      '--head',
      'retire',
      '--kubeconfig',
      fleet.hub.kubeconfig,
    );
    const [, approval = ''] = /berth\.dev\/plan: "(team-a\/web=[0-9a-f]{12})"/.exec(text.stdout) ?? [];
    expect((await plan()).placements[0]?.held).toBeUndefined();
    const approved = (annotations: Record<string, string>) => {
      const [first, ...rest] = retired(1).split('---\n');
      const object = parse(first ?? '') as { metadata: object };
      return [yaml({ ...object, metadata: { ...object.metadata, annotations } }), ...rest].join('---\n');
    };
    fleet.git.commit({ 'clusters.yaml': approved({ 'berth.dev/plan': approval }) }, 'As the plan shows it');
    // Somebody else takes another cluster out meanwhile: both together are within the budget.
    fleet.git.run('checkout', '-q', 'main');
    let seen = fleet.events.length;
    const moved = retired(0).split('---\n');
    fleet.git.commit(
      { 'clusters.yaml': [...moved.slice(0, 5), yaml(cluster('c6', outside))].join('---\n') },
      'Another one',
    );
    await fleet.published('web', seen);
    fleet.git.merge('retire');
    const condition = await fleet.held('web', 'True', 'DiffersFromPlan');
    const merged = fleet.git.run('rev-parse', 'HEAD').trim();
    expect(condition.message).toContain(
      `that commit ${merged.slice(0, 12)} was approved with (${approval.slice(-12)})`,
    );
    expect(condition.message).toContain('1 of 5 clusters would be removed: c1.');
    expect(await fleet.decisions('web')).toEqual(['c1', 'c2', 'c3', 'c4', 'c5']);

    // A restart does not let it through, nor does time.
    await fleet.stop();
    await fleet.serve({ sources: [{ url: fleet.git.path, ref: { type: 'branch', name: 'main' } }] });
    await fleet.event('held', ({ reason }) => reason === 'DiffersFromPlan');
    expect(await fleet.decisions('web')).toHaveLength(5);

    seen = fleet.events.length;
    const [, code = ''] = /--token ([0-9a-f]{12})/.exec(condition.message) ?? [];
    const files = { 'web.yaml': yaml(placement('web', {}, { 'berth.dev/plan': code })) };
    fleet.git.commit(files, 'Still meant');
    expect(await fleet.published('web', seen)).toMatchObject({ removed: ['c1'] });
    await fleet.held('web', 'False');
  });

  it('publishes the change that was approved, without a hold in between', async () => {
    fleet.git.run('checkout', '-q', '-b', 'retire');
    fleet.git.commit({ 'clusters.yaml': retired(2) }, 'Retire two clusters');
    const code = (await plan()).placements[0]?.token ?? '';
    const files = { 'web.yaml': yaml(placement('web', {}, { 'berth.dev/plan': code })) };
    fleet.git.commit(files, 'As the plan shows it');
    const seen = fleet.events.length;
    fleet.git.merge('retire');
    expect(await fleet.published('web', seen)).toMatchObject({ removed: ['c1', 'c2'] });
    expect(fleet.events.some(({ kind }) => kind === 'held')).toBe(false);
    // It is used up: later changes have other reasons, and their own budget.
    const later = fleet.events.length;
    await fleet.hub.api.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name: 'c3' },
      { spec: { taints: [{ key: 'x', effect: 'NoSelect' }] } },
    );
    await fleet.event('held', ({ reason }) => reason === 'RemovalBudgetExceeded', later);
  });
});
