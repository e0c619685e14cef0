import { completeCluster } from '@berth/ocm/admission/complete-cluster';
import type { OcmReview, OcmWrite } from '@berth/ocm/admission/ocm-write';
import { reviewBinding } from '@berth/ocm/admission/review-binding';
import { reviewCluster } from '@berth/ocm/admission/review-cluster';
import { MANAGED_CLUSTER, MANAGED_CLUSTER_SET_BINDING, type KindInfo } from '@berth/kube/model/kinds';
import type { ReviewRequest, ReviewVerdict } from './review-message.ts';

const REVIEWS: ReadonlyMap<string, (write: OcmWrite) => OcmReview> = new Map([
  [resourceOf(MANAGED_CLUSTER), reviewCluster],
  [resourceOf(MANAGED_CLUSTER_SET_BINDING), reviewBinding],
]);

/** Whether the review is about a kind that has rules here. */
export function isReviewed({ resource }: ReviewRequest): boolean {
  return REVIEWS.has(resource);
}

/**
 * The response of a mutating webhook.
 * @param now RFC 3339
 */
export function judgeMutation({ resource, write }: ReviewRequest, now: string): ReviewVerdict {
  if (write === undefined || resource !== resourceOf(MANAGED_CLUSTER)) return { kind: 'allowed' };
  const completed = completeCluster(write, now);
  return completed.kind === 'refused' ? completed : { kind: 'allowed', completed: completed.object };
}

/** What a validating webhook must check before it responds. */
export function judgeValidation({ resource, write }: ReviewRequest): OcmReview {
  const review = write === undefined ? undefined : REVIEWS.get(resource)?.(write);
  return review ?? { kind: 'requirements', requirements: [] };
}

function resourceOf({ group, plural }: KindInfo): string {
  return `${group}/${plural}`;
}
