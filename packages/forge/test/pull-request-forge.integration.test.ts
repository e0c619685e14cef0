import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebhookEvent } from '../src/event/webhook-event.ts';
import { forgeOfUrl } from '../src/forge-of-url.ts';
import { openForge } from '../src/open-forge.ts';
import { FORGE_PROVIDERS } from '../src/request/forge-repository.ts';
import { concernsRepository } from '../src/request/repository-url.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { RECEIVED, webhookHandler } from '../src/webhook/webhook-handler.ts';
import type {
  CommitStatus,
  PullRequestForge,
  RepositoryPermission,
} from '../src/contract/pull-request-forge.ts';
import type { FakeForge, ForgeRight, PullEvent } from './fakes/forges/fake-forge.ts';
import { FAKE_FORGES } from './fakes/forges/fake-forges.ts';

const HEAD = 'a'.repeat(40);
const SECRET = 'a-secret-of-this-test';
const signal = new AbortController().signal;
const status = (over: Partial<CommitStatus>): CommitStatus => ({
  commit: HEAD,
  state: 'success',
  description: 'All is well',
  context: 'berth/preview/fleet',
  pullRequest: 7,
  ...over,
});

/** What every forge does, on a server that answers as its public documentation says. */
describe.each(FORGE_PROVIDERS)('pull requests at %s', (provider) => {
  let server: FakeForge;
  let forge: PullRequestForge;
  let tokens: string[];
  beforeEach(async () => {
    tokens = ['first', 'second'];
    server = FAKE_FORGES[provider]();
    await server.start();
    forge = openForge({
      provider,
      apiUrl: server.apiUrl,
      repository: server.repository,
      token: async () => tokens[0] ?? 'second',
      onRefused: () => void tokens.shift(),
    });
  });
  afterEach(() => server.close());

  it.each([
    ['open', {}, { state: 'open', draft: false, fromFork: false, mergeCommit: undefined }],
    ['a draft', { draft: true }, { draft: true }],
    ['of a fork', { fork: true }, { fromFork: true }],
    ['closed', { state: 'closed' as const }, { state: 'closed', mergeCommit: undefined }],
    ['merged', { merged: 'b'.repeat(40) }, { state: 'merged', mergeCommit: 'b'.repeat(40) }],
  ])('reads one that is %s', async (_name, pull, expected) => {
    server.pulls.set(7, { number: 7, head: HEAD, ...pull });
    expect(await forge.read(7, signal)).toMatchObject({
      number: 7,
      author: server.accountId('ada'),
      ...{ authorName: 'ada', title: 'Change', url: expect.stringMatching(/^https:\/\/forge\.test\/.+\/7$/) },
      baseBranch: 'main',
      headCommit: HEAD,
      ...expected,
    });
  });

  it('knows what is not there', async () => {
    expect(await forge.read(1, signal)).toBeUndefined();
    const gone = provider === 'azure-devops' ? '1/1' : '1';
    expect(await forge.editComment(7, gone, 'x', signal)).toBe(false);
    await expect(forge.retireComment(7, gone, signal)).resolves.toBeUndefined();
  });

  it('lists all open ones over pages, each once', async () => {
    for (let number = 1; number <= 230; number++) server.pulls.set(number, { number, head: HEAD });
    server.pulls.set(3, { number: 3, head: HEAD, state: 'closed' });
    const numbers = (await forge.listOpen(signal)).map(({ number }) => number);
    expect(numbers).toHaveLength(229);
    expect(new Set(numbers).size).toBe(229);
    expect(await forge.defaultBranch(signal)).toBe('main');
  });

  it('writes, edits and finds its own comments only', async () => {
    const id = await forge.addComment(7, 'mark one', signal);
    server.write(7, 'mallory', 'mark two');
    const second = await forge.addComment(7, 'mark three', signal);
    for (let more = 0; more < 120; more++) server.write(7, 'grace', `mark ${more}`);
    expect(await forge.editComment(7, id, 'mark four', signal)).toBe(true);
    expect(await forge.ownComments(7, 'mark', signal)).toEqual([
      { id, text: 'mark four' },
      { id: second, text: 'mark three' },
    ]);
    await forge.retireComment(7, second, signal);
    const left = server.comments.filter(({ author, folded }) => folded !== true && author !== 'grace');
    expect(left.map(({ body }) => body)).toEqual(['mark four', 'mark two']);
  });

  it('finds a comment by its hidden marker, and what it hides stays hidden', async () => {
    const text =
      '<!-- berth:preview:fleet -->\n### All is well\n\n<details><summary>why</summary>\n\n- x\n\n</details>\n';
    const id = await forge.addComment(7, text, signal);
    const found = await forge.ownComments(7, '<!-- berth:preview:fleet -->', signal);
    expect(found).toEqual([{ id, text: server.comments[0]?.body }]);
    // Writing what was read changes nothing.
    await forge.editComment(7, id, found[0]?.text ?? '', signal);
    expect(server.comments[0]?.body).toBe(found[0]?.text);
    expect(server.comments[0]?.body.includes('<')).toBe(!provider.startsWith('bitbucket'));
  });

  it('puts a reaction on a comment of somebody else, if the forge has reactions', async () => {
    const { id, reactions } = server.write(7, 'ada', '/berth plan');
    const names = { gitea: ['+1', 'confused'], github: ['+1', 'confused'], gitlab: ['thumbsup', 'confused'] };
    expect(forge.react === undefined).toBe(!(provider in names));
    await forge.react?.(7, String(id), 'accepted', signal);
    await forge.react?.(7, String(id), 'refused', signal);
    await forge.react?.(7, String(id), 'refused', signal);
    await forge.react?.(7, '999999', 'accepted', signal);
    expect([...reactions]).toEqual(names[provider as keyof typeof names] ?? []);
  });

  it('knows its account from elsewhere where the token cannot say it', async () => {
    const { apiUrl, repository } = server;
    const named = openForge({ provider, apiUrl, repository, token: async () => 't' }, async () =>
      server.accountId('app'),
    );
    server.write(7, 'app', 'mark');
    server.write(7, 'berth', 'mark');
    expect(await named.ownComments(7, 'mark', signal)).toHaveLength(1);
  });

  it.each<[RepositoryPermission]>([['admin'], ['write'], ['read'], ['none']])(
    'reads the right %s',
    async (permission) => {
      server.permissions.set('adam', 'admin').set('ada/../x', permission);
      // The account is escaped: it cannot name another resource.
      expect(await forge.permissionOf(server.accountId('ada/../x'), signal)).toBe(permission);
      expect(await forge.permissionOf(server.accountId('nobody'), signal)).toBe('none');
    },
  );

  it('writes statuses, of which a later one of the same context counts', async () => {
    server.pulls.set(7, { number: 7, head: HEAD });
    await forge.writeStatus(status({ state: 'pending', description: 'x'.repeat(200) }), signal);
    expect(server.statusOf(HEAD, 'berth/preview/fleet')).toMatchObject({ state: 'pending' });
    expect(server.statusOf(HEAD, 'berth/preview/fleet')?.description).toHaveLength(140);
    await forge.writeStatus(status({ state: 'pending' }), signal);
    await forge.writeStatus(status({ state: 'failure' }), signal);
    await forge.writeStatus(status({ context: `berth/rule/fleet/${'n'.repeat(60)}` }), signal);
    expect(server.statusOf(HEAD, 'berth/preview/fleet')).toMatchObject({ state: 'failure' });
    expect(server.statusOf(HEAD, `berth/rule/fleet/${'n'.repeat(60)}`)).toMatchObject({ state: 'success' });
    await forge.writeStatus(status({ state: 'pending' }), signal);
    expect(server.statusOf(HEAD, 'berth/preview/fleet')).toMatchObject({ state: 'pending' });
  });

  it('writes statuses to what is merged and to what a fork has', async () => {
    const merged = 'b'.repeat(40);
    await forge.writeStatus(
      status({ commit: merged, pullRequest: undefined, context: 'berth/merged/fleet' }),
      signal,
    );
    expect(server.statusOf(merged, 'berth/merged/fleet')).toMatchObject({ state: 'success' });
    server.pulls.set(8, { number: 8, head: HEAD, fork: true });
    await forge.writeStatus(status({ pullRequest: 8 }), signal);
    expect(server.statusOf(HEAD, 'berth/preview/fleet')).toMatchObject({ state: 'success' });
  });

  const rights: readonly [ForgeRight, (opened: PullRequestForge) => Promise<unknown>][] = [
    ['read', (opened) => opened.listOpen(signal)],
    ['comment', (opened) => opened.addComment(7, 'x', signal)],
    ['status', (opened) => opened.writeStatus(status({}), signal)],
    ['permissions', (opened) => opened.permissionOf(server.accountId('ada'), signal)],
  ];
  it.each(rights)('says that the token lacks a right: %s', async (right, use) => {
    server.pulls.set(7, { number: 7, head: HEAD });
    server.permissions.set('ada', 'write');
    server.lacks.add(right);
    await expect(use(forge)).rejects.toMatchObject({
      code: 'scm.auth',
      hint: expect.stringContaining('token'),
    });
    server.lacks.clear();
    await use(forge);
  });

  it('waits as long as the forge says when it asked too much', async () => {
    server.fault = () => server.limited(3);
    const error: unknown = await forge.listOpen(signal).catch((thrown: unknown) => thrown);
    const retryAfterMs = provider === 'bitbucket' ? undefined : 3_000;
    expect(error).toMatchObject({ name: 'TransientError', code: 'scm.unavailable', retryAfterMs });
  });

  it.each([
    [429, { 'retry-after': '3' }, 'TransientError', 3_000],
    [403, { 'x-ratelimit-remaining': '0', 'retry-after': '2' }, 'TransientError', 2_000],
    [503, {}, 'TransientError', undefined],
    [500, {}, 'TransientError', undefined],
    [422, {}, 'InputError', undefined],
  ])('tells an answer of %i as what it is', async (code, headers, name, retryAfterMs) => {
    server.fault = () => ({ status: code, headers });
    const error: unknown = await forge.listOpen(signal).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  });

  it('asks again with a new token when one has expired, once', async () => {
    server.pulls.set(7, { number: 7, head: HEAD });
    server.expired.add('first');
    expect(await forge.read(7, signal)).toMatchObject({ number: 7 });
    expect(tokens).toEqual(['second']);
    server.expired.add('second');
    await expect(forge.addComment(7, 'x', signal)).rejects.toMatchObject({ code: 'scm.auth' });
    expect(tokens).toEqual([]);
  });

  it('gives up at once when it is cancelled, also where the forge never answers', async () => {
    server.fault = () => 'hang';
    const stop = new AbortController();
    const reading = forge.read(7, stop.signal);
    stop.abort();
    await expect(reading).rejects.toMatchObject({ code: 'scm.network' });
  });

  it('takes an answer that comes late', async () => {
    server.pulls.set(7, { number: 7, head: HEAD });
    let answer = (): void => undefined;
    server.slow = new Promise((resolve) => (answer = resolve));
    const reading = forge.read(7, signal);
    await expect.poll(() => server.seen.length).toBeGreaterThan(0);
    answer();
    expect(await reading).toMatchObject({ number: 7, headCommit: HEAD });
  });

  it('takes no answer that is not what was asked for', async () => {
    server.fault = () => ({ status: 200, body: { message: 'hello' } });
    await expect(forge.listOpen(signal)).rejects.toMatchObject({ code: 'scm.answer' });
    await expect(forge.read(1, signal)).rejects.toMatchObject({ code: 'scm.answer' });
    await expect(forge.addComment(7, 'x', signal)).rejects.toMatchObject({ code: 'scm.answer' });
  });

  describe('deliveries', () => {
    const webhook = provider === 'bitbucket-data-center' ? 'bitbucket' : provider;
    let events: WebhookEvent[];
    let endpoint: http.Server;
    beforeEach(async () => {
      events = [];
      const providers = { [webhook]: { secrets: [SECRET] } };
      const handle = webhookHandler({
        ...{ providers, nowMs: () => 0, log: new SilentLogger() },
        onEvent: (event) => {
          events.push(event);
          return RECEIVED;
        },
      });
      endpoint = http.createServer((request, response) => void handle(request, response));
      await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
    });
    afterEach(() => new Promise((resolve) => endpoint.close(resolve)));
    const deliver = async (delivery: RequestInit): Promise<number> => {
      const { port } = endpoint.address() as AddressInfo;
      return (await fetch(`http://127.0.0.1:${port}/webhooks/${webhook}`, delivery)).status;
    };

    it.each<[PullEvent, string]>([
      ['opened', 'open'],
      ['pushed', 'open'],
      ['closed', 'closed'],
      ['merged', 'closed'],
    ])('say that one was %s', async (event, state) => {
      server.pulls.set(7, { number: 7, head: HEAD });
      expect(await deliver(server.pullDelivery(7, event, SECRET))).toBe(202);
      // Bitbucket Cloud names commits by 12 digits: that would be a guess.
      const head = { commit: provider === 'bitbucket' ? undefined : HEAD, branch: 'change' };
      expect(events).toMatchObject([
        { kind: 'pull-request', number: 7, state, head, base: { branch: 'main' } },
      ]);
      for (const one of events)
        expect('repositoryUrls' in one && concernsRepository(one, server.repositoryUrl)).toBe(true);
    });

    it('hand on a new comment once, with the account that permissions are asked by', async () => {
      server.pulls.set(7, { number: 7, head: HEAD });
      const comment = server.write(7, 'ada', '/berth plan');
      const delivery = server.commentDelivery(comment, 'new', SECRET);
      expect(await deliver(delivery)).toBe(202);
      expect(await deliver(delivery)).toBe(200);
      expect(await deliver(server.commentDelivery(comment, 'edited', SECRET))).toBe(202);
      const author = server.accountId('ada');
      expect(events).toMatchObject([{ kind: 'comment', number: 7, author, text: '/berth plan' }]);
    });

    it('are refused without the secret', async () => {
      expect(await deliver(server.pullDelivery(7, 'opened', 'another secret'))).toBe(401);
      expect(events).toEqual([]);
    });
  });

  it('tells the API and the repository from the address that people clone', () => {
    expect(forgeOfUrl(provider, server.repositoryUrl)?.repository.toLowerCase()).toBe(
      server.repository.toLowerCase(),
    );
  });
});
