import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from '../../model/quantity.ts';

/** core/v1 Node, as far as it is counted. */
export interface NodeResources {
  readonly spec?: { readonly unschedulable?: boolean | undefined } | undefined;
  readonly status?:
    | { readonly capacity?: ResourceList | undefined; readonly allocatable?: ResourceList | undefined }
    | undefined;
}

export type ResourceList = Readonly<Record<string, string | number>>;

export interface ClusterResources {
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
}

/**
 * What the nodes of a cluster have, and what workloads may use of it: nodes that take no new pods count for the first only. A resource that
 * no node has keeps the value that somebody else reported.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/managedcluster/resource_reconcile.go`.
 */
export function clusterResources(
  nodes: readonly NodeResources[],
  reported: { readonly [Field in keyof ClusterResources]?: ResourceList | undefined },
): ClusterResources {
  const open = nodes.filter(({ spec }) => spec?.unschedulable !== true);
  return {
    capacity: merged(
      nodes.map(({ status }) => status?.capacity),
      reported.capacity,
    ),
    allocatable: merged(
      open.map(({ status }) => status?.allocatable),
      reported.allocatable,
    ),
  };
}

function merged(lists: readonly (ResourceList | undefined)[], reported: ResourceList = {}): ResourceList {
  const result: Record<string, string | number> = { ...reported };
  for (const [name, quantity] of sums(lists)) {
    const before = parseQuantity(reported[name] ?? '');
    // Another spelling of the same amount is no change.
    if (before === undefined || compareQuantities(before, quantity) !== 0)
      result[name] = formatQuantity(quantity);
  }
  return result;
}

/** An amount that cannot be read counts as absent. */
export function sums(lists: readonly (ResourceList | undefined)[]): ReadonlyMap<string, Quantity> {
  const total = new Map<string, Quantity>();
  for (const list of lists)
    for (const [name, value] of Object.entries(list ?? {})) {
      const quantity = parseQuantity(value);
      if (quantity === undefined) continue;
      const before = total.get(name);
      total.set(name, before === undefined ? quantity : addQuantities(before, quantity));
    }
  return total;
}
