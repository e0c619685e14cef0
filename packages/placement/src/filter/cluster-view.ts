import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { formatQuantity, parseQuantity } from '@berth/kube/model/quantity';
import type { CelJsonMap } from '@berth/kube-cel/value/cel-value';

export interface NamedScore {
  readonly name: string;
  readonly value: number;
}

/** Scores of the cluster's AddOnPlacementScore of that name; undefined when it has none. */
export type ScoresOfCluster = (resourceName: string) => readonly NamedScore[] | undefined;

/**
 * Key under which `managedCluster.scores(…)` finds the scores. A symbol, so that no expression can
 * read it as a field.
 */
export const CLUSTER_SCORES = Symbol('scores of the cluster');

/**
 * A ManagedCluster as OCM's scheduler passes it to expressions, in the JSON of its Go type: fields
 * without `omitempty` are present (null or empty), empty fields with it are absent, quantities are
 * in canonical form. Each part is computed when it is first read, because most expressions read one
 * label only.
 */
export function clusterView(cluster: ManagedCluster, scores: ScoresOfCluster): CelJsonMap {
  let metadata: CelJsonMap | undefined;
  let spec: CelJsonMap | undefined;
  let status: CelJsonMap | undefined;
  const view = {
    apiVersion: cluster.apiVersion,
    kind: cluster.kind,
    get metadata() {
      return (metadata ??= metadataView(cluster));
    },
    get spec() {
      return (spec ??= specView(cluster));
    },
    get status() {
      return (status ??= statusView(cluster));
    },
    [CLUSTER_SCORES]: scores,
  };
  return view;
}

function metadataView({ metadata }: ManagedCluster): CelJsonMap {
  const present = withoutEmpty(metadata as unknown as CelJsonMap);
  return Object.hasOwn(present, 'creationTimestamp') ? present : { ...present, creationTimestamp: null };
}

function specView({ spec }: ManagedCluster): CelJsonMap {
  const view = {
    ...withoutEmpty((spec ?? {}) as CelJsonMap),
    hubAcceptsClient: spec?.hubAcceptsClient ?? false,
  };
  return spec?.taints?.length ? { ...view, taints: spec.taints.map(taintView) } : view;
}

function taintView(taint: object): CelJsonMap {
  return { timeAdded: null, ...withoutEmpty(taint as CelJsonMap) };
}

function statusView({ status }: ManagedCluster): CelJsonMap {
  return {
    ...withoutEmpty((status ?? {}) as CelJsonMap),
    conditions: status?.conditions ?? null,
    version: withoutEmpty(status?.version ?? {}),
    ...resources('allocatable', status?.allocatable),
    ...resources('capacity', status?.capacity),
  };
}

/** Drops what Go's `omitempty` drops: absent, null, '', 0, false and empty lists and maps. */
function withoutEmpty(object: CelJsonMap): CelJsonMap {
  const keys = Object.keys(object);
  if (!keys.some((key) => isEmpty(object[key]))) return object;
  return Object.fromEntries(keys.filter((key) => !isEmpty(object[key])).map((key) => [key, object[key]]));
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object') return value === undefined || value === '' || value === 0 || value === false;
  if (value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  for (const _ in value) return false;
  return true;
}

function resources(
  field: 'allocatable' | 'capacity',
  list: Readonly<Record<string, string | number>> | undefined,
): CelJsonMap | undefined {
  if (list === undefined || isEmpty(list)) return undefined;
  const canonical = Object.entries(list).map(([name, text]) => {
    const quantity = parseQuantity(text);
    return [name, quantity === undefined ? text : formatQuantity(quantity)] as const;
  });
  return { [field]: Object.fromEntries(canonical) };
}
