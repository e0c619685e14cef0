import { afterEach, describe, expect, it } from 'vitest';
import { plainMarkdown } from '../src/bitbucket/bitbucket-dialect.ts';
import { openForge } from '../src/open-forge.ts';
import { concernsRepository } from '../src/request/repository-url.ts';
import type { PullRequestForge } from '../src/contract/pull-request-forge.ts';
import { AzureFake } from './fakes/forges/azure-fake.ts';
import { BitbucketCloudFake } from './fakes/forges/bitbucket-cloud-fake.ts';
import { BitbucketDataCenterFake } from './fakes/forges/bitbucket-data-center-fake.ts';
import type { FakeForge } from './fakes/forges/fake-forge.ts';
import { GitHubFake } from './fakes/forges/github-fake.ts';
import { GitLabFake } from './fakes/forges/gitlab-fake.ts';

const HEAD = 'a'.repeat(40);
const signal = new AbortController().signal;

/** What one forge has that the others do not. */
describe('a forge of its own kind', () => {
  let server: FakeForge | undefined;
  afterEach(() => server?.close());
  async function open<F extends FakeForge>(fake: F): Promise<readonly [F, PullRequestForge]> {
    server = fake;
    const { provider, repository } = fake;
    const apiUrl = await fake.start();
    return [fake, openForge({ provider, apiUrl, repository, token: async () => 't' })];
  }

  it('Data Center: a comment that somebody else changed meanwhile is changed in its newest version', async () => {
    const [fake, forge] = await open(new BitbucketDataCenterFake());
    const id = await forge.addComment(7, 'one', signal);
    const [comment] = fake.comments;
    let races = 2;
    fake.fault = ({ method }) => {
      if (method === 'PUT' && comment !== undefined && races-- > 0) comment.version++;
      return undefined;
    };
    expect(await forge.editComment(7, id, 'two', signal)).toBe(true);
    expect(comment?.body).toBe('two');
    races = 99;
    await expect(forge.editComment(7, id, 'three', signal)).rejects.toMatchObject({ code: 'scm.conflict' });
  });

  it('Data Center: a comment that was answered loses its text instead', async () => {
    const [fake, forge] = await open(new BitbucketDataCenterFake());
    const id = await forge.addComment(7, 'mark', signal);
    Object.assign(fake.comments[0] ?? {}, { answered: true });
    await forge.retireComment(7, id, signal);
    expect(fake.comments.map(({ body }) => body)).toEqual(['_Out of date._']);
    expect(await forge.ownComments(7, 'mark', signal)).toEqual([]);
  });

  it('Data Center: a delivery without addresses is taken by its project and name', () => {
    const event = { repositoryUrls: [], repositoryName: 'TEAM/fleet' };
    expect(concernsRepository(event, 'ssh://git@bitbucket.example:7999/team/fleet.git')).toBe(true);
    expect(concernsRepository(event, 'https://bitbucket.example/scm/team/fleet.git')).toBe(true);
    expect(concernsRepository(event, 'https://bitbucket.example/scm/myteam/fleet.git')).toBe(false);
    expect(concernsRepository({ repositoryUrls: [] }, 'https://bitbucket.example/scm/team/fleet.git')).toBe(
      false,
    );
  });

  it('Cloud: the token does not follow a page to another host', async () => {
    const [fake, forge] = await open(new BitbucketCloudFake());
    fake.fault = () => ({ status: 200, body: { values: [{ id: 1 }], next: 'https://evil.example/2.0' } });
    await expect(forge.listOpen(signal)).rejects.toMatchObject({ code: 'scm.answer' });
    expect(fake.seen).toHaveLength(1);
  });

  it('Cloud: a pull request of a private fork keeps its short id, and no other is held up by it', async () => {
    const [fake, forge] = await open(new BitbucketCloudFake());
    fake.pulls.set(7, { number: 7, head: HEAD, fork: true });
    fake.pulls.set(8, { number: 8, head: 'c'.repeat(40) });
    fake.fault = ({ url }) => (url?.includes('/stranger/') ? { status: 403 } : undefined);
    const heads = (await forge.listOpen(signal)).map(({ headCommit }) => headCommit);
    expect(heads).toEqual(['a'.repeat(12), 'c'.repeat(40)]);
  });

  it('Cloud: full ids are asked for once', async () => {
    const [fake, forge] = await open(new BitbucketCloudFake());
    fake.pulls.set(7, { number: 7, head: HEAD });
    for (let times = 0; times < 3; times++) await forge.listOpen(signal);
    expect(fake.seen.filter(({ url }) => url?.includes('/commit/'))).toHaveLength(1);
  });

  it('Cloud: an access token, which may not ask for its account, knows it from what it wrote', async () => {
    const [fake, forge] = await open(new BitbucketCloudFake());
    fake.fault = ({ url }) => (url === '/user' ? { status: 403 } : undefined);
    fake.write(7, 'mallory', 'mark of another');
    expect(await forge.ownComments(7, 'mark', signal)).toEqual([]);
    const id = await forge.addComment(7, 'mark', signal);
    expect(await forge.ownComments(7, 'mark', signal)).toEqual([{ id, text: 'mark' }]);
    const restarted = openForge({
      ...{ provider: 'bitbucket', apiUrl: fake.apiUrl, repository: fake.repository },
      token: async () => 't',
    });
    expect(await restarted.ownComments(7, 'mark', signal)).toEqual([{ id, text: 'mark' }]);
    expect(fake.comments.map(({ body }) => body)).toEqual(['mark of another', 'mark']);
  });

  it.each([
    ['GitLab', () => new GitLabFake()],
    ['Cloud', () => new BitbucketCloudFake()],
    ['Azure', () => new AzureFake()],
  ])('%s: an open pull request that has no commit does not hide the others', async (_name, fakeOf) => {
    const [fake, forge] = await open<FakeForge>(fakeOf());
    fake.pulls.set(7, { number: 7, head: '' }).set(8, { number: 8, head: HEAD });
    expect((await forge.listOpen(signal)).map(({ number }) => number)).toEqual([8]);
    await expect(forge.read(7, signal)).rejects.toMatchObject({ code: 'scm.answer' });
  });

  it('GitHub: a repository that was renamed is said, not asked for again and again', async () => {
    const [fake, forge] = await open(new GitHubFake());
    const location = 'https://api.github.com/repositories/1';
    fake.fault = () => ({ status: 301, headers: { location }, body: { message: 'Moved Permanently' } });
    const moved = { name: 'InputError', code: 'scm.moved', message: expect.stringContaining(location) };
    await expect(forge.listOpen(signal)).rejects.toMatchObject(moved);
  });

  it('GitHub: a comment that may not be folded is deleted', async () => {
    const [fake, forge] = await open(new GitHubFake());
    const id = await forge.addComment(7, 'mark', signal);
    fake.fault = ({ url }) =>
      url === '/graphql' ? { status: 200, body: { errors: [{ type: 'FORBIDDEN' }] } } : undefined;
    await forge.retireComment(7, id, signal);
    expect(fake.comments).toEqual([]);
  });

  it('GitLab: a status that another one locks out is tried again', async () => {
    const [fake, forge] = await open(new GitLabFake());
    fake.fault = ({ method }) => (method === 'POST' ? { status: 409 } : undefined);
    const status = { commit: HEAD, description: 'x', context: 'berth/preview/fleet' };
    await expect(forge.writeStatus({ ...status, state: 'success' }, signal)).rejects.toMatchObject({
      name: 'TransientError',
    });
  });

  it('GitLab: a refusal that is not the state it has already is one', async () => {
    const [fake, forge] = await open(new GitLabFake());
    fake.fault = ({ method }) => (method === 'POST' ? { status: 400 } : undefined);
    const status = { commit: HEAD, description: 'x', context: 'berth/preview/fleet' };
    await expect(forge.writeStatus({ ...status, state: 'pending' }, signal)).rejects.toMatchObject({
      code: 'scm.refused',
    });
  });

  it.each([['blocked'], ['awaiting']])('GitLab: an account that is %s may nothing', async (state) => {
    const [fake, forge] = await open(new GitLabFake());
    fake.permissions.set('ada', 'admin');
    fake.fault = ({ url }) =>
      url?.includes('/members/') ? { status: 200, body: { state, access_level: 50 } } : undefined;
    expect(await forge.permissionOf('ada', signal)).toBe('none');
  });

  it('Bitbucket: what it would show as text becomes Markdown, once', () => {
    const text =
      '<!-- berth:preview:fleet -->\n### All\n\n<details><summary>Fleet map</summary>\n\n```text\n<a>\n```\n\n</details>\n\n<sub>as of</sub>\n';
    const plain = '### All\n\n**Fleet map**\n\n```text\n<a>\n```\n\nas of\n\n[//]: # (berth:preview:fleet)\n';
    expect(plainMarkdown(text)).toBe(plain);
    expect(plainMarkdown(plain)).toBe(plain);
  });
});
