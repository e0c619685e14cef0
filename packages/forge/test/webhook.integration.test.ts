import { createHmac } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { parseWebhook } from '../src/webhook/parse-webhook.ts';
import { sameRepository } from '../src/request/repository-url.ts';
import { verifyWebhook } from '../src/webhook/verify-webhook.ts';
import type { WebhookEvent, WebhookProvider } from '../src/event/webhook-event.ts';
import { RECEIVED, webhookHandler } from '../src/webhook/webhook-handler.ts';
import type { WebhookHandlerOptions } from '../src/webhook/webhook-handler.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const SECRET = 's3cret';
const NOW = 1_772_000_000_000;
const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const hex = (body: string, secret = SECRET) => createHmac('sha256', secret).update(body).digest('hex');
const standard = (body: string, secret: string | Buffer, seconds = NOW / 1000) => ({
  'webhook-id': 'm1',
  'webhook-timestamp': String(seconds),
  'webhook-signature': `v1,${Buffer.from('other').toString('base64')} v1,${createHmac('sha256', secret).update(`m1.${seconds}.${body}`).digest('base64')}`,
});

const AUTHENTIC: readonly [string, WebhookProvider, Record<string, string>][] = [
  ['GitHub', 'github', { 'x-hub-signature-256': `sha256=${hex('{}')}` }],
  ['Bitbucket', 'bitbucket', { 'x-hub-signature': `sha256=${hex('{}')}` }],
  ['Gitea', 'gitea', { 'x-gitea-signature': hex('{}') }],
  ['Forgejo', 'gitea', { 'x-forgejo-signature': hex('{}') }],
  ['Gitea, newer', 'gitea', { 'x-hub-signature-256': `sha256=${hex('{}')}` }],
  ['GitLab token', 'gitlab', { 'x-gitlab-token': SECRET }],
  ['GitLab signing token', 'gitlab', standard('{}', SECRET)],
  [
    'Azure DevOps',
    'azure-devops',
    { authorization: `Basic ${Buffer.from(`hook:${SECRET}`).toString('base64')}` },
  ],
  ['generic', 'generic', { 'x-signature-256': `sha256=${hex('{}')}` }],
];

describe('verifying webhooks', () => {
  const verify = (
    provider: WebhookProvider,
    headers: Record<string, string>,
    secrets: string[],
    body = '{}',
  ) =>
    verifyWebhook(provider, { headers, body: Buffer.from(body), nowMs: NOW }, { secrets, username: 'hook' });

  it.each(AUTHENTIC)('%s: authentic with any of the secrets, and only then', (_name, provider, headers) => {
    expect(verify(provider, headers, [SECRET])).toBe(true);
    expect(verify(provider, headers, ['old', SECRET])).toBe(true);
    expect(verify(provider, headers, ['other'])).toBe(false);
    expect(verify(provider, headers, [])).toBe(false);
    expect(verify(provider, {}, [SECRET])).toBe(false);
    expect(verify(provider, {}, [''])).toBe(false);
  });

  it.each(
    AUTHENTIC.filter(([, provider]) => provider !== 'azure-devops').filter(
      ([name]) => name !== 'GitLab token',
    ),
  )('%s: a changed body is not authentic', (_name, provider, headers) => {
    expect(verify(provider, headers, [SECRET], '{ }')).toBe(false);
  });

  it('an old or forged time of a signed delivery is not authentic; whsec_ keys are base64', () => {
    expect(verify('gitlab', standard('{}', SECRET, NOW / 1000 - 600), [SECRET])).toBe(false);
    expect(verify('gitlab', { ...standard('{}', SECRET), 'webhook-timestamp': '0x1' }, [SECRET])).toBe(false);
    const key = Buffer.from('bytes');
    expect(verify('gitlab', standard('{}', key), [`whsec_${key.toString('base64')}`])).toBe(true);
  });

  it('takes the header that a generic hook is configured with', () => {
    const headers = { 'x-mine': `sha256=${hex('{}')}` };
    const request = { headers, body: Buffer.from('{}'), nowMs: NOW };
    expect(verifyWebhook('generic', request, { secrets: [SECRET], signatureHeader: 'X-Mine' })).toBe(true);
  });
});

const URLS = {
  clone_url: 'https://f.example/t/r.git',
  ssh_url: 'git@f.example:t/r.git',
  html_url: 'https://f.example/t/r',
};
const PARSED: readonly [
  string,
  WebhookProvider,
  Record<string, string>,
  unknown,
  Partial<ReturnType<typeof parseWebhook>>,
][] = [
  [
    'GitHub push',
    'github',
    { 'x-github-event': 'push' },
    { ref: 'refs/heads/main', after: COMMIT, repository: URLS },
    { kind: 'push', ref: 'refs/heads/main', commit: COMMIT, repositoryUrls: Object.values(URLS) },
  ],
  [
    'a deleted branch',
    'github',
    { 'x-github-event': 'push' },
    { ref: 'refs/heads/x', after: '0'.repeat(40) },
    { kind: 'push', ref: 'refs/heads/x', commit: undefined },
  ],
  [
    'GitHub pull request',
    'github',
    { 'x-github-event': 'pull_request' },
    {
      action: 'synchronize',
      number: 7,
      pull_request: { number: 7, head: { sha: COMMIT, ref: 'f' }, base: { ref: 'main' } },
    },
    {
      kind: 'pull-request',
      number: 7,
      state: 'open',
      head: { commit: COMMIT, branch: 'f' },
      base: { branch: 'main' },
    },
  ],
  [
    'a label on it',
    'github',
    { 'x-github-event': 'pull_request' },
    { action: 'labeled', number: 7 },
    { kind: 'other', event: 'pull_request labeled' },
  ],
  ['GitHub ping', 'github', { 'x-github-event': 'ping' }, { zen: 'x' }, { kind: 'other', event: 'ping' }],
  [
    'Forgejo push',
    'gitea',
    { 'x-forgejo-event': 'push', 'x-github-event': 'push' },
    { ref: 'refs/heads/main', after: COMMIT },
    { kind: 'push', commit: COMMIT },
  ],
  [
    'GitLab push',
    'gitlab',
    { 'x-gitlab-event': 'Push Hook' },
    { ref: 'refs/heads/main', after: COMMIT, project: { git_http_url: 'https://g/x.git' } },
    { kind: 'push', commit: COMMIT, repositoryUrls: ['https://g/x.git'] },
  ],
  [
    'GitLab merge',
    'gitlab',
    { 'x-gitlab-event': 'Merge Request Hook' },
    {
      object_attributes: {
        action: 'merge',
        iid: 3,
        last_commit: { id: COMMIT },
        source_branch: 'f',
        target_branch: 'main',
      },
    },
    { kind: 'pull-request', number: 3, state: 'closed' },
  ],
  [
    'Bitbucket Cloud push',
    'bitbucket',
    { 'x-event-key': 'repo:push' },
    {
      push: { changes: [{ new: { type: 'branch', name: 'main', target: { hash: COMMIT } } }] },
      repository: { links: { html: { href: 'https://bitbucket.org/t/r' } } },
    },
    { kind: 'push', ref: 'refs/heads/main', commit: COMMIT, repositoryUrls: ['https://bitbucket.org/t/r'] },
  ],
  [
    'Bitbucket Cloud pull request, short id',
    'bitbucket',
    { 'x-event-key': 'pullrequest:updated' },
    {
      pullrequest: {
        id: 4,
        source: { commit: { hash: '0123456789ab' }, branch: { name: 'f' } },
        destination: { branch: { name: 'main' } },
      },
    },
    { kind: 'pull-request', number: 4, head: { commit: undefined, branch: 'f' }, base: { branch: 'main' } },
  ],
  [
    'Bitbucket Data Center',
    'bitbucket',
    { 'x-event-key': 'pr:merged' },
    {
      pullRequest: { id: 5, fromRef: { latestCommit: COMMIT, displayId: 'f' }, toRef: { displayId: 'main' } },
    },
    { kind: 'pull-request', number: 5, state: 'closed', head: { commit: COMMIT, branch: 'f' } },
  ],
  [
    'Azure push',
    'azure-devops',
    {},
    {
      eventType: 'git.push',
      resource: {
        refUpdates: [{ name: 'refs/heads/main', newObjectId: COMMIT }],
        repository: { remoteUrl: 'https://dev.azure.com/o/p/_git/r' },
      },
    },
    { kind: 'push', ref: 'refs/heads/main', commit: COMMIT },
  ],
  [
    'Azure pull request',
    'azure-devops',
    {},
    {
      eventType: 'git.pullrequest.updated',
      resource: {
        pullRequestId: 6,
        status: 'active',
        sourceRefName: 'refs/heads/f',
        targetRefName: 'refs/heads/main',
        lastMergeSourceCommit: { commitId: COMMIT },
      },
    },
    {
      kind: 'pull-request',
      number: 6,
      state: 'open',
      head: { commit: COMMIT, branch: 'f' },
      base: { branch: 'main' },
    },
  ],
  [
    'generic',
    'generic',
    {},
    { repository: 'https://x/y', ref: 'refs/heads/main' },
    { kind: 'push', repositoryUrls: ['https://x/y'] },
  ],
  [
    'hostile shapes',
    'github',
    { 'x-github-event': 'push' },
    { ref: { toString: 'x' }, after: ['x'], repository: 'x', __proto__: { a: 1 } },
    { kind: 'push', ref: undefined, commit: undefined, repositoryUrls: [] },
  ],
  ['no event', 'github', {}, {}, { kind: 'not-understood', status: 400 }],
];

describe('reading webhooks', () => {
  it.each(PARSED)('%s', (...[, provider, headers, payload, want]) => {
    expect(parseWebhook(provider, headers, Buffer.from(JSON.stringify(payload)))).toMatchObject(want);
  });

  it.each(['[]', '"x"', 'null', '{', '\u0000'])('refuses %j', (body) => {
    const headers = { 'x-github-event': 'push', 'content-type': 'application/json' };
    expect(parseWebhook('github', headers, Buffer.from(body))).toMatchObject({
      kind: 'not-understood',
      status: 400,
    });
  });

  it.each([
    ['https://Forge.example/team/fleet.git', 'git@forge.example:team/fleet', true],
    ['ssh://git@forge.example:2222/team/fleet.git', 'https://forge.example/team/fleet/', true],
    ['https://forge.example/team/fleet.GIT/', 'git@forge.example:/Team/Fleet', true],
    ['ssh://git@ssh.github.com:443/team/fleet.git', 'https://github.com/team/fleet', true],
    ['ssh://git@altssh.gitlab.com:443/team/fleet.git', 'https://gitlab.com/team/fleet', true],
    ['https://forge.example/scm/TEAM/fleet.git', 'ssh://git@forge.example:7999/team/fleet.git', true],
    ['https://dev.azure.com/o/p/_git/r', 'git@ssh.dev.azure.com:v3/o/p/r', true],
    ['https://o@dev.azure.com/o/p/_git/r', 'https://o.visualstudio.com/DefaultCollection/p/_git/r', true],
    ['https://o.visualstudio.com/p/_git/r', 'o@vs-ssh.visualstudio.com:v3/o/p/r', true],
    ['https://dev.azure.com/o/_git/r', 'git@ssh.dev.azure.com:v3/o/r/r', true],
    ['https://o.visualstudio.com/_git/r', 'https://dev.azure.com/o/r/_git/r', true],
    ['https://dev.azure.com/o/_git/r', 'https://dev.azure.com/o/p/_git/r', false],
    ['https://o.visualstudio.com/p/_git/r', 'https://dev.azure.com/other/p/_git/r', false],
    ['https://azure.example/tfs/c/p/_git/r', 'ssh://azure.example:22/tfs/c/p/_git/r', true],
    ['https://forge.example/team/fleet', 'https://forge.example/team/fleet2', false],
    ['https://forge.example/team/fleet', 'https://other.example/team/fleet', false],
    ['nonsense', 'nonsense', false],
  ])('%s and %s are one repository: %s', (a, b, want) => {
    expect(sameRepository(a, b)).toBe(want);
  });
});

describe('the webhook endpoint', () => {
  let server: http.Server | undefined;
  afterEach(
    () => new Promise<void>((resolve) => (server === undefined ? resolve() : server.close(() => resolve()))),
  );

  async function start(over: Partial<WebhookHandlerOptions> = {}) {
    const events: WebhookEvent[] = [];
    const handle = webhookHandler({
      providers: { github: { secrets: [SECRET] } },
      nowMs: () => NOW,
      log: new SilentLogger(),
      onEvent: (event) => {
        events.push(event);
        return RECEIVED;
      },
      ...over,
    });
    server = http.createServer((request, response) => void handle(request, response));
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
    const post = async (provider: string, body: string, headers: Record<string, string> = {}) =>
      (await fetch(`${base}/${provider}`, { method: 'POST', body, headers })).status;
    return { events, base, post };
  }
  const signed = (body: string, delivery?: string) => ({
    'x-github-event': 'push',
    'x-hub-signature-256': `sha256=${hex(body)}`,
    ...(delivery === undefined ? {} : { 'x-github-delivery': delivery }),
  });

  it('hands on what is authentic, once per delivery', async () => {
    const { events, post } = await start();
    const body = JSON.stringify({ ref: 'refs/heads/main' });
    expect(await post('github', body, signed(body, 'd1'))).toBe(202);
    expect(await post('github', body, signed(body, 'd1'))).toBe(200);
    expect(await post('github', body, signed(body, 'd2'))).toBe(202);
    expect(events).toHaveLength(2);
  });

  it('refuses the rest, before parsing it', async () => {
    const { events, base, post } = await start({ maxBodyBytes: 100 });
    expect(await post('github', '{}')).toBe(401);
    expect(await post('github', '{}', signed('{ }'))).toBe(401);
    expect(await post('gitlab', '{}', { 'x-gitlab-token': '' })).toBe(404);
    expect(await post('toString', '{}')).toBe(404);
    expect(await post('github', '[', { ...signed('['), 'content-type': 'application/json' })).toBe(400);
    expect((await fetch(`${base}/github`)).status).toBe(405);
    const long = 'x'.repeat(101);
    expect(await post('github', long, signed(long))).toBe(413);
    expect(events).toEqual([]);
  });

  it('stops reading a body whose stated length is wrong', async () => {
    const { base } = await start({ maxBodyBytes: 1000 });
    const status = await new Promise((resolve) => {
      const request = http.request(`${base}/github`, { method: 'POST' }, (response) =>
        resolve(response.statusCode),
      );
      request.on('error', () => resolve('closed'));
      const writing = setInterval(() => request.write('x'.repeat(500)), 1);
      request.on('close', () => clearInterval(writing));
    });
    expect([413, 'closed']).toContain(status);
  });
});
