import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
} from '@berth/kube/model/quantity';

/** The fields of a core/v1 Node that are counted. */
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
 * The capacity of the nodes, and the part that workloads may use. Nodes that accept no new pods count only for the
 * capacity. A resource that no node has keeps the value that another program reported.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/managedcluster/resource_reconcile.go`.
 */
export function clusterResources(
  nodes: readonly NodeResources[],
  reported: { readonly [Field in keyof ClusterResources]?: ResourceList | undefined },
): ClusterResources {
  const schedulable = nodes.filter(({ spec }) => spec?.unschedulable !== true);
  return {
    capacity: merged(
      nodes.map(({ status }) => status?.capacity),
      reported.capacity,
    ),
    allocatable: merged(
      schedulable.map(({ status }) => status?.allocatable),
      reported.allocatable,
    ),
  };
}

function merged(lists: readonly (ResourceList | undefined)[], reported: ResourceList = {}): ResourceList {
  const result: Record<string, string | number> = { ...reported };
  for (const [name, quantity] of sums(lists)) {
    const before = parseQuantity(reported[name] ?? '');
    // Another notation of the same amount is not a change.
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
