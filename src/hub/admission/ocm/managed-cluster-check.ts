import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { isObject, listAt, objectAt, textAt } from '../../json/json-value.ts';
import { badRequest, forbidden, invalid } from '../../wire/status-errors.ts';
import type { AdmissionWrite } from '../../write/write-request.ts';
import { invalidValue } from '../../schema/field-problems.ts';
import { dnsLabel } from '../../../core/model/selector/name-rules.ts';

const SET_LABEL = 'cluster.open-cluster-management.io/clusterset';
const CLUSTER_GROUP = 'cluster.open-cluster-management.io';
const REGISTER_GROUP = 'register.open-cluster-management.io';

/** Name, addresses, the right to accept a cluster, the right to move it between sets. */
export function reviewManagedCluster(write: AdmissionWrite): readonly string[] {
  const { object, old, ref } = write;
  const name = textAt(objectAt(object, 'metadata'), 'name');
  const problems = dnsLabel(name).map((problem) => invalidValue('metadata.name', name, problem));
  if (problems.length > 0) throw invalid(ref.definition, name, problems);
  for (const config of listAt(objectAt(object, 'spec'), 'managedClusterClientConfigs')) refuseBadUrl(config);
  const accepted = (one: JsonObject | undefined): boolean =>
    objectAt(one, 'spec')?.['hubAcceptsClient'] === true;
  if (accepted(object) && !accepted(old)) requireAcceptRight(write, name);
  requireJoinRights(write);
  return [];
}

function refuseBadUrl(config: JsonValue): void {
  const url = isObject(config) ? textAt(config, 'url') : '';
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
    throw badRequest(`url "${url}" is invalid in client configs`);
}

function requireAcceptRight(write: AdmissionWrite, name: string): void {
  const question = {
    verb: 'update',
    group: REGISTER_GROUP,
    resource: 'managedclusters',
    subresource: 'accept',
    name,
  };
  if (write.can(question)) return;
  throw forbidden(
    write.ref.definition,
    name,
    `user "${write.user.name}" cannot update the HubAcceptsClient field`,
  );
}

/** Leaving a set and entering one both need the right to join it. */
function requireJoinRights(write: AdmissionWrite): void {
  const setOf = (one: JsonObject | undefined): string =>
    textAt(objectAt(objectAt(one, 'metadata'), 'labels'), SET_LABEL);
  const [before, after] = [setOf(write.old), setOf(write.object)];
  if (before === after) return;
  for (const set of [before, after]) {
    const question = {
      verb: 'create',
      group: CLUSTER_GROUP,
      resource: 'managedclustersets',
      subresource: 'join',
      name: set,
    };
    if (set === '' || write.can(question)) continue;
    const name = textAt(objectAt(write.object, 'metadata'), 'name');
    throw forbidden(
      write.ref.definition,
      name,
      `user "${write.user.name}" cannot add/remove a ManagedCluster to/from ManagedClusterSet "${set}"`,
    );
  }
}

/**
 * The time of a taint is the server's: new and changed taints get it now, whatever a creation says. An update must send unchanged taints
 * with their time, and all others without one.
 * Source: open-cluster-management.io/ocm `pkg/registration/webhook/v1/managedcluster_mutating.go`, processTaints.
 */
export function stampTaints(write: AdmissionWrite, now: string): JsonObject {
  const spec = objectAt(write.object, 'spec');
  if (spec === undefined || !Array.isArray(spec['taints'])) return write.object;
  const before = listAt(objectAt(write.old, 'spec'), 'taints').filter(isObject);
  const refused: string[] = [];
  const taints = spec['taints'].map((taint) => {
    if (!isObject(taint)) return taint;
    const known = before.find((one) => one['key'] === taint['key']);
    const same =
      known !== undefined && known['value'] === taint['value'] && known['effect'] === taint['effect'];
    if (write.operation === 'CREATE') return { ...taint, timeAdded: now };
    const time = same ? textAt(known, 'timeAdded') : '';
    if (textAt(taint, 'timeAdded') !== time) refused.push(textAt(taint, 'key'));
    return same ? taint : { ...taint, timeAdded: now };
  });
  if (refused.length > 0)
    throw badRequest(`It is not allowed to set TimeAdded of Taint "${refused.join(',')}".`);
  return { ...write.object, spec: { ...spec, taints } };
}
