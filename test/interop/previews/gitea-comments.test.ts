import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import { cluster, placement, replicaSet, retired, yaml } from '../../app/serve/fleet-fixture.ts';
import { hasGiteaModule } from '../peers/gitea.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { asks, GiteaFleet } from './gitea-fleet.ts';

const web = (spec: object) => ({ 'web.yaml': yaml(placement('web', spec)) });
const NOWHERE = {
  predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { region: 'nowhere' } } } }],
};
const app = (tag: string, replicas: number) => {
  const containers = [{ name: 'shop', image: `shop:${tag}` }];
  const deployment = {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'shop', namespace: 'default' } },
    spec: { replicas, template: { spec: { containers } } },
  };
  const { spec, ...rest } = replicaSet;
  const manifestWorkTemplate = { workload: { manifests: [deployment] } };
  return { 'app.yaml': yaml({ ...rest, spec: { ...spec, manifestWorkTemplate } }) };
};

/** What a reader finds in the comment on a pull request of a real Gitea, in its status and in its report. */
describe.skipIf(!hasPeers('gitea') || !hasGiteaModule())('a comment on a real Gitea', () => {
  let forge: GiteaFleet;
  beforeAll(async () => {
    forge = await GiteaFleet.create();
  });
  beforeEach(() => forge.begin());
  afterAll(() => forge.close());

  const close = (number: number) => forge.edit(number, { state: 'closed' });
  const openWith = async (branch: string, files: Readonly<Record<string, string>>) => {
    const head = forge.push(branch, files);
    return { head, number: await forge.open(branch) };
  };

  it('waits for the hub to follow main, and says what waits there without an approval', async () => {
    const release = forge.holdWrites();
    const base = forge.push('main', web(NOWHERE));
    const { head, number } = await openWith('idle', { 'README.md': 'Hello' });
    await forge.described(head, `Waiting for the hub to follow ${base.slice(0, 12)}`);
    expect(await forge.comments(number)).toEqual([]);
    release();
    const { body } = await forge.comment(number, 'Nothing moves, no object changes');
    expect(body).toContain(String.raw`Waiting on main: 1 hold \(team-a/web: 1 → 0 clusters, WouldEmpty\)`);
    expect(body).not.toContain('approve');
    expect(await forge.status(head, 'success')).toBe('Nothing moves, no object changes');
    await close(number);
  });

  it('says what happens later, and reports no difference when it does', async () => {
    const tolerations = [{ key: 'drain', operator: 'Exists', tolerationSeconds: 3_600 }];
    const drained = cluster('c1', { taints: [{ key: 'drain', effect: 'NoSelect' }] });
    const others = [2, 3, 4, 5, 6].map((n) => cluster(`c${n}`));
    const { number } = await openWith('drain', {
      ...web({ numberOfClusters: 1, tolerations }),
      'clusters.yaml': yaml(drained, ...others),
    });
    const said = 'team-a/web leaves c1 and joins c2 one hour after the merge';
    const { body } = await forge.comment(number, said);
    expect(body).toContain('`ManagedCluster c1`: taints\\[0\\] is added: effect NoSelect, key drain');
    expect(body).toContain('tolerations is added: key drain, operator Exists, tolerationSeconds 3600');
    expect(body).not.toContain('<summary>team-a/web: why</summary>');
    await forge.merge(number);
    const merged = await forge.comment(number, 'Merged: everything is as this plan said.');
    expect(merged.body).toContain(said);
    forge.fleet.clock.skip(3_600_000);
    await forge.fleet.until(async () =>
      (await forge.fleet.decisions('web')).join() === 'c2' ? true : undefined,
    );
    // A difference would be reported after a minute, and before the plan of the next pull request.
    forge.fleet.clock.skip(120_000);
    const next = await openWith('next', { 'clusters.yaml': retired(0) });
    await forge.status(next.head, 'success');
    await forge.merge(next.number);
    await forge.comment(next.number, 'Merged: everything is as this plan said.');
    expect((await forge.comments(number)).map(({ id }) => id)).toEqual([merged.id]);
  });

  it('shows a misspelt field with a hint and the lines of the file', async () => {
    const { head, number } = await openWith('typo', web({ numberOfCluster: 2 }));
    const { body } = await forge.comment(number, '1 error in the manifests');
    expect(body).toContain('`web.yaml:9:3`: Placement team-a/web: spec.numberOfCluster: is not a field');
    expect(body).toContain('Did you mean numberOfClusters?');
    expect(body).toContain('```yaml\n    8 |     - prod\n  › 9 |   numberOfCluster: 2\n');
    await forge.status(head, 'failure');
    await close(number);
  });

  it('begins with the values that change', async () => {
    forge.push('main', app('v5', 3));
    await forge.fleet.until(async () => {
      const { items } = await forge.fleet.hub.api.list(MANIFEST_WORK);
      return items.length === 1 ? true : undefined;
    });
    const { number } = await openWith('values', app('v6', 5));
    const [cluster = ''] = await forge.fleet.decisions('web');
    const { body } = await forge.comment(
      number,
      `\`team-a/web\`: replicas 3 → 5, image v5 → v6, on ${cluster}`,
    );
    const [first = ''] = body.split('<details>');
    expect(first).toContain('image v5 → v6');
    expect(first).not.toContain('No placement changes');
    await close(number);
    forge.push('main', { 'app.yaml': undefined });
  });

  it('takes an approval without a code, and says when and why it does not apply any more', async () => {
    const { head, number } = await openWith('retire', { 'clusters.yaml': retired(6) });
    await forge.comment(number, 'would be held');
    await forge.status(head, 'failure');
    await forge.say(number, '/berth approve', 'grace');
    await forge.comment(number, '`grace`: Approved. Berth does this after the merge');
    await forge.comment(number, 'Approved by `grace`');
    await forge.status(head, 'success');
    const other = await openWith('more', asks(2));
    await forge.comment(other.number, '+1 cluster');
    await forge.merge(other.number);
    const { body } = await forge.comment(number, "grace's approval of team-a/web no longer applies");
    expect(body).toContain(`because \\#\u200b${other.number} moved main.`);
    await forge.status(head, 'failure');
    await close(number);
  });

  it('names the files that conflict, and no flag of a command line', async () => {
    const { head, number } = await openWith('conflict', asks(2));
    await forge.comment(number, '+1 cluster');
    forge.push('main', asks(3));
    const { body } = await forge.comment(number, 'No plan');
    expect(body).toContain('both changed web.yaml');
    expect(body).not.toMatch(/ --\w/);
    await forge.status(head, 'failure');
    await close(number);
  });

  it('links to a report that names the pull request, its author and what is decided', async () => {
    const { number } = await openWith('report', asks(2));
    const { body } = await forge.comment(number, '[full report](');
    const [, link = ''] = /\[full report\]\((\S+\.html\S*)\)/.exec(body) ?? [];
    const page = await forge.page(link);
    expect(page).toContain(`${forge.gitea.url}/root/fleet/pulls/${number}`);
    for (const text of ['report', 'ada', 'May I merge?', 'How it is decided', 'Next in line', 'Flips if'])
      expect(page, text).toContain(text);
    await close(number);
  });
});
