import { createHash } from 'node:crypto';
import { headerOf } from '../event/webhook-event.ts';
import type { WebhookHeaders, WebhookProvider } from '../event/webhook-event.ts';

const HEADERS = [
  'x-github-delivery',
  'x-gitea-delivery',
  // GitLab: the same for every attempt of a delivery, since 17.4. Older versions send only the uuid of the event.
  'idempotency-key',
  'x-gitlab-event-uuid',
  'x-request-uuid',
  'x-request-id',
  'webhook-id',
];

/**
 * Text that all attempts of a delivery share, and no other delivery; undefined if the forge sends no id. The id is not
 * signed, and GitLab gives several deliveries of one push the same, so the body counts, too.
 * @param body authentic JSON
 */
export function deliveryKey(
  provider: WebhookProvider,
  headers: WebhookHeaders,
  body: Buffer,
): string | undefined {
  const id = provider === 'azure-devops' ? idInBody(body) : idInHeaders(headers);
  if (id === undefined) return undefined;
  return JSON.stringify([provider, id, createHash('sha256').update(body).digest('hex')]);
}

function idInHeaders(headers: WebhookHeaders): string | undefined {
  return HEADERS.map((name) => headerOf(headers, name)).find((value) => value !== undefined);
}

function idInBody(body: Buffer): string | undefined {
  const { id } = JSON.parse(body.toString('utf8')) as { readonly id?: unknown };
  return typeof id === 'string' ? id : undefined;
}
