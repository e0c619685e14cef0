import { GITEA_DIALECT, GITHUB_DIALECT } from '../github-like/github-like-dialects.ts';
import { ForgeApi, undefinedIfNotFound } from '../request/forge-api.ts';
import { escapedPath } from '../request/forge-dialect.ts';
import type { ForgeRepository } from '../request/forge-repository.ts';
import type { ResponseFields } from '../request/response-fields.ts';
import {
  type ForgeSetup,
  type ForgeWebhook,
  type IssuedToken,
  repositoryWebhooks,
  textsOf,
  type WantedToken,
} from './forge-setup.ts';

/** Gitea calls the event `pull_request_only` when it is asked for it, and `pull_request` when it lists it. */
const GITEA_EVENTS = ['push', 'pull_request_only', 'pull_request_sync', 'pull_request_comment'];
const GITEA_SCOPES = ['write:issue', 'write:repository', 'read:user'];

/**
 * Gitea and Forgejo. An administrator of the site may create accounts, and tokens for them: a token in place of the
 * password counts as basic authentication. Source: docs.gitea.com/api, and Gitea 1.25.
 */
export function giteaSetup(repository: ForgeRepository): ForgeSetup {
  const api = new ForgeApi(repository, GITEA_DIALECT);
  const basic = new ForgeApi(repository, {
    authorization: (token) => `Basic ${Buffer.from(`token:${token}`).toString('base64')}`,
  });
  const path = `/repos/${escapedPath(repository.repository)}`;
  return {
    ...repositoryWebhooks(api, {
      path: `${path}/hooks`,
      listPath: `${path}/hooks?limit=50`,
      events: ['push', 'pull_request', 'pull_request_sync', 'pull_request_comment'],
      change: 'PATCH',
      read: readHook,
      body: ({ url, secret }) => ({
        ...{ type: 'gitea', active: true, events: GITEA_EVENTS },
        config: { url, content_type: 'json', secret },
      }),
    }),
    hasAccount: (account, signal) => hasAccount(api, account, signal),
    issueToken: (wanted, signal) => giteaToken(api, basic, wanted, signal),
    grant: async (account, signal) => {
      const collaborator = `${path}/collaborators/${encodeURIComponent(account)}`;
      await api.request(signal, 'PUT', collaborator, { permission: 'admin' });
    },
    scopes: async () => undefined,
    neededScopes: GITEA_SCOPES.map((scope) => [scope]),
    tokenByHand: `an administrator of the site creates the account, and the account generates a token (Settings, Applications) with ${GITEA_SCOPES.join(', ')}`,
    protectionByHand: 'Settings, Branches, the rule of the branch: Enable Status Check',
  };
}

function userPath(account: string): string {
  return `/users/${encodeURIComponent(account)}`;
}

async function hasAccount(api: ForgeApi, account: string, signal: AbortSignal): Promise<boolean> {
  return (await undefinedIfNotFound(api.request(signal, 'GET', userPath(account)))) !== undefined;
}

async function giteaToken(
  api: ForgeApi,
  basic: ForgeApi,
  { account, name, password }: WantedToken,
  signal: AbortSignal,
): Promise<IssuedToken> {
  const isKnown = await hasAccount(api, account, signal);
  if (!isKnown)
    await api.request(signal, 'POST', '/admin/users', {
      ...{ username: account, email: `${account}@noreply.localhost`, password, must_change_password: false },
    });
  const made = await basic.request(signal, 'POST', `${userPath(account)}/tokens`, {
    name,
    scopes: GITEA_SCOPES,
  });
  const token = made.text('sha1');
  if (token === undefined) throw api.badResponse('gave no token');
  const who = isKnown ? `the account ${account}, whose other tokens stay` : `the new account ${account}`;
  return { token, text: `issued for ${who}, as ${name}` };
}

/** GitHub. Neither accounts nor tokens can be made by its API. Source: docs.github.com/rest, "Repository webhooks". */
export function githubSetup(repository: ForgeRepository): ForgeSetup {
  const api = new ForgeApi(repository, GITHUB_DIALECT);
  const path = `/repos/${escapedPath(repository.repository)}`;
  const events = ['push', 'pull_request', 'issue_comment', 'merge_group'];
  return {
    ...repositoryWebhooks(api, {
      path: `${path}/hooks`,
      listPath: `${path}/hooks?per_page=100`,
      events,
      change: 'PATCH',
      read: readHook,
      body: ({ url, secret }) => ({
        ...{ active: true, events },
        config: { url, content_type: 'json', secret, insecure_ssl: '0' },
      }),
    }),
    grant: async (account, signal) => {
      const collaborator = `${path}/collaborators/${encodeURIComponent(account)}`;
      await api.request(signal, 'PUT', collaborator, { permission: 'push' });
    },
    // Only classic tokens have scopes.
    scopes: async (signal) => {
      const { headers } = await api.requestWithHeaders(signal, { method: 'GET', path });
      return headers.get('x-oauth-scopes')?.split(/,\s*/).filter(Boolean);
    },
    neededScopes: [['repo', 'public_repo']],
    tokenByHand:
      'install a GitHub App (githubApp in credentials), or create a fine-grained token of the account: Pull requests and Commit statuses (read and write), Contents and Metadata (read)',
    protectionByHand: 'Settings, Rules, Rulesets: Require status checks to pass',
  };
}

function readHook(hook: ResponseFields): ForgeWebhook | undefined {
  const [id, url] = [hook.number('id'), hook.text('config', 'url')];
  if (id === undefined || url === undefined) return undefined;
  const code = hook.number('last_response', 'code');
  return {
    ...{ id: String(id), url, isActive: hook.at('active') === true, events: textsOf(hook.at('events')) },
    ...(code !== undefined && {
      lastDelivery: { result: String(code), isGood: code >= 200 && code < 300 },
    }),
  };
}
