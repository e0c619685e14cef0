import { createHmac } from 'node:crypto';
import { RECEIVED, webhookHandler } from '@berth/forge/webhook/webhook-handler';
import type { WebhookEvent, WebhookProvider } from '@berth/forge/event/webhook-event';
import type { Logger } from '@berth/runtime/logger';
import type { FuzzTarget } from '../fuzz-target.ts';
import { bytesOf, outcomeOf } from '../fuzz-target.ts';
import { exchange } from './in-memory-exchange.ts';

const SECRET = 'a-secret-of-the-fuzzer';
const NOW_MS = 1_772_000_000_000;
const COMMIT = '0123456789abcdef0123456789abcdef01234567';
const repository = {
  clone_url: 'https://forge.example/team/fleet.git',
  ssh_url: 'git@forge.example:team/fleet.git',
  html_url: 'https://forge.example/team/fleet',
  links: {
    html: { href: 'https://forge.example/team/fleet' },
    clone: [{ href: 'https://forge.example/team/fleet.git' }],
  },
};
const branch = (name: string) => ({ ref: name, sha: COMMIT });

interface Delivery {
  readonly provider: WebhookProvider;
  readonly header: string;
  readonly event: string;
  readonly payload: object;
  /** The payload is sent as a form. */
  readonly isForm?: boolean;
}

const FORM_TYPE = 'application/x-www-form-urlencoded';

const DELIVERIES: readonly Delivery[] = [
  {
    provider: 'github',
    header: 'x-github-event',
    event: 'push',
    payload: { ref: 'refs/heads/main', after: COMMIT, repository },
  },
  {
    provider: 'github',
    header: 'x-github-event',
    event: 'pull_request',
    payload: {
      action: 'opened',
      number: 7,
      repository,
      pull_request: { head: branch('topic'), base: branch('main') },
    },
  },
  {
    provider: 'gitea',
    header: 'x-gitea-event',
    event: 'push',
    payload: { ref: 'refs/heads/main', after: COMMIT, repository },
  },
  {
    provider: 'gitlab',
    header: 'x-gitlab-event',
    event: 'Merge Request Hook',
    payload: {
      project: { git_http_url: repository.clone_url, web_url: repository.html_url },
      object_attributes: {
        action: 'open',
        iid: 7,
        source_branch: 'topic',
        target_branch: 'main',
        last_commit: { id: COMMIT },
      },
    },
  },
  {
    provider: 'github',
    header: 'x-github-event',
    event: 'merge_group',
    payload: {
      action: 'checks_requested',
      repository,
      merge_group: { head_sha: COMMIT, base_sha: COMMIT, base_ref: 'refs/heads/main' },
    },
  },
  {
    provider: 'gitlab',
    header: 'x-gitlab-event',
    event: 'Note Hook',
    payload: {
      project: { git_http_url: repository.clone_url },
      user: { username: 'ada' },
      object_attributes: { id: 1, note: '/berth plan', noteable_type: 'MergeRequest', action: 'create' },
      merge_request: { iid: 7 },
    },
  },
  {
    provider: 'bitbucket',
    header: 'x-event-key',
    event: 'pullrequest:comment_created',
    payload: {
      repository,
      actor: { uuid: '{ada}', display_name: 'Ada' },
      pullrequest: { id: 7 },
      comment: { id: 1, content: { raw: '/berth plan' } },
    },
  },
  {
    provider: 'bitbucket',
    header: 'x-event-key',
    event: 'pr:comment:added',
    payload: {
      actor: { name: 'ada' },
      pullRequest: { id: 7, toRef: { repository: { slug: 'fleet', project: { key: 'TEAM' } } } },
      comment: { id: 1, text: '/berth plan' },
    },
  },
  {
    provider: 'azure-devops',
    header: 'x-vss-event',
    event: 'ms.vss-code.git-pullrequest-comment-event',
    payload: {
      id: 'event-1',
      eventType: 'ms.vss-code.git-pullrequest-comment-event',
      resource: {
        comment: { id: 1, content: '/berth plan', author: { id: 'ada' }, commentType: 'text' },
        pullRequest: { pullRequestId: 7, repository: { remoteUrl: repository.clone_url } },
      },
    },
  },
  {
    provider: 'bitbucket',
    header: 'x-event-key',
    event: 'repo:push',
    payload: {
      repository,
      push: { changes: [{ new: { type: 'branch', name: 'main', target: { hash: COMMIT } } }] },
    },
  },
  {
    provider: 'bitbucket',
    header: 'x-event-key',
    event: 'pr:opened',
    payload: {
      pullRequest: {
        id: 7,
        fromRef: { latestCommit: COMMIT, displayId: 'topic' },
        toRef: { displayId: 'main', repository },
      },
    },
  },
  {
    provider: 'azure-devops',
    header: 'x-vss-event',
    event: 'git.push',
    payload: {
      eventType: 'git.push',
      resource: {
        repository: { remoteUrl: repository.clone_url },
        refUpdates: [{ name: 'refs/heads/main', newObjectId: COMMIT }],
      },
    },
  },
  {
    provider: 'gitlab',
    header: 'x-gitlab-event',
    event: 'System Hook',
    payload: {
      event_name: 'repository_update',
      project: { git_http_url: repository.clone_url },
      changes: [{ before: COMMIT, after: COMMIT, ref: 'refs/heads/main' }],
    },
  },
  {
    provider: 'gitlab',
    header: 'x-gitlab-event',
    event: 'System Hook',
    payload: {
      object_kind: 'merge_request',
      project: { git_http_url: repository.clone_url },
      object_attributes: { action: 'open', iid: 7, last_commit: { id: COMMIT } },
    },
  },
  {
    provider: 'github',
    header: 'x-github-event',
    event: 'push',
    payload: { ref: 'refs/heads/main', after: COMMIT, repository },
    isForm: true,
  },
  {
    provider: 'gitea',
    header: 'x-gitea-event',
    event: 'create',
    payload: { ref: 'v1', ref_type: 'tag', repository },
    isForm: true,
  },
  {
    provider: 'generic',
    header: 'x-event',
    event: 'push',
    payload: { repository: repository.clone_url, ref: 'refs/heads/main' },
  },
];

const ignore = (): void => undefined;
/** Keeps nothing, unlike the fake of the tests, so that the heap shows what the software keeps. */
const QUIET: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore, child: () => QUIET };

let told: WebhookEvent[] = [];
const secrets = { secrets: [SECRET] };
const handle = webhookHandler({
  providers: {
    github: secrets,
    gitea: secrets,
    gitlab: secrets,
    bitbucket: secrets,
    'azure-devops': secrets,
    generic: secrets,
  },
  nowMs: () => NOW_MS,
  log: QUIET,
  onEvent: (event) => {
    told.push(event);
    if (event.kind === 'push' && !Array.isArray(event.repositoryUrls))
      throw new Error('a push without a list of addresses');
    return RECEIVED;
  },
});

function signatures(provider: WebhookProvider, body: Uint8Array): Readonly<Record<string, string>> {
  const hex = createHmac('sha256', SECRET).update(body).digest('hex');
  switch (provider) {
    case 'github':
      return { 'x-hub-signature-256': `sha256=${hex}` };
    case 'gitea':
      return { 'x-gitea-signature': hex };
    case 'bitbucket':
      return { 'x-hub-signature': `sha256=${hex}` };
    case 'generic':
      return { 'x-signature-256': `sha256=${hex}` };
    case 'gitlab':
      return { 'x-gitlab-token': SECRET };
    case 'azure-devops':
      return { authorization: `Basic ${Buffer.from(`hook:${SECRET}`).toString('base64')}` };
  }
}

/**
 * Deliveries of all forges. The first byte chooses the forge, the second the signature: a right one, so that the parser behind it is
 * reached, or bytes of the input in its place, which must be refused.
 */
export const webhooks: FuzzTarget = {
  seeds: DELIVERIES.flatMap(({ payload, isForm }, at) => {
    const json = JSON.stringify(payload);
    const body = isForm === true ? new URLSearchParams({ payload: json }).toString() : json;
    return [0, 1].map((forged) => Uint8Array.from([at, forged, ...bytesOf(body)]));
  }),
  dictionary: [
    'refs/heads/',
    'refs/tags/',
    'repository',
    'clone_url',
    'changes',
    'null',
    '[]',
    '{}',
    '-1',
    '1e9',
    'https://',
    'git@',
    '..',
    '\\u0000',
    '__proto__',
    'links',
    'href',
    'action',
    'number',
    'payload=',
    '&',
    '%7B',
    'event_name',
    'object_kind',
  ],
  async run(input) {
    const {
      provider,
      header,
      event,
      isForm = false,
    } = DELIVERIES[(input[0] ?? 0) % DELIVERIES.length] ?? DELIVERIES[0]!;
    const forged = ((input[1] ?? 0) & 1) === 1;
    const body = input.subarray(2);
    const asText = Buffer.from(body.subarray(0, 200))
      .toString('latin1')
      .replace(/[\r\n\0]/g, ' ');
    const right = signatures(provider, body);
    const sent = forged ? Object.fromEntries(Object.keys(right).map((name) => [name, asText])) : right;
    const type = { 'content-type': isForm ? FORM_TYPE : 'application/json' };
    told = [];
    const answer = await exchange(
      { method: 'POST', url: `/webhooks/${provider}`, headers: { [header]: event, ...type, ...sent }, body },
      handle,
    );
    if (forged && (answer.status !== 401 || told.length > 0))
      throw new Error(`a forged delivery got ${answer.status}`);
    // 200: a delivery that was taken before, or an unsigned connection test.
    if (![200, 202, 400, 401].includes(answer.status)) throw new Error(`answer ${answer.status}`);
    return `${outcomeOf(`${provider} ${answer.status}`, answer.body)} ${told.map(shapeOf).join()}`;
  },
};

/** Which fields an event has, and how long their values are. */
function shapeOf(event: WebhookEvent): string {
  return Object.entries(event)
    .map(
      ([field, value]) => `${field}:${typeof value}${Math.min(9, JSON.stringify(value ?? '').length >> 2)}`,
    )
    .join('|');
}
