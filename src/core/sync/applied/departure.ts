import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { isLive } from '../../registration/health/is-live.ts';
import { isAdopted } from './adoption.ts';
import {
  isFromGit,
  type ManagedFields,
  type ManagedFieldSet as Fields,
  managedFieldsOf,
} from './field-names.ts';

/**
 * `disabled` keeps an object on the hub when it is removed from Git; `enabled` deletes an object that otherwise stays.
 */
export const PRUNE_ANNOTATION = 'berth.dev/prune';

/** Kinds that are kept by default, because deleting them deletes objects of others. */
const KEPT_BY_DEFAULT = new Set(['Namespace', 'CustomResourceDefinition']);

/** What happens to an object on the hub that leaves Git. */
export type Departure =
  | { readonly kind: 'deleted' }
  /** It stays as it is, and stays a member of its source. */
  | { readonly kind: 'kept' }
  /** It stays without what Git applied, and is no member any more. `because` goes on after the name of the object. */
  | { readonly kind: 'withdrawn'; readonly because: string };

/**
 * Decides by the live object alone, so that the controller and a plan on the hub decide the same. Git deletes what Git
 * made. What was there before, what others declare too, and a cluster whose agent works are more than Git's: only
 * `berth.dev/prune: enabled` deletes them.
 */
export function departureOf(live: KubeObject): Departure {
  const asked = live.metadata.annotations?.[PRUNE_ANNOTATION];
  // For an unknown value the object is kept.
  if (asked !== undefined) return { kind: asked === 'enabled' ? 'deleted' : 'kept' };
  const because = reasonToStay(live);
  if (because !== undefined) return { kind: 'withdrawn', because };
  return { kind: KEPT_BY_DEFAULT.has(live.kind) ? 'kept' : 'deleted' };
}

/** An object that stays on the hub when it leaves Git, without what Git applied. */
export interface WithdrawnObject {
  readonly object: KubeObject;
  /** See `Departure`. */
  readonly because: string;
}

/** What leaves the hub or the source, of the members that the source no longer declares. */
export interface Departures {
  readonly deleted: readonly KubeObject[];
  readonly withdrawn: readonly WithdrawnObject[];
}

/** Objects that are kept, or that are being deleted already, are in neither list. */
export function departuresOf(undeclared: readonly KubeObject[]): Departures {
  const deleted: KubeObject[] = [];
  const withdrawn: WithdrawnObject[] = [];
  for (const object of undeclared) {
    if (object.metadata.deletionTimestamp !== undefined) continue;
    const departure = departureOf(object);
    if (departure.kind === 'deleted') deleted.push(object);
    if (departure.kind === 'withdrawn') withdrawn.push({ object, because: departure.because });
  }
  return { deleted, withdrawn };
}

function reasonToStay(live: KubeObject): string | undefined {
  if (live.kind === 'ManagedCluster' && isLive(live as unknown as ManagedCluster))
    return 'is registered, and its agent works';
  if (isAdopted(live)) return 'was on the hub before Git declared it';
  const owners = ownersBesideGit(live);
  return owners.length === 0 ? undefined : `belongs to ${owners.join(', ')}, too`;
}

/** Fields that are no content: the identity, and what the hub and the controllers of the kind report. */
const NO_CONTENT = new Set(['f:apiVersion', 'f:kind', 'f:metadata', 'f:status']);

/** Fields of a ManagedCluster that the agent and the hub write, of every cluster. */
const WRITTEN_BY_REGISTRATION = new Set(['f:taints', 'f:managedClusterClientConfigs']);

/**
 * Managers that declare the content of an object as Git does: they own a field of it that Git owns, too. A manager that
 * only changed other fields, such as an autoscaler, does not declare the object. Of a ManagedCluster of which Git
 * declares labels and taints alone, the owner of the rest counts.
 */
function ownersBesideGit(live: KubeObject): readonly string[] {
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
