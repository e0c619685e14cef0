import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { hasTakenFields } from './adoption.ts';
import { gitTaints } from './cluster-taints.ts';
import { hasContentOfOthers } from './content-owners.ts';
import { FIELD_MANAGER, isFromGit, WITHDRAWN_MANAGER } from './field-manager.ts';
import { type Fields, managedFieldsOf, managerApplies } from './manager-fields.ts';
import { withoutOwned } from './without-owned.ts';

/** How Git's fields are taken off an object that stays. */
export interface Withdrawal {
  /**
   * Content that must stay although only Git owns it. It is applied by another manager first; then Git's manager applies
   * nothing. Undefined: none.
   */
  readonly kept: KubeObject | undefined;
  /** The object as it will be. */
  readonly after: KubeObject;
}

/**
 * Plans that Git's manager applies nothing any more. What it added goes; what another manager owns, too, stays. Three
 * things stay although only Git owns them, because they would be lost rather than restored: whether the hub accepts a
 * cluster, with its lease; taints of others, which Git had to send with its own; and the content of an object of
 * which nobody else owns any, or of which Git took fields of others. Without it a work would remove its workloads.
 */
export function planWithdrawal(live: KubeObject): Withdrawal {
  const own = managerApplies(live, FIELD_MANAGER) ?? {};
  const others = managedFieldsOf(live)
    .filter((entry) => !isFromGit(entry))
    .map(({ fieldsV1 = {} }) => fieldsV1);
  if (live.kind === 'ManagedCluster') {
    const spec = keptOfCluster(live as unknown as ManagedCluster, {
      own: own['f:spec'] ?? {},
      // A withdrawal that was interrupted, or an earlier one: its manager must go on applying what it owns.
      kept: managerApplies(live, WITHDRAWN_MANAGER)?.['f:spec'] ?? {},
    });
    const handedOver = { ...live, spec: { ...(live['spec'] as object | undefined), ...spec } };
    const { 'f:spec': ofSpec = {}, ...rest } = own;
    const lost = withoutNames(ofSpec, spec);
    // An empty tree would be the whole spec.
    const leaving = Object.keys(lost).length === 0 ? rest : { ...rest, 'f:spec': lost };
    const after = withoutOwned(handedOver, leaving, others) as KubeObject;
    return { kept: Object.keys(spec).length === 0 ? undefined : { ...headOf(live), spec }, after };
  }
  const content = hasContentOfOthers(live) && !hasTakenFields(live) ? {} : contentOf(live);
  const after = withoutOwned(live, withoutNames(own, content), others) as KubeObject;
  return { kept: Object.keys(content).length === 0 ? undefined : { ...headOf(live), ...content }, after };
}

type Content = Readonly<Record<string, unknown>>;

function keptOfCluster(
  { spec = {}, ...cluster }: ManagedCluster,
  { own, kept }: { readonly own: Fields; readonly kept: Fields },
): Content {
  const ownsTaints = own['f:taints'] !== undefined;
  const ofGit = gitTaints({ ...cluster, spec }, ownsTaints);
  const taints = (spec.taints ?? []).filter((taint) => !ofGit.includes(taint));
  // Who wrote the list last owns all of it: registration may own taints of Git, and Git those of registration.
  const mustWriteTaints = ownsTaints ? taints.length > 0 : ofGit.length > 0 || kept['f:taints'] !== undefined;
  const stays = (name: string): boolean => (own[`f:${name}`] ?? kept[`f:${name}`]) !== undefined;
  return {
    ...(stays('hubAcceptsClient') && { hubAcceptsClient: spec.hubAcceptsClient }),
    ...(stays('leaseDurationSeconds') && { leaseDurationSeconds: spec.leaseDurationSeconds }),
    ...(mustWriteTaints && { taints }),
  };
}

function contentOf(live: KubeObject): Content {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, status: _status, ...content } = live;
  return content;
}

/** An apply with the uid creates nothing, if the object is gone meanwhile. */
export function headOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid } = metadata;
  return { apiVersion, kind, metadata: { name, ...(namespace !== undefined && { namespace }), uid } };
}

/** The tree without the fields that get another owner. */
function withoutNames(own: Fields, given: Content): Fields {
  return Object.fromEntries(Object.entries(own).filter(([name]) => !Object.hasOwn(given, name.slice(2))));
}
