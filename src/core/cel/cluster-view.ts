import type { ManagedCluster } from '../model/managed-cluster.ts';
import { formatQuantity, parseQuantity } from '../model/quantity.ts';
import type { CelJsonMap } from './cel-value.ts';

export interface NamedScore {
  readonly name: string;
  readonly value: number;
}

/** Scores of the cluster's AddOnPlacementScore of that name; undefined when it has none. */
export type ScoresOfCluster = (resourceName: string) => readonly NamedScore[] | undefined;

/** Where `managedCluster.scores(…)` finds them: a symbol, so no expression can see it as a field. */
export const CLUSTER_SCORES = Symbol('scores of the cluster');

/**
 * A ManagedCluster as the scheduler's JSON shows it to expressions: fields that Go always writes are there (null or
 * empty), those it leaves out when empty are not, quantities are in canonical form. Only the top levels are copied.
 */
export function clusterView(cluster: ManagedCluster, scores: ScoresOfCluster): CelJsonMap {
  const { metadata, spec, status, ...rest } = cluster;
  const view = {
    ...withoutEmpty(rest),
    metadata: {
      ...withoutEmpty(metadata as unknown as CelJsonMap),
      creationTimestamp: metadata.creationTimestamp ?? null,
    },
    spec: {
      ...withoutEmpty((spec ?? {}) as CelJsonMap),
      hubAcceptsClient: spec?.hubAcceptsClient ?? false,
      ...(spec?.taints?.length ? { taints: spec.taints.map(taintView) } : {}),
    },
    status: {
      ...withoutEmpty((status ?? {}) as CelJsonMap),
      conditions: status?.conditions ?? null,
      version: withoutEmpty(status?.version ?? {}),
      ...resources('allocatable', status?.allocatable),
      ...resources('capacity', status?.capacity),
    },
  };
  return Object.defineProperty(view, CLUSTER_SCORES, { value: scores, enumerable: false });
}

function taintView(taint: CelJsonMap | object): CelJsonMap {
  return { timeAdded: null, ...withoutEmpty(taint as CelJsonMap) };
}

/** Drops what Go's `omitempty` drops: absent, null, '', 0, false and empty lists and maps. */
function withoutEmpty(object: CelJsonMap): CelJsonMap {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function resources(
  field: 'allocatable' | 'capacity',
  list: Readonly<Record<string, string | number>> | undefined,
): CelJsonMap {
  if (list === undefined || Object.keys(list).length === 0) return {};
  const canonical = Object.entries(list).map(([name, text]) => {
    const quantity = parseQuantity(text);
    return [name, quantity === undefined ? text : formatQuantity(quantity)] as const;
  });
  return { [field]: Object.fromEntries(canonical) };
}
