import { completeCluster } from '@berth/ocm/admission/complete-cluster';
import type { OcmRequirement, OcmRefusal, OcmReview, OcmWrite } from '@berth/ocm/admission/ocm-write';
import { reviewBinding } from '@berth/ocm/admission/review-binding';
import { reviewCluster } from '@berth/ocm/admission/review-cluster';
import { objectAt, textAt } from '../json/json-value.ts';
import { invalidValue } from '../schema/field-problems.ts';
import type { StatusError } from '../wire/status-error.ts';
import { badRequest, forbidden, invalid } from '../wire/status-errors.ts';
import type { AdmissionCheck, AdmissionWrite } from '../write/write-request.ts';
import { isWriteOf } from './ocm/is-write-of.ts';

const CLUSTER_GROUP = 'cluster.open-cluster-management.io';

const managedClusterCheck: AdmissionCheck = Object.assign(
  (write: AdmissionWrite) => {
    if (isWriteOf(write, CLUSTER_GROUP, 'managedclusters'))
      requireAllowed(write, reviewCluster(ocmWrite(write)));
    return [];
  },
  {
    mutate: (write: AdmissionWrite, now: string) => {
      if (!isWriteOf(write, CLUSTER_GROUP, 'managedclusters')) return write.object;
      const completed = completeCluster(ocmWrite(write), now);
      if (completed.kind === 'refused') throw statusError(write, completed.refusal);
      return completed.object;
    },
  },
);

const setBindingCheck: AdmissionCheck = (write) => {
  if (isWriteOf(write, CLUSTER_GROUP, 'managedclustersetbindings'))
    requireAllowed(write, reviewBinding(ocmWrite(write)));
  return [];
};

/**
 * OCM's rules about clusters and sets. On a real hub they are webhooks, which `berth serve` can
 * run, with the same functions. For the content of works see `manifestWorkCheck`.
 */
export const ocmChecks: readonly AdmissionCheck[] = [managedClusterCheck, setBindingCheck];

function ocmWrite({ operation, object, old, user }: AdmissionWrite): OcmWrite {
  return { operation: operation === 'CREATE' ? 'CREATE' : 'UPDATE', object, old, userName: user.name };
}

/** @throws StatusError when the write is refused */
function requireAllowed(write: AdmissionWrite, review: OcmReview): void {
  if (review.kind === 'refused') throw statusError(write, review.refusal);
  for (const requirement of review.requirements)
    if (!isMet(write, requirement)) throw statusError(write, requirement.otherwise);
}

function isMet(write: AdmissionWrite, requirement: OcmRequirement): boolean {
  switch (requirement.kind) {
    case 'right':
      return write.can(requirement.right);
    case 'namespace-stays':
      return write.isNamespaceEnding?.(requirement.namespace) !== true;
  }
}

function statusError({ ref: { definition }, object }: AdmissionWrite, refusal: OcmRefusal): StatusError {
  const name = textAt(objectAt(object, 'metadata'), 'name');
  switch (refusal.kind) {
    case 'bad-request':
      return badRequest(refusal.message);
    case 'forbidden':
      return forbidden(definition, name, refusal.message);
    case 'invalid': {
      const { field, value, problems } = refusal;
      return invalid(
        definition,
        name,
        problems.map((problem) => invalidValue(field, value, problem)),
      );
    }
  }
}
