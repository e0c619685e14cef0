import { objectAt, textAt } from '@berth/runtime/json/json-value';
import type { OcmReview, OcmWrite } from './ocm-write.ts';

const MISNAMED = 'The ManagedClusterSetBinding must have the same name as the target ManagedClusterSet';

/**
 * A binding has the name of its set, and its author needs the right to bind the set. Source:
 * open-cluster-management.io/ocm
 * `pkg/registration/webhook/v1beta2/managedclustersetbinding_validating.go`.
 */
export function reviewBinding({ operation, object, userName }: OcmWrite): OcmReview {
  const set = textAt(objectAt(object, 'spec'), 'clusterSet');
  if (textAt(objectAt(object, 'metadata'), 'name') !== set)
    return { kind: 'refused', refusal: { kind: 'bad-request', message: MISNAMED } };
  if (operation !== 'CREATE') return { kind: 'requirements', requirements: [] };
  const right = {
    verb: 'create',
    group: 'cluster.open-cluster-management.io',
    resource: 'managedclustersets',
    subresource: 'bind',
    name: set,
  };
  const message = `user ${JSON.stringify(userName)} is not allowed to bind cluster set ${JSON.stringify(set)}`;
  return {
    kind: 'requirements',
    requirements: [{ kind: 'right', right, otherwise: { kind: 'forbidden', message } }],
  };
}
