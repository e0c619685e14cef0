import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { namespace, placement, yaml } from '../fleet-fixture.ts';
import { PreviewedFleet } from './previewed-fleet.ts';

const web = (spec: object) => ({ 'web.yaml': yaml(placement('web', spec)) });
const nowhere = {
  predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels: { region: 'nowhere' } } } }],
};
const RULES = {
  '.berth/rules.yaml': yaml({
    rules: [
      { name: 'nothing-is-removed', expression: 'size(plan.removed) == 0', message: 'No.' },
      { name: 'web-runs', expression: 'size(plan.placement("team-a/web").after) > 0', message: 'No.' },
    ],
  }),
};

describe('a pull request is judged by what it does itself', () => {
  let previewed: PreviewedFleet;
  beforeEach(async () => {
    previewed = await PreviewedFleet.create();
  });
  afterEach(() => previewed.close());

  const held = async (): Promise<void> => {
    await previewed.serve({ ...web({ numberOfClusters: 2 }), ...RULES });
    await previewed.fleet.published('web');
    previewed.fleet.git.commit(web(nowhere), 'Nowhere');
    await previewed.fleet.held('web', 'True', 'WouldEmpty');
  };

  it('not by a hold that main has left: it is green, and offers no approval', async () => {
    await held();
    const head = previewed.open(7, { 'README.md': 'Hello' });
    await previewed.changed(7, 'opened');
    const comment = await previewed.comment(7, 'Nothing moves, no object changes');
    expect(comment).toContain(String.raw`Waiting on main: 1 hold \(team-a/web: 2 → 0 clusters, WouldEmpty\)`);
    expect(comment).not.toContain('approve');
    expect(await previewed.status(head, 'success')).toBe('Nothing moves, no object changes');
    expect(await previewed.status(head, 'success', 'berth/rule/fleet/web-runs')).toBeDefined();
  });

  it('also where it changes something else', async () => {
    await held();
    const head = previewed.open(7, { 'db.yaml': yaml(placement('db', { numberOfClusters: 1 })) });
    await previewed.changed(7, 'opened');
    const comment = await previewed.comment(7, '1 placement would change: +1 cluster');
    expect(comment).toContain('Waiting on main: 1 hold');
    expect(comment).not.toContain('approve');
    await previewed.status(head, 'success');
  });

  it('and says of a hold that main has left whether it changes that', async () => {
    await held();
    previewed.open(7, web({ numberOfClusters: 1 }));
    await previewed.changed(7, 'opened');
    const comment = await previewed.comment(7, 'team-a/web');
    expect(comment).toContain('WouldEmpty, which changes, too');
    expect(comment).toContain('Nothing else of it changes.');
  });

  it('not by deletions that main has left', async () => {
    const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => placement(name, { numberOfClusters: 1 }));
    await previewed.serve({ 'many.yaml': yaml(...many) });
    await previewed.fleet.published('f');
    previewed.fleet.git.commit({ 'many.yaml': yaml(...many.slice(0, 1)) }, 'Gone');
    await previewed.fleet.event('sync-problem');
    const head = previewed.open(7, { 'other.yaml': yaml(namespace('other')) });
    await previewed.changed(7, 'opened');
    const comment = await previewed.comment(7, String.raw`1 hold \(deletions of source fleet\)`);
    expect(comment).not.toContain('approve');
    expect(await previewed.status(head, 'success')).toContain('1 object');
  });
});
