import { objectAt, textAt } from '@berth/embedded-hub/json/json-value';
import { invalidValue } from '@berth/embedded-hub/schema/field-problems';
import type { StatusError } from '@berth/embedded-hub/wire/status-error';
import { badRequest, forbidden, invalid } from '@berth/embedded-hub/wire/status-errors';
import type { AdmissionCheck, AdmissionWrite } from '@berth/embedded-hub/write/write-request';
import { completeCluster } from '@berth/ocm/admission/complete-cluster';
import type { OcmRefusal, OcmRequirement, OcmReview, OcmWrite } from '@berth/ocm/admission/ocm-write';
import { reviewBinding, reviewCluster } from '@berth/ocm/admission/review-cluster';

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
 * OCM's rules about clusters and sets, for an embedded hub. On a real hub they are webhooks, which
 * `berth serve` can run, with the same functions. For works see `hubAdmission`.
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

/**
 * Whether a write creates or updates an object of the resource; false for subresources and
 * deletions.
 */
export function isWriteOf(write: AdmissionWrite, group: string, plural: string): boolean {
  const { definition } = write.ref;
  return (
    definition.group === group &&
    definition.plural === plural &&
    write.subresource === '' &&
    write.operation !== 'DELETE'
  );
}
