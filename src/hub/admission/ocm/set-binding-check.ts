import { objectAt, textAt } from '../../json/json-value.ts';
import { badRequest, forbidden } from '../../wire/status-errors.ts';
import type { AdmissionWrite } from '../../write/write-request.ts';

/** A binding is called like its set, and only who may bind the set can make one. */
export function reviewSetBinding(write: AdmissionWrite): readonly string[] {
  const name = textAt(objectAt(write.object, 'metadata'), 'name');
  const set = textAt(objectAt(write.object, 'spec'), 'clusterSet');
  if (name !== set) {
    throw badRequest('The ManagedClusterSetBinding must have the same name as the target ManagedClusterSet');
  }
  const question = {
    verb: 'create',
    group: 'cluster.open-cluster-management.io',
    resource: 'managedclustersets',
    subresource: 'bind',
    name: set,
  };
  if (write.operation === 'CREATE' && !write.can(question)) {
    throw forbidden(
      write.ref.definition,
      name,
      `user "${write.user.name}" is not allowed to bind cluster set "${set}"`,
    );
  }
  return [];
}
