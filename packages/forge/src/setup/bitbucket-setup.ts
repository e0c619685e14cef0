import {
  BITBUCKET_CLOUD_DIALECT,
  BITBUCKET_DATA_CENTER_DIALECT,
  dataCenterPath,
} from '../bitbucket/bitbucket-dialect.ts';
import { ForgeApi, undefinedIfNotFound } from '../request/forge-api.ts';
import { escapedPath } from '../request/forge-dialect.ts';
import type { ForgeRepository } from '../request/forge-repository.ts';
import type { ResponseFields } from '../request/response-fields.ts';
import { type ForgeSetup, type ForgeWebhook, repositoryWebhooks, textsOf } from './forge-setup.ts';

const CLOUD_EVENTS = [
  'repo:push',
  'pullrequest:created',
  'pullrequest:updated',
  'pullrequest:fulfilled',
  'pullrequest:rejected',
  'pullrequest:comment_created',
];
const DATA_CENTER_EVENTS = [
  'repo:refs_changed',
  'pr:opened',
  'pr:from_ref_updated',
  'pr:modified',
  'pr:merged',
  'pr:declined',
  'pr:comment:added',
];
const MERGE_CHECK = 'Repository settings, Branch restrictions or Merge checks: minimum successful builds';

/** Bitbucket Cloud, whose access tokens only a person creates. Source: developer.atlassian.com/cloud/bitbucket/rest. */
export function bitbucketCloudSetup(repository: ForgeRepository): ForgeSetup {
  const api = new ForgeApi(repository, BITBUCKET_CLOUD_DIALECT);
  const path = `/repositories/${escapedPath(repository.repository)}/hooks`;
  return {
    ...repositoryWebhooks(api, {
      ...{ path, listPath: `${path}?pagelen=100`, events: CLOUD_EVENTS, change: 'PUT' },
      read: (hook) => readHook(hook, hook.text('uuid')),
      body: ({ url, secret }) => ({
        ...{ description: 'Berth', url, active: true, secret, events: CLOUD_EVENTS },
      }),
    }),
    scopes: async (signal) => {
      const about = `/repositories/${escapedPath(repository.repository)}`;
      const { headers } = await api.requestWithHeaders(signal, { method: 'GET', path: about });
      return headers.get('x-oauth-scopes')?.split(/,\s*/).filter(Boolean);
    },
    neededScopes: [['pullrequest:write'], ['repository:write', 'repository:admin']],
    tokenByHand:
      'create an access token of the repository (Repository settings, Access tokens): pullrequest:write, repository:write, repository:admin',
    protectionByHand: MERGE_CHECK,
  };
}

/**
 * Bitbucket Data Center: HTTP access tokens of the repository, from 8.0.
 * Source: developer.atlassian.com/server/bitbucket/rest, "Repository" and "Authentication".
 */
export function bitbucketDataCenterSetup(repository: ForgeRepository): ForgeSetup {
  const api = new ForgeApi(repository, BITBUCKET_DATA_CENTER_DIALECT);
  const path = `${dataCenterPath(repository.repository)}/webhooks`;
  return {
    ...repositoryWebhooks(api, {
      ...{ path, listPath: `${path}?limit=100`, events: DATA_CENTER_EVENTS, change: 'PUT' },
      read: (hook) => readHook(hook, hook.number('id')?.toString()),
      body: ({ url, secret }) => ({
        ...{ name: 'Berth', url, active: true, events: DATA_CENTER_EVENTS, configuration: { secret } },
      }),
      lastDelivery: async (id, signal) => {
        const latest = await undefinedIfNotFound(api.request(signal, 'GET', `${path}/${id}/latest`));
        const result = latest?.text('result', 'outcome');
        return result === undefined ? undefined : { result, isGood: result === 'SUCCESS' };
      },
    }),
    issueToken: async ({ name }, signal) => {
      const { fields } = await api.requestWithHeaders(signal, {
        method: 'PUT',
        path: dataCenterPath(repository.repository),
        apiUrl: repository.apiUrl.replace(/\/rest\/api\/[^/]+\/?$/, '/rest/access-tokens/latest'),
        body: { name, permissions: ['REPO_ADMIN'] },
      });
      const token = fields.text('token');
      if (token === undefined) throw api.badResponse('gave no token');
      return { token, text: `issued for the repository with Repository admin, as ${name}` };
    },
    scopes: async () => undefined,
    neededScopes: [],
    tokenByHand: 'create an HTTP access token of the repository (Repository settings): Repository admin',
    protectionByHand: MERGE_CHECK,
  };
}

function readHook(hook: ResponseFields, id: string | undefined): ForgeWebhook | undefined {
  const url = hook.text('url');
  if (id === undefined || url === undefined) return undefined;
  return { id, url, isActive: hook.at('active') === true, events: textsOf(hook.at('events')) };
}
