import { createHmac } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WebhookEvent, WebhookProvider } from '../src/event/webhook-event.ts';
import { RECEIVED, webhookHandler } from '../src/webhook/webhook-handler.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const SECRET = 's3cret';
const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const ZEROS = '0'.repeat(40);
const HTTP_URL = 'https://f.example/t/r.git';
const repository = { clone_url: HTTP_URL };
const project = { git_http_url: HTTP_URL };
const hex = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex');
const FORM = 'application/x-www-form-urlencoded';

interface Case {
  readonly name: string;
  readonly provider: WebhookProvider;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** What is signed; default: the body. */
  readonly signed?: string;
  readonly type?: string;
  readonly status: number;
  readonly message: string;
  readonly event?: Partial<WebhookEvent>;
}

const push = JSON.stringify({ ref: 'refs/heads/main', after: COMMIT, repository });
const form = new URLSearchParams({ payload: push }).toString();
const pushed = { kind: 'push', ref: 'refs/heads/main', commit: COMMIT, repositoryUrls: [HTTP_URL] } as const;

/** A System Hook of GitLab: the header is the same for each event. */
const system = (name: string, body: object, event?: Partial<WebhookEvent>): Case => ({
  name: `a System Hook of GitLab: ${name}`,
  provider: 'gitlab',
  headers: { 'x-gitlab-event': 'System Hook' },
  body: JSON.stringify(body),
  status: 202,
  message: event === undefined ? `received, the event System Hook ${name} is not used` : 'received',
  ...(event && { event }),
});

const github = (
  event: string,
  body: object,
  rest: Omit<Case, 'name' | 'provider' | 'headers' | 'body'>,
): Case => ({
  name: `GitHub: ${event}`,
  provider: 'github',
  headers: { 'x-github-event': event },
  body: JSON.stringify(body),
  ...rest,
});

const CASES: readonly Case[] = [
  system(
    'push',
    { object_kind: 'push', event_name: 'push', ref: 'refs/heads/main', after: COMMIT, project },
    pushed,
  ),
  // As GitLab documents it: without object_kind.
  system(
    'tag_push',
    { event_name: 'tag_push', ref: 'refs/tags/v1', after: COMMIT, project },
    { kind: 'push', ref: 'refs/tags/v1', commit: COMMIT },
  ),
  system(
    'repository_update of one branch',
    {
      event_name: 'repository_update',
      changes: [{ before: ZEROS, after: COMMIT, ref: 'refs/heads/main' }],
      refs: ['refs/heads/main'],
      project,
    },
    pushed,
  ),
  system(
    'repository_update of several',
    {
      event_name: 'repository_update',
      changes: [{ ref: 'refs/heads/other' }, { ref: 'refs/heads/main' }],
      project,
    },
    { kind: 'push', ref: undefined },
  ),
  system(
    'merge_request',
    {
      object_kind: 'merge_request',
      event_type: 'merge_request',
      project,
      object_attributes: { iid: 3, action: 'open', last_commit: { id: COMMIT } },
    },
    { kind: 'pull-request', number: 3, state: 'open' },
  ),
  system('project_create', { event_name: 'project_create' }),
  {
    name: 'GitHub, with the content type that it preselects',
    provider: 'github',
    headers: { 'x-github-event': 'push' },
    ...{ body: form, type: FORM, status: 202, message: 'received', event: pushed },
  },
  {
    name: 'Gitea as a form: it signs the JSON text',
    provider: 'gitea',
    headers: { 'x-gitea-event': 'push', 'x-gitea-event-type': 'push' },
    ...{ body: form, signed: push, type: FORM, status: 202, message: 'received', event: pushed },
  },
  {
    name: 'Gitea as a form whose body is signed',
    provider: 'gitea',
    headers: { 'x-gitea-event': 'push' },
    ...{ body: form, type: `${FORM}; charset=utf-8`, status: 202, message: 'received', event: pushed },
  },
  {
    name: 'GitHub as a form, with the JSON text signed',
    provider: 'github',
    headers: { 'x-github-event': 'push' },
    ...{ body: form, signed: push, type: FORM, status: 401 },
    message: "the secret is wrong: X-Hub-Signature-256 fits none of the secrets in Berth's file",
  },
  {
    name: 'GitHub as a form without a payload',
    provider: 'github',
    headers: { 'x-github-event': 'push' },
    ...{
      body: 'a=b',
      type: FORM,
      status: 400,
      message: 'the field payload of the form is not a JSON object',
    },
  },
  {
    name: 'GitLab with another content type',
    provider: 'gitlab',
    headers: { 'x-gitlab-event': 'Push Hook' },
    ...{ body: form, type: FORM, status: 415 },
    message: `got the content type ${FORM}, expected application/json: set it in the settings of the webhook`,
  },
  {
    name: 'JSON under another content type',
    provider: 'generic',
    headers: {},
    ...{ body: JSON.stringify({ repository: HTTP_URL }), type: FORM, status: 202, message: 'received' },
    event: { kind: 'push', repositoryUrls: [HTTP_URL] },
  },
  github('ping', { zen: 'x' }, { status: 202, message: 'received, the event ping is not used' }),
  github(
    'repository',
    { action: 'renamed', repository },
    { status: 202, message: 'received, the event repository is not used' },
  ),
  github(
    'create',
    { ref: 'v1.1.0', ref_type: 'tag', repository },
    { status: 202, message: 'received', event: { kind: 'push', ref: 'refs/tags/v1.1.0', commit: undefined } },
  ),
  github(
    'delete',
    { ref: 'main', ref_type: 'branch', repository },
    { status: 202, message: 'received', event: { kind: 'push', ref: 'refs/heads/main' } },
  ),
  {
    name: 'a delivery of GitLab at the address of GitHub',
    provider: 'github',
    headers: { 'x-gitlab-event': 'Push Hook' },
    ...{ body: push, status: 400 },
    message: 'it has no header X-GitHub-Event: this address expects webhooks of github',
  },
  {
    name: 'Bitbucket Cloud: a deleted branch',
    provider: 'bitbucket',
    headers: { 'x-event-key': 'repo:push' },
    body: JSON.stringify({
      push: { changes: [{ new: null, old: { type: 'branch', name: 'main' }, closed: true }] },
      repository: { links: { html: { href: 'https://bitbucket.org/t/r' } } },
    }),
    ...{ status: 202, message: 'received' },
    event: { kind: 'push', ref: 'refs/heads/main', commit: undefined },
  },
  {
    name: 'Bitbucket Data Center: a signed connection test',
    provider: 'bitbucket',
    headers: { 'x-event-key': 'diagnostics:ping' },
    ...{ body: '{"test": true}', status: 202, message: 'received, the event diagnostics:ping is not used' },
  },
  {
    name: 'Azure DevOps: an event that is not used',
    provider: 'azure-devops',
    headers: {},
    body: JSON.stringify({ id: '1', eventType: 'build.complete' }),
    ...{ status: 202, message: 'received, the event build.complete is not used' },
  },
];

function proofOf(provider: WebhookProvider, text: string): Record<string, string> {
  switch (provider) {
    case 'github':
      return { 'x-hub-signature-256': `sha256=${hex(text)}` };
    case 'gitea':
      return { 'x-gitea-signature': hex(text), 'x-hub-signature-256': `sha256=${hex(text)}` };
    case 'gitlab':
      return { 'x-gitlab-token': SECRET };
    case 'bitbucket':
      return { 'x-hub-signature': `sha256=${hex(text)}` };
    case 'azure-devops':
      return { authorization: `Basic ${Buffer.from(`any:${SECRET}`).toString('base64')}` };
    case 'generic':
      return { 'x-signature-256': `sha256=${hex(text)}` };
  }
}

describe('deliveries as forges send them by default', () => {
  let server: http.Server;
  let events: WebhookEvent[];
  let log: SilentLogger;
  let nowMs: number;
  beforeEach(async () => {
    [events, log, nowMs] = [[], new SilentLogger(), 0];
    const all = ['github', 'gitea', 'gitlab', 'bitbucket', 'azure-devops', 'generic'] as const;
    const handle = webhookHandler({
      providers: Object.fromEntries(all.map((provider) => [provider, { secrets: [SECRET] }])),
      nowMs: () => nowMs,
      log,
      onEvent: (event) => {
        events.push(event);
        return RECEIVED;
      },
    });
    server = http.createServer((request, response) => void handle(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  async function send(
    provider: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    method = 'POST',
  ) {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/${provider}`;
    const response = await fetch(url, { method, headers, ...(method === 'POST' && { body }) });
    const { message } = (await response.json()) as { message: string };
    return { status: response.status, message };
  }

  it.each(CASES)('$name', async ({ provider, headers, body, signed, type, status, message, event }) => {
    const proof = proofOf(provider, signed ?? body);
    const sent = { 'content-type': type ?? 'application/json', ...headers, ...proof };
    expect(await send(provider, sent, body)).toEqual({ status, message });
    expect(events).toMatchObject(event === undefined ? [] : [event]);
    const logged = log.entries.map(({ level, fields }) => [level, fields['why'] ?? fields['answer']]);
    expect(logged).toEqual([[status < 400 ? 'debug' : 'warn', message]]);
  });

  it.each([{ 'x-event-key': 'diagnostics:ping' }, {}])(
    'answers the unsigned connection test of Bitbucket Data Center, with the headers %j',
    async (headers) => {
      expect(await send('bitbucket', headers, '{"test": true}')).toEqual({
        status: 200,
        message: 'the connection works; the test is not signed, so the secret is not checked',
      });
      const forged = { ...headers, 'x-hub-signature': 'sha256=0' };
      expect(await send('bitbucket', forged, '{"test": true}')).toMatchObject({ status: 401 });
      expect(await send('bitbucket', { 'x-event-key': 'repo:push' }, push)).toMatchObject({ status: 401 });
      expect(events).toEqual([]);
    },
  );

  it.each<[WebhookProvider, Record<string, string>, RegExp]>([
    ['github', {}, /^the secret is missing: .* sends X-Hub-Signature-256$/],
    // A webhook without a secret.
    ['gitea', { 'x-gitea-signature': '', 'x-hub-signature-256': '' }, /^the secret is missing/],
    ['gitea', { 'x-forgejo-signature': hex('other') }, /^the secret is wrong/],
    ['gitlab', { 'x-gitlab-token': 'other' }, /^the secret is wrong: X-Gitlab-Token/],
    ['azure-devops', { authorization: 'Basic b3RoZXI=' }, /^the secret is wrong: Authorization/],
  ])('says whether the secret of %s is missing or wrong: %j', async (provider, headers, message) => {
    const answer = await send(provider, headers, push);
    expect(answer).toEqual({ status: 401, message: expect.stringMatching(message) as string });
  });

  it.each([
    ['gitea', 'GET', 405, 'got GET, expected POST: set it in the settings of the webhook'],
    ['elsewhere', 'POST', 404, 'no such webhook'],
  ])('says of /webhooks/%s, method %s: %i %s', async (path, method, status, message) => {
    expect(await send(path, {}, '{}', method)).toEqual({ status, message });
  });

  it('logs the same refusal once a minute', async () => {
    const warnings = () => log.entries.filter(({ level }) => level === 'warn').length;
    for (let at = 0; at < 8; at += 1) await send('github', {}, push);
    expect(warnings()).toBe(1);
    await send('gitlab', {}, push);
    expect(warnings()).toBe(2);
    nowMs += 60_000;
    await send('github', {}, push);
    expect(warnings()).toBe(3);
  });

  it('takes two deliveries of one push that share an id, and each of them once', async () => {
    const headers = {
      'x-gitlab-event': 'System Hook',
      'x-gitlab-event-uuid': 'u1',
      'x-gitlab-token': SECRET,
    };
    const update = JSON.stringify({ event_name: 'repository_update', project });
    const pushBody = JSON.stringify({ event_name: 'push', ref: 'refs/heads/main', project });
    for (const body of [update, pushBody, update, pushBody]) await send('gitlab', headers, body);
    expect(events).toMatchObject([{ ref: undefined }, { ref: 'refs/heads/main' }]);
  });
});
