import { errorText } from '@berth/runtime/errors';
import { apiVersionOf, NAMESPACE, SUBJECT_ACCESS_REVIEW } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { OcmRequirement } from '@berth/ocm/admission/ocm-write';
import { judgeValidation } from '../../core/registration/webhooks/judge-review.ts';
import type {
  ReviewRequest,
  ReviewUser,
  ReviewVerdict,
} from '../../core/registration/webhooks/review-message.ts';

/**
 * The response of a validating webhook, after it has asked the hub what it needs. A write whose facts are unknown is
 * never allowed.
 */
export async function validateReview(request: ReviewRequest, hub: KubeApi): Promise<ReviewVerdict> {
  const review = judgeValidation(request);
  if (review.kind === 'refused') return review;
  try {
    for (const requirement of review.requirements)
      if (!(await isMet(requirement, request.user, hub)))
        return { kind: 'refused', refusal: requirement.otherwise };
  } catch (error) {
    return { kind: 'unknown', message: `Berth could not ask the hub: ${errorText(error)}` };
  }
  return { kind: 'allowed' };
}

async function isMet(requirement: OcmRequirement, user: ReviewUser, hub: KubeApi): Promise<boolean> {
  switch (requirement.kind) {
    case 'right': {
      const review = await hub.create(SUBJECT_ACCESS_REVIEW, {
        apiVersion: apiVersionOf(SUBJECT_ACCESS_REVIEW),
        kind: SUBJECT_ACCESS_REVIEW.kind,
        metadata: {} as KubeObject['metadata'],
        spec: { ...user, resourceAttributes: requirement.right },
      });
      const { allowed, denied } = (review['status'] ?? {}) as { allowed?: boolean; denied?: boolean };
      return allowed === true && denied !== true;
    }
    case 'namespace-stays': {
      const found = await hub.get(NAMESPACE, { namespace: '', name: requirement.namespace });
      return found?.metadata.deletionTimestamp === undefined;
    }
  }
}
