import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../json/json-value.ts';
import type { WebhookClients } from '../webhook-clients.ts';
import { WebhookError } from '../webhook-error.ts';
import type { ReviewOutcome } from './admission-review.ts';
import { admissionReview, readReviewResponse, reviewVersionOf } from './admission-review.ts';
import type { Invocation } from './select-webhook.ts';
import type { WebhookKind } from './webhook-configurations.ts';

/**
 * Calls one admission webhook. Never throws: a failure is an outcome, to which the failure policy
 * applies.
 */
export async function callAdmissionWebhook(
  clients: WebhookClients,
  { webhook, request }: Invocation,
  [kind, remainingMs]: readonly [WebhookKind, number],
): Promise<ReviewOutcome> {
  const version = reviewVersionOf(webhook);
  if (version === undefined)
    return {
      kind: 'failed',
      message:
        'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    };
  const uid = randomUUID();
  const body = (): JsonObject => admissionReview(version, uid, request);
  const timeoutMs = Math.max(1, Math.min(webhook.timeoutMs, remainingMs));
  try {
    const review = await clients.post(webhook.client, { body, timeoutMs });
    return readReviewResponse(review, { uid, version, kind, name: webhook.name });
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    return { kind: 'failed', message: `failed to call webhook: ${error.message}` };
  }
}
