import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cluster, placement, retired, yaml } from '../fleet-fixture.ts';
import { PreviewedFleet } from './previewed-fleet.ts';

const web = (count: number) => ({ 'web.yaml': yaml(placement('web', { numberOfClusters: count })) });

describe('a command in a comment on a pull request', () => {
  let previewed: PreviewedFleet;
  beforeEach(async () => {
    previewed = await PreviewedFleet.create();
    previewed.server.permissions.set('ada', 'write').set('grace', 'write');
  });
  afterEach(() => previewed.close());
  const ownComments = () => previewed.server.comments.filter(({ author }) => author === 'berth');
  /** The reactions to the last comment of somebody. */
  const reactions = (account: string) => [
    ...(previewed.server.comments.findLast(({ author }) => author === account)?.reactions ?? []),
  ];

  /** A pull request that would take four of six clusters from a placement. */
  const held = async () => {
    await previewed.serve({ 'web.yaml': yaml(placement('web')) });
    const head = previewed.open(7, { 'clusters.yaml': retired(4) });
    await previewed.changed(7, 'opened');
    const text = await previewed.comment(7, 'would be held');
    const [, code = ''] = /\/berth approve ([0-9a-f]{12})/.exec(text) ?? [];
    expect(code).not.toBe('');
    await previewed.status(head, 'failure');
    return { head, code };
  };

  it('approves by somebody else who may write; after the merge the hold is released', async () => {
    const { head, code } = await held();
    await previewed.say(7, 'mallory', `/berth approve ${code}`);
    await previewed.comment(7, '`mallory` may not write to this repository');
    await previewed.say(7, 'ada', `/berth approve ${code}`);
    await previewed.comment(7, 'may not approve it');
    await previewed.say(7, 'grace', '/berth approve 000000000000');
    await previewed.comment(7, 'is not the approval code of a change');
    await expect.poll(() => reactions('grace')).toEqual(['confused']);
    await previewed.say(7, 'grace', `/berth aprove ${code}`);
    await previewed.comment(7, `Did you mean \`/berth approve ${code}\`?`);
    await previewed.say(7, 'grace', '/berth approve');
    await previewed.comment(7, '`grace`: Approved. Berth does this after the merge');
    await previewed.comment(7, 'Approved by `grace`');
    await expect.poll(() => reactions('grace')).toEqual(['+1']);
    await previewed.status(head, 'success');
    previewed.merge(7);
    await previewed.changed(7, 'closed');
    await previewed.comment(7, 'Merged: everything is as this plan said.');
    expect(await previewed.fleet.decisions('web')).toHaveLength(2);
    const { metadata } = await previewed.fleet.read('web');
    expect(metadata.annotations?.['berth.dev/released-by']).toContain('grace on team/fleet#7');
  });

  it('that approves ends with the change that it approves, and the comment says why', async () => {
    const { code } = await held();
    await previewed.say(7, 'grace', `/berth approve ${code}`);
    await previewed.comment(7, 'Approved by `grace`');
    previewed.open(9, { 'c7.yaml': yaml(cluster('c7')) });
    await previewed.changed(9, 'opened');
    await previewed.comment(9, '+1 cluster');
    previewed.merge(9);
    await previewed.changed(9, 'closed');
    await previewed.comment(
      7,
      "grace's approval of team-a/web no longer applies, because \\#\u200b9 moved main.",
    );
    await previewed.say(7, 'grace', `/berth approve ${code}`);
    await previewed.comment(7, 'is the code of an earlier plan');
    await previewed.say(7, 'grace', '/berth approve');
    expect(await previewed.comment(7, 'Approved by `grace`')).not.toContain('no longer applies');
    previewed.open(7, { 'clusters.yaml': retired(5) });
    await previewed.changed(7);
    await previewed.comment(7, 'no longer applies, because this pull request changed');
  });

  it('overrides a rule for an owner with a reason, for this change only, and that is recorded', async () => {
    const rules =
      'rules:\n- {name: few, expression: size(plan.added) <= 1, message: One at a time., owners: ["@grace"]}\n- {name: none, expression: size(plan.added) == 0, message: None., effect: warn}\n';
    await previewed.serve({ ...web(1), '.berth/rules.yaml': rules });
    previewed.server.permissions.set('eve', 'write');
    const head = previewed.open(7, web(3));
    await previewed.changed(7, 'opened');
    await previewed.comment(
      7,
      'An owner of the rule can let it pass with the comment `/berth override few REASON`',
    );
    await previewed.status(head, 'failure');
    for (const [author, text, answer] of [
      ['eve', 'few because', 'Only an owner of rule `few` can override it: `@grace`.'],
      ['grace', 'few', 'Say why: write `/berth override few REASON`.'],
      ['grace', 'none because', 'Which rule? Write `/berth override few REASON`.'],
    ] as const) {
      await previewed.say(7, author, `/berth override ${text}`);
      await previewed.comment(7, answer);
    }
    await previewed.say(7, 'grace', '/berth override few The site is closed');
    await previewed.comment(7, 'Rule `few` is overridden by `grace`**: The site is closed.');
    expect(await previewed.status(head, 'success')).toContain('a guard rule is overridden');
    expect(await previewed.status(head, 'success', 'berth/rule/fleet/few')).toContain('Overridden by grace');
    // Another change is denied again.
    const next = previewed.open(7, web(4));
    await previewed.changed(7);
    await previewed.comment(
      7,
      "grace's override of rule few no longer applies, because this pull request changed",
    );
    await previewed.status(next, 'failure');
    await previewed.say(7, 'grace', '/berth override few It is closed');
    await previewed.status(next, 'success');
    const merged = previewed.merge(7);
    await previewed.changed(7, 'closed');
    await previewed.comment(7, 'Rule `few` was overridden by `grace`: It is closed');
    expect(await previewed.status(merged, 'success', 'berth/merged/fleet')).toBe(
      'As the plan said; rule few was overridden by grace',
    );
    const data = ['--data', previewed.fleet.dataDir];
    const { stdout } = await previewed.fleet.berth('history', 'team-a/web', '--timeline', ...data);
    expect(stdout).toMatch(/rule-overridden .*team-a\/web .*few: grace on team\/fleet#7: It is closed/);
  });

  it('is not followed where the forge does not say what its author may do, and the operator reads why', async () => {
    await previewed.serve(web(1));
    previewed.open(7, web(2));
    await previewed.changed(7, 'opened');
    await previewed.comment(7, '+1 cluster');
    previewed.server.fault = ({ url }) => (url?.includes('/permission') ? { status: 403 } : undefined);
    await previewed.say(7, 'grace', '/berth plan');
    const { error } = await previewed.fleet.event('error', ({ where }) => where.startsWith('comment'));
    expect(error).toMatchObject({
      code: 'scm.auth',
      message: expect.stringContaining('a command of grace is ignored') as string,
      hint: expect.stringContaining('docs/previews.md#rights') as string,
    });
    expect(ownComments()).toHaveLength(1);
  });

  it('of a fork is planned when somebody who may write asks, without details; others get one answer', async () => {
    await previewed.serve(web(1));
    const head = previewed.open(7, web(2), { fork: true, author: 'mallory' });
    await previewed.changed(7, 'opened');
    expect(await previewed.status(head, 'pending')).toContain('fork');
    for (const text of ['/berth plan', '/berth plan', '/berth approve'])
      await previewed.say(7, 'mallory', text);
    await previewed.say(7, 'grace', '/berth approve');
    await previewed.comment(7, 'There is no plan yet');
    expect(ownComments()).toHaveLength(2);
    await previewed.say(7, 'grace', '/berth plan');
    const text = await previewed.comment(7, '+1 cluster');
    expect(text).toContain('only the summary is shown');
    expect(text).not.toContain('<details>');
  });

  it('is answered a bounded number of times, never to an app, and never because it was quoted', async () => {
    await previewed.serve(web(1));
    previewed.open(7, web(2));
    await previewed.changed(7, 'opened');
    await previewed.comment(7, '+1 cluster');
    previewed.server.permissions.set('helper[bot]', 'write');
    await previewed.say(7, 'helper[bot]', '/berth help');
    await previewed.say(7, 'grace', '> /berth help');
    await previewed.say(7, 'berth', ownComments()[0]?.body ?? '');
    for (let more = 0; more < 25; more++) {
      await previewed.say(7, 'grace', '/berth help');
      await previewed.fleet.until(() => (ownComments().length >= Math.min(22, more + 3) ? true : undefined));
    }
    await previewed.say(7, 'ada', '/berth plan');
    await previewed.fleet.advance(2_000);
    const answers = ownComments().filter(({ body }) => body.startsWith('<!-- berth:answer:'));
    expect(answers).toHaveLength(20);
    expect(answers.at(-1)?.body).toContain('Berth answers no further one here');
    await previewed.fleet.advance(3_600_001);
    await previewed.say(7, 'ada', '/berth help');
    await previewed.fleet.until(() => (ownComments().length === 23 ? true : undefined));
  });
});
