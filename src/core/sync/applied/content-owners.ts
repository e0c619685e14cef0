import type { KubeObject } from '@berth/kube/model/object-meta';
import { isFromGit } from './field-manager.ts';
import { type Fields, type ManagedFields, managedFieldsOf } from './manager-fields.ts';

/** Fields that are no content: the identity, and what the hub and the controllers of the kind report. */
const NO_CONTENT = new Set(['f:apiVersion', 'f:kind', 'f:metadata', 'f:status']);

/** Fields of a ManagedCluster that the agent and the hub write, of every cluster. */
const WRITTEN_BY_REGISTRATION = new Set(['f:taints', 'f:managedClusterClientConfigs']);

/**
 * Managers that declare the content of an object as Git does: they own a field of it that Git owns, too. A manager that
 * only changed other fields, such as an autoscaler, does not declare the object. Of a ManagedCluster of which Git
 * declares labels and taints alone, the owner of the rest counts.
 */
export function ownersBesideGit(live: KubeObject): readonly string[] {
  const entries = managedFieldsOf(live).filter(({ subresource = '' }) => subresource === '');
  const own = entries.filter(isFromGit).map((entry) => contentOf(live, entry));
  const isBare = live.kind === 'ManagedCluster' && own.every((fields) => Object.keys(fields).length === 0);
  const owners = entries
    .filter((entry) => !isFromGit(entry))
    .filter((entry) => {
      const fields = contentOf(live, entry);
      return isBare ? Object.keys(fields).length > 0 : own.some((ofGit) => haveCommonField(ofGit, fields));
    });
  return [...new Set(owners.map(({ manager = 'unknown' }) => manager))].sort();
}

/** Whether a manager other than Git's owns a field of the content. */
export function hasContentOfOthers(live: KubeObject): boolean {
  return managedFieldsOf(live).some(
    (entry) =>
      (entry.subresource ?? '') === '' && !isFromGit(entry) && Object.keys(contentOf(live, entry)).length > 0,
  );
}

function contentOf({ kind }: KubeObject, { fieldsV1 = {} }: ManagedFields): Fields {
  const content = Object.entries(fieldsV1).filter(([name]) => !NO_CONTENT.has(name));
  if (kind !== 'ManagedCluster') return Object.fromEntries(content);
  const spec = Object.entries(fieldsV1['f:spec'] ?? {}).filter(
    ([name]) => name !== '.' && !WRITTEN_BY_REGISTRATION.has(name),
  );
  return spec.length === 0 ? {} : { 'f:spec': Object.fromEntries(spec) };
}

function haveCommonField(a: Fields, b: Fields): boolean {
  return Object.entries(a).some(([name, below = {}]) => {
    const other = b[name];
    if (name === '.' || other === undefined) return false;
    // Without parts, it is a value, or an object that was empty: then its later fields belong to others.
    const [isLeaf, isLeafOfOther] = [below, other].map((tree) => Object.keys(tree).length === 0);
    return isLeaf === true ? isLeafOfOther === true : haveCommonField(below, other);
  });
}
