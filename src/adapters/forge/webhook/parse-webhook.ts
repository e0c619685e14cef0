import { parseAzure } from '../azure-devops/azure-webhook.ts';
import { parseBitbucket } from '../bitbucket/bitbucket-webhook.ts';
import { commitId } from '../event/event-fields.ts';
import { headerOf } from '../event/webhook-event.ts';
import type { WebhookEvent, WebhookHeaders, WebhookProvider } from '../event/webhook-event.ts';
import { parseGitHubLike } from '../github-like/github-like-webhook.ts';
import { parseGitLab } from '../gitlab/gitlab-webhook.ts';
import { ResponseFields } from '../request/response-fields.ts';

/** Parses the body of an authentic webhook. Undefined if it is not an event of the provider. */
export function parseWebhook(
  provider: WebhookProvider,
  headers: WebhookHeaders,
  body: Buffer,
): WebhookEvent | undefined {
  const payload = parseJson(body);
  if (payload === undefined) return undefined;
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

function parseJson(body: Buffer): ResponseFields | undefined {
  if (body.length === 0) return new ResponseFields({});
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? new ResponseFields(value)
      : undefined;
  } catch {
    return undefined;
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
