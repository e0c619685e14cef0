import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openForge } from '../../../src/adapters/forge/open-forge.ts';
import { baseFiles, placement, yaml } from '../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../app/serve/served-fleet.ts';
import { type Gitea, hasGiteaModule, startGitea } from '../peers/gitea.ts';
import { hasPeers } from '../peers/peer-programs.ts';

const SECRET = 'a-secret-of-this-test';
const RULES = '.berth/rules.yaml';
const NO_RULES = 'rules: []\n';
const PROTECTION = '/repos/root/fleet/branch_protections';
const web = (count: number) => ({ 'web.yaml': yaml(placement('web', { numberOfClusters: count })) });

interface Comment {
  readonly body: string;
  readonly user: { readonly login: string };
}

/** Pull requests of a real Gitea, made over its API and by git push; its webhooks call the controller. */
describe.skipIf(!hasPeers('gitea') || !hasGiteaModule())('previews on a real Gitea', () => {
  let fleet: ServedFleet;
  let gitea: Gitea;
  beforeAll(async () => {
    fleet = await ServedFleet.create();
    gitea = await startGitea(join(fleet.dataDir, 'gitea'));
    const token = gitea.user('berth');
    for (const name of ['ada', 'grace']) gitea.user(name);
    await gitea.call('POST', '/user/repos', { name: 'fleet', default_branch: 'main' });
    // Only an administrator of the repository may ask what another account may do in it.
    for (const [name, permission] of [
      ['berth', 'admin'],
      ['ada', 'write'],
      ['grace', 'write'],
    ])
      await gitea.call('PUT', `/repos/root/fleet/collaborators/${name ?? ''}`, { permission });
    const remote = new URL(`${gitea.url}/root/fleet.git`);
    [remote.username, remote.password] = ['ada', 'A-ada-1234567'];
    fleet.git.commit({ ...baseFiles, ...web(1), [RULES]: NO_RULES }, 'Base');
    fleet.git.run('remote', 'add', 'forge', remote.href);
    fleet.git.run('push', '-q', 'forge', 'main');
    const [tokenFile, secretFile] = [join(fleet.dataDir, 'forge-token'), join(fleet.dataDir, 'secret')];
    writeFileSync(tokenFile, token);
    writeFileSync(secretFile, SECRET);
    const url = `${gitea.url}/root/fleet.git`;
    const repository = { apiUrl: `${gitea.url}/api/v1`, repository: 'root/fleet', token: async () => token };
    const rules = { forks: 'off', drafts: true, approvers: 'write', selfApproval: false } as const;
    const running = await fleet.serve({
      budget: { percent: 100, atLeast: 0 },
      sources: [
        {
          url,
          ref: { type: 'branch', name: 'main' },
          auth: { type: 'token', file: tokenFile },
          preview: {
            forge: openForge({ provider: 'gitea', ...repository }),
            repositoryName: 'root/fleet',
            rules,
            ruleStatuses: true,
          },
        },
      ],
      http: { ...fleet.http(), webhookSecretFiles: { gitea: secretFile } },
    });
    await gitea.call('POST', '/repos/root/fleet/hooks', {
      type: 'gitea',
      active: true,
      config: { url: `${running.url ?? ''}/webhooks/gitea`, content_type: 'json', secret: SECRET },
      events: ['push', 'pull_request', 'pull_request_sync', 'pull_request_comment'],
    });
    await fleet.published('web');
  });
  afterAll(async () => {
    await gitea.stop();
    await fleet.close();
  });

  /** A test that failed runs again on the same Gitea: its branches have other names then. */
  let attempt = 0;
  beforeEach(async () => {
    attempt++;
    push('main', { ...web(1), [RULES]: NO_RULES });
    await fleet.until(async () => ((await fleet.decisions('web')).length === 1 ? true : undefined));
  });
  const named = (branch: string): string => (branch === 'main' ? branch : `${branch}-${attempt}`);
  const push = (branch: string, files: Readonly<Record<string, string>>): string => {
    fleet.git.run('fetch', '-q', 'forge');
    fleet.git.run('checkout', '-q', '-B', named(branch), 'forge/main');
    const head = fleet.git.commit(files, `Change ${named(branch)}`);
    fleet.git.run('push', '-q', '--force', 'forge', named(branch));
    return head;
  };
  const open = async (branch: string, title = branch): Promise<number> => {
    const pull = { head: named(branch), base: 'main', title };
    const made = (await gitea.call('POST', '/repos/root/fleet/pulls', pull, 'ada')) as { number: number };
    return made.number;
  };
  const comments = async (number: number): Promise<readonly Comment[]> =>
    ((await gitea.call('GET', `/repos/root/fleet/issues/${number}/comments`)) as Comment[]).filter(
      ({ user }) => user.login === 'berth',
    );
  const comment = (number: number, text: string): Promise<string> =>
    fleet.until(async () => (await comments(number)).find(({ body }) => body.includes(text))?.body);
  const status = (commit: string, state: string, context = 'berth/preview/fleet'): Promise<string> =>
    fleet.until(async () => {
      const found = (await gitea.call('GET', `/repos/root/fleet/commits/${commit}/status`)) as {
        readonly statuses: readonly { context: string; status: string; description: string }[] | null;
      };
      return (found.statuses ?? []).find((one) => one.context === context && one.status === state)
        ?.description;
    });

  it('follows open, push and force-push in one comment and a status', async () => {
    const first = push('grow', web(2));
    const number = await open('grow');
    await comment(number, '+1 cluster');
    await status(first, 'success');
    const second = push('grow', web(3));
    await comment(number, '+2 clusters');
    expect(await status(second, 'success')).toContain('+2 clusters');
    expect(await comments(number)).toHaveLength(1);
    await gitea.call('PATCH', `/repos/root/fleet/pulls/${number}`, { state: 'closed' });
    await gitea.call('PATCH', `/repos/root/fleet/pulls/${number}`, { state: 'open' });
    const again = push('grow', web(4));
    await comment(number, '+3 clusters');
    await status(again, 'success');
    await gitea.call('PATCH', `/repos/root/fleet/pulls/${number}`, { state: 'closed' });
  });

  it('obeys a comment of somebody who may write', async () => {
    push('talk', web(2));
    const number = await open('talk', 'WIP: talk');
    await comment(number, '+1 cluster');
    const say = { body: '/berth approve 000000000000' };
    await gitea.call('POST', `/repos/root/fleet/issues/${number}/comments`, say, 'grace');
    await comment(number, 'is no token of a change');
    await gitea.call('PATCH', `/repos/root/fleet/pulls/${number}`, { state: 'closed' });
  });

  it.each(['merge', 'squash', 'rebase'])('compares a merge by %s with the plan', async (how) => {
    push(`by-${how}`, web(2));
    const number = await open(`by-${how}`);
    await comment(number, '+1 cluster');
    const path = `/repos/root/fleet/pulls/${number}`;
    await fleet.until(async () =>
      ((await gitea.call('GET', path)) as { mergeable: boolean }).mergeable ? true : undefined,
    );
    await gitea.call('POST', `${path}/merge`, { Do: how });
    await comment(number, 'Merged: everything is as this plan said.');
    const { merge_commit_sha: merged } = (await gitea.call('GET', path)) as { merge_commit_sha: string };
    expect(await status(merged, 'success', 'berth/merged/fleet')).toBe('As the plan said');
  });

  describe('with a protected branch', () => {
    const context = 'berth/rule/fleet/few';
    beforeEach(() =>
      gitea.call('POST', PROTECTION, {
        ...{ rule_name: 'main', enable_push: true },
        ...{ enable_status_check: true, status_check_contexts: [context] },
      }),
    );
    afterEach(() => gitea.call('DELETE', `${PROTECTION}/main`));

    const merge = async (number: number): Promise<unknown> => {
      const path = `/repos/root/fleet/pulls/${number}`;
      await fleet.until(async () =>
        ((await gitea.call('GET', path)) as { mergeable: boolean }).mergeable ? true : undefined,
      );
      return gitea.call('POST', `${path}/merge`, { Do: 'merge' }, 'grace');
    };

    it('keeps it by the status of a guard rule, and opens it when the rule is gone', async () => {
      const few = 'rules:\n- {name: few, expression: size(plan.removed) <= 1, message: One at a time.}\n';
      push('main', { [RULES]: few, ...web(4) });
      const many = push('many', web(1));
      const refused = await open('many');
      expect(await status(many, 'failure', context)).toContain('One at a time.');
      await expect(merge(refused)).rejects.toThrow(/required status checks/i);
      const one = push('one', web(3));
      const allowed = await open('one');
      expect(await status(one, 'success', context)).toBe('Kept');
      await merge(allowed);
      push('main', { [RULES]: NO_RULES });
      const free = push('free', web(2));
      const last = await open('free');
      expect(await status(free, 'success', context)).toBe('There is no such rule any more');
      await merge(last);
    });
  });
});
