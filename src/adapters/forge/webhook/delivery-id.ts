import { headerOf } from '../event/webhook-event.ts';
import type { WebhookHeaders, WebhookProvider } from '../event/webhook-event.ts';

const HEADERS = [
  'x-github-delivery',
  'x-gitea-delivery',
  // GitLab: the same for every attempt of a delivery. The uuid of the event is older, but several deliveries can share it.
  'idempotency-key',
  'x-gitlab-event-uuid',
  'x-request-uuid',
  'x-request-id',
  'webhook-id',
];

/**
 * The id that all attempts of a delivery share; undefined if the forge sends none.
 * @param body authentic JSON
 */
export function deliveryId(
  provider: WebhookProvider,
  headers: WebhookHeaders,
  body: Buffer,
): string | undefined {
  if (provider !== 'azure-devops')
    return HEADERS.map((name) => headerOf(headers, name)).find((value) => value !== undefined);
  // Azure DevOps sends it in the body.
  const { id } = JSON.parse(body.toString('utf8')) as { readonly id?: unknown };
  return typeof id === 'string' ? id : undefined;
}
