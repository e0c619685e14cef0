import { FORGE_PROVIDERS } from '@berth/forge/request/forge-repository';
import { afterEach, describe, expect, it } from 'vitest';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import { cluster, placement, replicaSet, retired, yaml } from '../fleet-fixture.ts';
import { PreviewedFleet } from './previewed-fleet.ts';

const web = (spec: object) => ({ 'web.yaml': yaml(placement('web', spec)) });
const nowhere = {
  predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { region: 'nowhere' } } } }],
};
const app = (tag: string, replicas: number) => {
  const deployment = {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'shop', namespace: 'default' } },
    spec: { replicas, template: { spec: { containers: [{ name: 'shop', image: `shop:${tag}` }] } } },
  };
  const manifestWorkTemplate = { workload: { manifests: [deployment] } };
  return { 'app.yaml': yaml({ ...replicaSet, spec: { ...replicaSet.spec, manifestWorkTemplate } }) };
};
const MERGED = 'berth/merged/fleet';

/** What test/interop/previews reads on a real Gitea, in the words and the markup of each forge. */
describe.each(FORGE_PROVIDERS)('what a reviewer reads at %s', (provider) => {
  let previewed: PreviewedFleet;
  afterEach(() => previewed.close());

  const serve = async (files: Readonly<Record<string, string>>): Promise<void> => {
    previewed = await PreviewedFleet.create(provider);
    previewed.server.permissions.set('ada', 'write').set('grace', 'write');
    await previewed.serve(files);
    await previewed.fleet.published('web');
  };
  const open = async (
    number: number,
    files: Parameters<PreviewedFleet['open']>[1],
    pull: Parameters<PreviewedFleet['open']>[2] = {},
  ): Promise<string> => {
    const head = previewed.open(number, files, pull);
    await previewed.changed(number, 'opened');
    return head;
  };

  it('is the change alone, its values first, later changes, and each error with its lines', async () => {
    await serve({ ...web({ numberOfClusters: 1 }), ...app('v5', 3) });
    const { api } = previewed.fleet.hub;
    await expect.poll(async () => (await api.list(MANIFEST_WORK)).items.length).toBe(1);
    await open(1, app('v6', 5));
    const values = await previewed.comment(1, 'image v5 → v6');
    expect(values).toContain('replicas 3 → 5');
    expect(values.indexOf('image v5 → v6')).toBeLessThan(values.indexOf('Changed objects'));

    const tolerations = [{ key: 'drain', operator: 'Exists', tolerationSeconds: 3_600 }];
    const drained = cluster('c1', { taints: [{ key: 'drain', effect: 'NoSelect' }] });
    const others = [2, 3, 4, 5, 6].map((n) => cluster(`c${n}`));
    await open(2, {
      ...web({ numberOfClusters: 1, tolerations }),
      'clusters.yaml': yaml(drained, ...others),
    });
    await previewed.comment(2, 'leaves c1 and joins c2 one hour after the merge');

    const misspelt = await open(3, web({ numberOfCluster: 2 }));
    const typo = await previewed.comment(3, '1 error in the manifests');
    for (const text of ['web.yaml:9:3', 'Did you mean numberOfClusters?', '› 9 |   numberOfCluster: 2'])
      expect(typo).toContain(text);
    await previewed.status(misspelt, 'failure');
  });

  it('is no hold that main has left, what is held after the merge, and how it is approved', async () => {
    await serve(web({ numberOfClusters: 2 }));
    const head = await open(1, web(nowhere));
    await previewed.comment(1, 'would be held');
    await previewed.status(head, 'failure');
    const merged = previewed.merge(1);
    await previewed.changed(1, 'merged');
    const notice = await previewed.comment(1, /1 change is held and not applied/);
    expect(notice).toMatch(/team-a\/web.* stays on .*c1.*c2/);
    expect(await previewed.status(merged, 'pending', MERGED)).toContain('held and not applied');

    const readme = await open(2, { 'README.md': 'Hello' });
    const own = await previewed.comment(2, 'Waiting on main: 1 hold');
    expect(own).toContain('Nothing moves, no object changes');
    expect(own).not.toContain('approve');
    await previewed.status(readme, 'success');

    await previewed.say(1, 'grace', '/berth aprove');
    await previewed.comment(1, 'Did you mean');
    await previewed.say(1, 'mallory', '/berth approve');
    await previewed.comment(1, 'may not write to this repository');
    await previewed.say(1, 'grace', '/berth approve');
    await previewed.comment(1, 'Approved. Berth does this now');
    await expect.poll(() => previewed.fleet.decisions('web')).toEqual([]);
    await previewed.fleet.advance(20_000);
    expect(await previewed.status(merged, 'success', MERGED)).toBe('As the plan said');
  });

  it('is what a writer has to type for a fork, and which files conflict', async () => {
    await serve(web({ numberOfClusters: 1 }));
    const fork = await open(1, web({ numberOfClusters: 2 }), { fork: true, author: 'mallory' });
    expect(await previewed.status(fork, 'pending')).toContain('/berth plan');
    await previewed.say(1, 'grace', '/berth plan');
    await previewed.comment(1, 'only the summary is shown');

    const head = await open(2, web({ numberOfClusters: 2 }));
    await previewed.comment(2, '+1 cluster');
    await previewed.status(head, 'success');
    previewed.fleet.git.commit({ ...web({ numberOfClusters: 3 }), 'clusters.yaml': retired(0) }, 'Meanwhile');
    const conflict = await previewed.comment(2, 'No plan');
    expect(conflict).toContain('both changed web.yaml');
    expect(conflict).not.toMatch(/ --\w/);
    await previewed.status(head, 'failure');
  });
});
