import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MANAGED_CLUSTER_SET } from '@berth/kube/model/kinds';
import type { Problem } from '@berth/runtime/problem/problem';
import { binding, clusterSet, namespace, placement, yaml } from './fleet-fixture.ts';
import { ServedFleet } from './served-fleet.ts';

/** The set `prod` is declared in one repository and used in another one, which declares a set of its own. */
describe('a cluster set of another repository', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.second.commit({ 'sets.yaml': yaml(clusterSet) });
    const own = { ...clusterSet, metadata: { name: 'own' } };
    fleet.git.commit({ 'base.yaml': yaml(namespace('team-a'), own, binding()) });
    const ref = { type: 'branch', name: 'main' } as const;
    await fleet.serve({
      sources: [
        { name: 'sets', url: fleet.second.path, ref },
        { name: 'fleet', url: fleet.git.path, ref },
      ],
    });
    await fleet.until(() => fleet.hub.api.get(MANAGED_CLUSTER_SET, { namespace: '', name: 'prod' }));
  });
  afterEach(() => fleet.close());

  const using = (name: string) => ({ 'web.yaml': yaml(placement('web', { clusterSets: [name] })) });
  const codes = (problems: readonly Problem[]) => problems.map(({ code }) => code);

  it.each([
    { set: 'prod', want: [] },
    { set: 'prob', want: ['placement.unknown-cluster-set'] },
  ])('is known to the controller and to a plan with the hub: $set', async ({ set, want }) => {
    fleet.git.run('checkout', '-q', '-b', 'change');
    fleet.git.commit(using(set));
    const hub = ['--kubeconfig', fleet.hub.kubeconfig];
    const planned = await fleet.berth(
      ...['plan', '--base', 'main', '--head', 'change', '-o', 'json', ...hub],
    );
    const { problems } = JSON.parse(planned.stdout) as { readonly problems: readonly Problem[] };
    expect(codes(problems)).toEqual(want);
    const seen = fleet.events.length;
    fleet.git.merge('change');
    const read = await fleet.event('commit-read', ({ source }) => source === 'fleet', seen);
    expect(codes(read.problems)).toEqual(want);
  });
});
