import { headerOf } from '../event/webhook-event.ts';
import type { WebhookHeaders, WebhookProvider } from '../event/webhook-event.ts';

const HEADERS = [
  'x-github-delivery',
  'x-gitea-delivery',
  // GitLab: the same for every try of a delivery. Its event's uuid is older, and the same for several deliveries.
  'idempotency-key',
  'x-gitlab-event-uuid',
  'x-request-uuid',
  'x-request-id',
  'webhook-id',
];

/** What is the same of a delivery that comes twice; undefined: the forge does not say. @param body authentic, JSON */
export function deliveryId(
  provider: WebhookProvider,
  headers: WebhookHeaders,
  body: Buffer,
): string | undefined {
  if (provider !== 'azure-devops')
    return HEADERS.map((name) => headerOf(headers, name)).find((value) => value !== undefined);
  // Azure DevOps has it in the body.
  const { id } = JSON.parse(body.toString('utf8')) as { readonly id?: unknown };
  return typeof id === 'string' ? id : undefined;
}
