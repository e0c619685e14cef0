import { GITLAB_DIALECT } from '../gitlab/gitlab-dialect.ts';
import { ForgeApi, undefinedIfNotFound } from '../request/forge-api.ts';
import type { ForgeRepository } from '../request/forge-repository.ts';
import { type ForgeSetup, repositoryWebhooks, textsOf } from './forge-setup.ts';

const EVENTS = ['push_events', 'merge_requests_events', 'note_events'] as const;
const DEVELOPER = 30;

/**
 * GitLab: a token of the project, which brings an account and its rights.
 * Source: docs.gitlab.com/api/project_webhooks and docs.gitlab.com/api/project_access_tokens.
 */
export function gitlabSetup(repository: ForgeRepository): ForgeSetup {
  const api = new ForgeApi(repository, GITLAB_DIALECT);
  const path = `/projects/${encodeURIComponent(repository.repository)}`;
  return {
    ...repositoryWebhooks(api, {
      path: `${path}/hooks`,
      listPath: `${path}/hooks?per_page=100`,
      events: EVENTS,
      change: 'PUT',
      read: (hook) => {
        const [id, url] = [hook.number('id'), hook.text('url')];
        if (id === undefined || url === undefined) return undefined;
        // After failures GitLab disables a webhook for a time, or for good.
        const isActive = (hook.text('alert_status') ?? 'executable') === 'executable';
        return { id: String(id), url, isActive, events: EVENTS.filter((event) => hook.at(event) === true) };
      },
      body: ({ url, secret }) => ({
        ...{ url, token: secret, enable_ssl_verification: true },
        ...Object.fromEntries(EVENTS.map((event) => [event, true])),
      }),
      // From GitLab 17.3.
      lastDelivery: async (id, signal) => {
        const events = await undefinedIfNotFound(
          api.request(signal, 'GET', `${path}/hooks/${id}/events?per_page=1`),
        );
        const result = events?.text(0, 'response_status');
        return result === undefined ? undefined : { result, isGood: /^2\d\d/.test(result) };
      },
    }),
    issueToken: async ({ name, expiresOn }, signal) => {
      const wanted = { name, scopes: ['api'], access_level: DEVELOPER, expires_at: expiresOn };
      const token = (await api.request(signal, 'POST', `${path}/access_tokens`, wanted)).text('token');
      if (token === undefined) throw api.badResponse('gave no token');
      return {
        token,
        text: `issued for the project with the role Developer, as ${name}; expires ${expiresOn}`,
      };
    },
    scopes: async (signal) => {
      const self = await undefinedIfNotFound(api.request(signal, 'GET', '/personal_access_tokens/self'));
      return self && textsOf(self.at('scopes'));
    },
    neededScopes: [['api']],
    tokenByHand: 'create a token of the project (Settings, Access tokens): role Developer, scope api',
    protectionByHand: 'Settings, Merge requests: Pipelines must succeed, or an external status check',
  };
}
