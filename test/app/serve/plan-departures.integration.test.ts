import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MANAGED_CLUSTER, MANAGED_CLUSTER_SET_BINDING, PLACEMENT } from '@berth/kube/model/kinds';
import type { Plan } from '../../../src/core/preview/plan.ts';
import { baseFiles, binding, cluster, clusterSet, namespace, placement, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

const OTHERS = { fieldManager: 'kubectl-create' };
const DRAIN = { key: 'maintenance', effect: 'NoSelect' };

/** What a plan says of objects that leave Git and stay on the hub is what the controller does. */
describe('a plan of a commit that no longer declares what was there before', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({ ...baseFiles, 'web.yaml': yaml(placement('web')) }, 'First');
    await fleet.serve({ sources: [{ url: fleet.git.path, ref: { type: 'branch', name: 'main' } }] });
    await fleet.published('web');
  });
  afterEach(() => fleet.close());

  async function plan(): Promise<Plan> {
    const flags = ['--kubeconfig', fleet.hub.kubeconfig, '-o', 'json', '--kind', '*'];
    const { stdout, stderr } = await fleet.berth('plan', '--base', 'main', '--head', 'revert', ...flags);
    expect(stderr).toBe('');
    return JSON.parse(stdout) as Plan;
  }

  /** Declares something on main and waits for what it does; then takes it back on a branch. */
  async function declareAndRevert(file: string, text: string, decided: readonly string[]): Promise<Plan> {
    fleet.git.commit({ [file]: text }, 'Declare');
    await expect.poll(() => fleet.decisions('web')).toEqual(decided);
    fleet.git.run('checkout', '-q', '-b', 'revert');
    fleet.git.commit({ [file]: undefined }, 'Take it back');
    return plan();
  }

  const sides = ({ placements: [one] }: Plan) => [one?.before?.clusters, one?.after?.clusters];

  it('a cluster that joined before gets its workloads back', async () => {
    await fleet.hub.api.create(MANAGED_CLUSTER, cluster('c7'), OTHERS);
    const all = ['c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'];
    await expect.poll(() => fleet.decisions('web')).toEqual(all);
    const drain = yaml({ ...cluster('c7'), spec: { taints: [DRAIN] } });
    const planned = await declareAndRevert('c7.yaml', drain, all.slice(0, 6));
    expect(sides(planned)).toEqual([all.slice(0, 6), all]);
    expect(planned.objects).toMatchObject([
      {
        change: 'withdrawn',
        ref: { kind: 'ManagedCluster', name: 'c7' },
        because: 'was on the hub before Git declared it',
        fields: expect.arrayContaining(['spec.taints']) as string[],
      },
    ]);
    expect(planned.deletionsHeld).toEqual([]);
    const text = await fleet.berth(
      'plan',
      '--base',
      'main',
      '--head',
      'revert',
      '--kubeconfig',
      fleet.hub.kubeconfig,
    );
    expect(text.stdout).toContain('~ ManagedCluster c7 (');
    expect(text.stdout).toContain(
      'leaves Git and stays on the hub: it was on the hub before Git declared it',
    );
    const seen = fleet.events.length;
    fleet.git.merge('revert');
    await fleet.event('withdrawn', ({ object }) => object === 'ManagedCluster c7', seen);
    await expect.poll(() => fleet.decisions('web')).toEqual(all);
    // A plan of the same commits afterwards: the hub has it, and no source.
    expect((await plan()).objects).toEqual([]);
  });

  it('a placement of others goes back to what it was', async () => {
    const own = {
      ...placement('own', { numberOfClusters: 2 }),
      metadata: { name: 'own', namespace: 'team-a' },
    };
    await fleet.hub.api.create(PLACEMENT, own, OTHERS);
    await expect.poll(() => fleet.decisions('own')).toHaveLength(2);
    fleet.git.commit(
      {
        'own.yaml': yaml(
          placement(
            'own',
            {
              predicates: [
                { requiredClusterSelector: { labelSelector: { matchLabels: { no: 'cluster' } } } },
              ],
            },
            { 'berth.dev/removal-budget': '100%' },
          ),
        ),
      },
      'Narrow it',
    );
    await fleet.held('own', 'True', 'WouldEmpty');
    fleet.git.run('checkout', '-q', '-b', 'revert');
    fleet.git.commit({ 'own.yaml': undefined }, 'Take it back');
    const planned = await plan();
    expect(planned.objects).toMatchObject([{ change: 'withdrawn', ref: { kind: 'Placement', name: 'own' } }]);
    fleet.git.merge('revert');
    await fleet.held('own', 'False');
    expect(await fleet.decisions('own')).toHaveLength(2);
    expect((await fleet.read('own')).spec).toMatchObject({ numberOfClusters: 2 });
  });

  it('a binding of others stays, and what it selects', async () => {
    const other = { ...binding(), metadata: { name: 'prod', namespace: 'team-b' } };
    fleet.git.commit({ 'team-b.yaml': yaml(namespace('team-b')) }, 'A team');
    const bound = () => fleet.hub.api.get(MANAGED_CLUSTER_SET_BINDING, { namespace: 'team-b', name: 'prod' });
    await expect
      .poll(async () => {
        await fleet.hub.api.create(MANAGED_CLUSTER_SET_BINDING, other, OTHERS).catch(() => undefined);
        return bound();
      })
      .toBeDefined();
    fleet.git.commit({ 'binding.yaml': yaml(other, placement('web', {}, {}, 'team-b')) }, 'Declare');
    await fleet.event('published', ({ placement: name }) => name === 'team-b/web');
    fleet.git.run('checkout', '-q', '-b', 'revert');
    fleet.git.commit({ 'binding.yaml': yaml(placement('web', {}, {}, 'team-b')) }, 'Take it back');
    const planned = await plan();
    expect(planned.placements).toEqual([]);
    expect(planned.objects).toMatchObject([
      { change: 'withdrawn', fields: ['metadata.annotations', 'metadata.labels'] },
    ]);
    const seen = fleet.events.length;
    fleet.git.merge('revert');
    await fleet.event('withdrawn', undefined, seen);
    expect((await bound())?.metadata.deletionTimestamp).toBeUndefined();
  });

  it('without a hub it takes the cluster for one that Git made, and says so', async () => {
    fleet.git.commit({
      'set.yaml': yaml(namespace('team-a'), clusterSet, binding()),
      'c7.yaml': yaml(cluster('c7')),
    });
    fleet.git.run('checkout', '-q', '-b', 'revert');
    fleet.git.commit({ 'c7.yaml': undefined }, 'Take it back');
    const { stdout } = await fleet.berth('plan', '--base', 'main', '--head', 'revert');
    expect(stdout).toContain('- ManagedCluster c7\n');
    expect(stdout).toContain(
      'ManagedCluster c7: a cluster that was on the hub before Git declared it, or whose agent works, is not deleted, and loses only what Git applied. Only a hub knows (--hub).',
    );
  });
});
