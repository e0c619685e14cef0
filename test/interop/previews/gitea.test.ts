import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hasGiteaModule } from '../peers/gitea.ts';
import { hasPeers } from '../peers/peer-programs.ts';
import { placement, yaml } from '../../app/serve/fleet-fixture.ts';
import { asks, GiteaFleet, NO_RULES } from './gitea-fleet.ts';

const PROTECTION = '/repos/root/fleet/branch_protections';

/** Pull requests of a real Gitea, made over its API and by git push; its webhooks call the controller. */
describe.skipIf(!hasPeers('gitea') || !hasGiteaModule())('previews on a real Gitea', () => {
  let forge: GiteaFleet;
  beforeAll(async () => {
    forge = await GiteaFleet.create();
  });
  beforeEach(() => forge.begin());
  afterAll(() => forge.close());

  it('follows open, push and force-push in one comment and a status', async () => {
    const first = forge.push('grow', asks(2));
    const number = await forge.open('grow');
    await forge.comment(number, '+1 cluster');
    await forge.status(first, 'success');
    const second = forge.push('grow', asks(3));
    await forge.comment(number, '+2 clusters');
    expect(await forge.status(second, 'success')).toContain('+2 clusters');
    expect(await forge.comments(number)).toHaveLength(1);
    await forge.edit(number, { state: 'closed' });
    await forge.edit(number, { state: 'open' });
    const again = forge.push('grow', asks(4));
    await forge.comment(number, '+3 clusters');
    await forge.status(again, 'success');
    await forge.edit(number, { state: 'closed' });
  });

  it('obeys a comment of somebody who may write', async () => {
    forge.push('talk', asks(2));
    const number = await forge.open('talk', { title: 'WIP: talk' });
    await forge.comment(number, '+1 cluster');
    const { id } = (await forge.say(number, '/berth approve 000000000000', 'grace')) as { id: number };
    await forge.comment(number, 'is not the approval code of a change');
    const reactions = () => forge.gitea.call('GET', `/repos/root/fleet/issues/comments/${id}/reactions`);
    await expect.poll(reactions).toMatchObject([{ content: 'confused', user: { login: 'berth' } }]);
    await forge.edit(number, { state: 'closed' });
  });

  it('answers help and what is nearly a command, and lets an owner override a rule', async () => {
    const few =
      'rules:\n- {name: few, expression: size(plan.added) <= 1, message: One at a time., owners: ["@grace"]}\n';
    forge.push('main', { '.berth/rules.yaml': few });
    const head = forge.push('ask', asks(3));
    const number = await forge.open('ask');
    await forge.status(head, 'failure');
    for (const [text, answer] of [
      ['/berth help', 'an owner that the rule names lets this change pass'],
      ['/berth aprove', 'Did you mean `/berth approve'],
      ['/berth override few', 'Say why: write `/berth override few REASON`.'],
    ] as const) {
      await forge.say(number, text, 'grace');
      await forge.comment(number, answer);
    }
    await forge.say(number, '/berth override few The site is closed', 'grace');
    await forge.comment(number, 'Rule `few` is overridden by `grace`**: The site is closed.');
    expect(await forge.status(head, 'success', 'berth/rule/fleet/few')).toContain('Overridden by grace');
    await forge.edit(number, { state: 'closed' });
    forge.push('main', NO_RULES);
  });

  it.each(['merge', 'squash', 'rebase'])('compares a merge by %s with the plan', async (how) => {
    forge.push(`by-${how}`, asks(2));
    const number = await forge.open(`by-${how}`);
    await forge.comment(number, '+1 cluster');
    const merged = await forge.merge(number, how);
    await forge.comment(number, 'Merged: everything is as this plan said.');
    expect(await forge.status(merged, 'success', 'berth/merged/fleet')).toBe('As the plan said');
  });

  it('says after the merge what is held, and applies it when somebody approves it there', async () => {
    const predicates = [
      { requiredClusterSelector: { labelSelector: { matchLabels: { region: 'nowhere' } } } },
    ];
    forge.push('empty', { 'web.yaml': yaml(placement('web', { predicates })) });
    const number = await forge.open('empty');
    await forge.comment(number, 'would be held');
    const merged = await forge.merge(number);
    const { body } = await forge.comment(number, '**Merged. 1 change is held and not applied:');
    expect(body).toContain('`team-a/web` stays on `c1`.**');
    const context = 'berth/merged/fleet';
    expect(await forge.status(merged, 'pending', context)).toContain('1 change is held and not applied');
    const [command = ''] = /\/berth approve [0-9a-f]{12}/.exec(body) ?? [];
    await forge.say(number, command, 'grace');
    await forge.comment(number, '`grace`: Approved. Berth does this now:');
    await forge.comment(number, 'released by grace on root/fleet');
    expect(await forge.status(merged, 'success', context)).toBe('As the plan said');
    expect(await forge.fleet.decisions('web')).toEqual([]);
  });

  describe('with a protected branch', () => {
    const context = 'berth/rule/fleet/few';
    beforeEach(() =>
      forge.gitea.call('POST', PROTECTION, {
        ...{ rule_name: 'main', enable_push: true },
        ...{ enable_status_check: true, status_check_contexts: [context] },
      }),
    );
    afterEach(() => forge.gitea.call('DELETE', `${PROTECTION}/main`));

    it('keeps it by the status of a guard rule, and opens it when the rule is gone', async () => {
      const few = 'rules:\n- {name: few, expression: size(plan.removed) <= 1, message: One at a time.}\n';
      forge.push('main', { '.berth/rules.yaml': few, ...asks(4) });
      const many = forge.push('many', asks(1));
      const refused = await forge.open('many');
      expect(await forge.status(many, 'failure', context)).toContain('One at a time.');
      await expect(forge.merge(refused, 'merge', 'grace')).rejects.toThrow(/required status checks/i);
      const one = forge.push('one', asks(3));
      const allowed = await forge.open('one');
      expect(await forge.status(one, 'success', context)).toBe('Kept');
      await forge.merge(allowed, 'merge', 'grace');
      forge.push('main', NO_RULES);
      const free = forge.push('free', asks(2));
      const last = await forge.open('free');
      expect(await forge.status(free, 'success', context)).toBe('There is no such rule any more');
      await forge.merge(last, 'merge', 'grace');
    });
  });
});
