import { parseAzure } from '../azure-devops/azure-webhook.ts';
import { parseBitbucket } from '../bitbucket/bitbucket-webhook.ts';
import { commitId } from '../event/event-fields.ts';
import { headerOf } from '../event/webhook-event.ts';
import type { WebhookEvent, WebhookHeaders, WebhookProvider } from '../event/webhook-event.ts';
import { parseGitHubLike } from '../github-like/github-like-webhook.ts';
import { parseGitLab } from '../gitlab/gitlab-webhook.ts';
import { ResponseFields } from '../request/response-fields.ts';
import { type NotUnderstood, webhookPayload } from './webhook-body.ts';

/** Where each forge names the event of a delivery: one of these headers, or a field of the body. */
const EVENT_IN: Readonly<Record<WebhookProvider, string>> = {
  github: 'header X-GitHub-Event',
  gitea: 'header X-Forgejo-Event or X-Gitea-Event',
  gitlab: 'header X-Gitlab-Event',
  bitbucket: 'header X-Event-Key',
  'azure-devops': 'field eventType',
  generic: 'event',
};

/** Parses the body of an authentic webhook. */
export function parseWebhook(
  provider: WebhookProvider,
  headers: WebhookHeaders,
  body: Buffer,
): WebhookEvent | NotUnderstood {
  const payload = webhookPayload(provider, headers, body);
  if (!(payload instanceof ResponseFields)) return payload;
  const message = `it has no ${EVENT_IN[provider]}: this address expects webhooks of ${provider}`;
  return parseEvent(provider, headers, payload) ?? { kind: 'not-understood', status: 400, message };
}

function parseEvent(
  provider: WebhookProvider,
  headers: WebhookHeaders,
  payload: ResponseFields,
): WebhookEvent | undefined {
  switch (provider) {
    case 'github':
      return parseGitHubLike(payload, headerOf(headers, 'x-github-event'));
    case 'gitea':
      return parseGitHubLike(
        payload,
        headerOf(headers, 'x-forgejo-event') ?? headerOf(headers, 'x-gitea-event'),
      );
    case 'gitlab':
      return parseGitLab(payload, headerOf(headers, 'x-gitlab-event'));
    case 'bitbucket':
      return parseBitbucket(payload, headerOf(headers, 'x-event-key'));
    case 'azure-devops':
      return parseAzure(payload);
    case 'generic':
      return parseGeneric(payload);
  }
}

/**
 * `{"repository": URL, "ref": "refs/heads/main", "commit": id}`. All fields are optional: an empty body means "fetch
 * everything".
 */
function parseGeneric(payload: ResponseFields): WebhookEvent {
  return {
    kind: 'push',
    repositoryUrls: payload.texts(['repository']),
    ref: payload.text('ref'),
    commit: commitId(payload.text('commit')),
  };
}
