import { deepEqual, isObject, type JsonObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { Scheme } from '../scheme/scheme.ts';
import { forbidden } from '../wire/status-errors.ts';
import type { AdmissionCheck, AdmissionWrite } from '../write/write-request.ts';
import { isMaster } from '../auth/rbac/authorizer.ts';

/**
 * A change of ownerReferences decides when an object is deleted, so it needs the right to delete
 * the object. `blockOwnerDeletion` delays the deletion of the owner like a finalizer, so it needs
 * the right to update the owner's finalizers. Rules and messages of the admission plugin
 * OwnerReferencesPermissionEnforcement (`plugin/pkg/admission/gc`).
 */
export function ownerReferencesCheck(scheme: Scheme): AdmissionCheck {
  return (write) => {
    if (write.operation === 'DELETE') return [];
    const [before, after] = [referencesOf(write.old), referencesOf(write.object)];
    if (sameReferences(before, after) || isMaster(write.user)) return [];
    if (write.operation === 'UPDATE') requireDelete(write);
    const blocked = new Set(before.filter(blocks).map((reference) => reference['uid']));
    const blocking = after.filter((reference) => blocks(reference) && !blocked.has(reference['uid']));
    if (blocking.length === 0 || mayFinalizeAnything(write)) return [];
    for (const reference of blocking) requireFinalizers(scheme, write, reference);
    return [];
  };
}

function referencesOf(object: JsonObject | undefined): readonly JsonObject[] {
  return listAt(objectAt(object, 'metadata'), 'ownerReferences').filter(isObject);
}

/**
 * Whether the lists are equal, including their order. Almost every write keeps the owners, and most
 * objects have none.
 */
function sameReferences(before: readonly JsonObject[], after: readonly JsonObject[]): boolean {
  return before.length === after.length && before.every((one, index) => deepEqual(one, after[index]));
}

function blocks(reference: JsonObject): boolean {
  return reference['blockOwnerDeletion'] === true;
}

function requireDelete(write: AdmissionWrite): void {
  const { group, plural } = write.ref.definition;
  const { namespace, name } = keyOf(write);
  const { subresource } = write;
  if (write.can({ verb: 'delete', group, resource: plural, subresource, namespace, name })) return;
  throw refused(write, "cannot set an ownerRef on a resource you can't delete: , <nil>");
}

function mayFinalizeAnything(write: AdmissionWrite): boolean {
  return write.can({ verb: 'update', group: '*', resource: '*', subresource: 'finalizers', name: '*' });
}

function requireFinalizers(scheme: Scheme, write: AdmissionWrite, reference: JsonObject): void {
  const [apiVersion, kind] = [textAt(reference, 'apiVersion'), textAt(reference, 'kind')];
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const owner = scheme.kind(group ?? '', version ?? '', kind);
  if (owner === undefined)
    throw refused(
      write,
      `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`,
    );
  const { plural: resource, namespaced } = owner.definition;
  const attributes = { verb: 'update', group: owner.definition.group, resource, subresource: 'finalizers' };
  // An owner is in the namespace of its dependent, or cluster-scoped.
  const namespace = namespaced ? keyOf(write).namespace : '';
  if (write.can({ ...attributes, namespace, name: textAt(reference, 'name') })) return;
  throw refused(
    write,
    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
  );
}

function keyOf(write: AdmissionWrite): { readonly namespace: string; readonly name: string } {
  const metadata = objectAt(write.object, 'metadata');
  return { namespace: textAt(metadata, 'namespace'), name: textAt(metadata, 'name') };
}

function refused(write: AdmissionWrite, why: string): Error {
  return forbidden(write.ref.definition, keyOf(write).name, why);
}
