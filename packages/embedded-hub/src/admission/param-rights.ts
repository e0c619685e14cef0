import { groupVersionOf } from '@berth/kube/model/object-ref';
import { deepEqual, type JsonObject, objectAt, textAt } from '../json/json-value.ts';
import { isMaster } from '../auth/rbac/authorizer.ts';
import { forbiddenField } from '../schema/field-problems.ts';
import type { Scheme } from '../scheme/scheme.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { invalid } from '../wire/status-errors.ts';
import type { AccessAttributes, UserInfo } from '../wire/user-info.ts';
import type { AdmissionCheck, AdmissionWrite } from '../write/write-request.ts';

const GROUP = 'admissionregistration.k8s.io';
const POLICIES = 'validatingadmissionpolicies';
const BINDINGS = 'validatingadmissionpolicybindings';

/**
 * The author of a policy must be allowed to get all objects of its `paramKind`, and the author of a
 * binding its parameter object; otherwise a policy could reveal objects that they cannot read.
 * Sources: kubernetes `pkg/registry/admissionregistration/validatingadmissionpolicy/authz.go` and
 * `…policybinding/authz.go`.
 */
export function paramRightsCheck(scheme: Scheme, store: ObjectStore): AdmissionCheck {
  return (write) => {
    const { group, plural } = write.ref.definition;
    if (group !== GROUP || write.operation === 'DELETE' || write.subresource !== '' || isMaster(write.user))
      return [];
    if (plural === POLICIES) checkPolicy(write, scheme);
    else if (plural === BINDINGS) checkBinding(write, [scheme, store]);
    return [];
  };
}

function specOf(object: JsonObject | undefined): JsonObject | undefined {
  return objectAt(object, 'spec');
}

function checkPolicy(write: AdmissionWrite, scheme: Scheme): void {
  const kind = objectAt(specOf(write.object), 'paramKind');
  if (kind === undefined || deepEqual(kind, objectAt(specOf(write.old), 'paramKind') ?? null)) return;
  const attributes = { ...resourceOf(kind, scheme), verb: 'get', name: '*', namespace: '*' };
  if (write.can(attributes)) return;
  const kindWords = `(kind=${textAt(kind, 'kind')}, apiVersion=${textAt(kind, 'apiVersion')})`;
  refuse(
    write,
    'paramKind',
    `user ${userText(write.user)} must have "get" permission on all objects of the referenced paramKind ${kindWords}`,
  );
}

function checkBinding(write: AdmissionWrite, [scheme, store]: readonly [Scheme, ObjectStore]): void {
  const [spec, old] = [specOf(write.object), specOf(write.old)];
  const ref = objectAt(spec, 'paramRef');
  const policyName = textAt(spec, 'policyName');
  if (ref === undefined) return;
  if (deepEqual(ref, objectAt(old, 'paramRef') ?? null) && policyName === textAt(old, 'policyName')) return;
  const policy = store.get({ storage: `${POLICIES}.${GROUP}`, namespace: '', name: policyName })?.object;
  const kind = objectAt(specOf(policy), 'paramKind');
  const name = textAt(ref, 'name');
  const verb = name === '' ? 'list' : 'get';
  const resource = kind === undefined ? { group: '*', resource: '*' } : resourceOf(kind, scheme);
  if (write.can({ ...resource, verb, name, namespace: textAt(ref, 'namespace') })) return;
  const lacks = `user ${userText(write.user)} does not have "${verb}" permission`;
  const everywhere = `to determine minimum required permissions and ${lacks} for all groups, versions and resources`;
  if (policy === undefined) refuse(write, 'paramRef', `unable to get policy ${policyName} ${everywhere}`);
  if (kind !== undefined && resource.resource === '*')
    refuse(write, 'paramRef', `unable to resolve paramKind ${kindText(kind)} ${everywhere}`);
  refuse(write, 'paramRef', `${lacks} on the object referenced by paramRef`);
}

/** For an unknown kind the right to all resources is required. */
function resourceOf(kind: JsonObject, scheme: Scheme): Pick<AccessAttributes, 'group' | 'resource'> {
  const { group, version } = groupVersionOf(textAt(kind, 'apiVersion'));
  const found = scheme.kind(group, version, textAt(kind, 'kind'));
  return { group, resource: found?.definition.plural ?? '*' };
}

function refuse({ ref, object }: AdmissionWrite, field: string, why: string): never {
  const name = textAt(objectAt(object, 'metadata'), 'name');
  throw invalid(ref.definition, name, [forbiddenField(`spec.${field}`, why)]);
}

/** As Go prints the values of a pointer's struct. */
function userText({ name, uid = '', groups, extra = {} }: UserInfo): string {
  const more = Object.entries(extra).map(([key, values]) => `${key}:[${values.join(' ')}]`);
  return `&{${name} ${uid} [${groups.join(' ')}] map[${more.join(' ')}]}`;
}

function kindText(kind: JsonObject): string {
  return `&ParamKind{APIVersion:${textAt(kind, 'apiVersion')},Kind:${textAt(kind, 'kind')},}`;
}
