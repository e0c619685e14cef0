import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Placement, PrioritizerConfig } from '@berth/ocm/kind/placement';

/**
 * The defaults of OCM's custom resource definitions that change a decision: a hub fills them in on write, so a plan from
 * Git must too. Defaults that mean the same as an absent field are not added.
 */
export function defaultPlacement(placement: Placement): Placement {
  const policy = placement.spec?.prioritizerPolicy;
  if (policy?.configurations === undefined) return placement;
  let defaulted = DEFAULTED.get(placement);
  if (defaulted === undefined) {
    const configurations = policy.configurations.map(defaultedConfig);
    defaulted = {
      ...placement,
      spec: { ...placement.spec, prioritizerPolicy: { ...policy, configurations } },
    };
    DEFAULTED.set(placement, defaulted);
  }
  return defaulted;
}

/** The same placement is the same object in each plan, so that it is not decided again. */
const DEFAULTED = new WeakMap<Placement, Placement>();

function defaultedConfig(config: PrioritizerConfig): PrioritizerConfig {
  const { scoreCoordinate } = config;
  return {
    ...config,
    weight: config.weight ?? 1,
    scoreCoordinate: scoreCoordinate && { ...scoreCoordinate, type: scoreCoordinate.type ?? 'BuiltIn' },
  };
}

/** A hub stamps a taint when it is added; one that is in Git without a time counts as added at `now`. */
export function stampTaintTimes(cluster: ManagedCluster, now: string): ManagedCluster {
  const taints = cluster.spec?.taints;
  if (taints === undefined || taints.every((taint) => taint.timeAdded != null)) return cluster;
  const stamped = taints.map((taint) => (taint.timeAdded == null ? { ...taint, timeAdded: now } : taint));
  return { ...cluster, spec: { ...cluster.spec, taints: stamped } };
}
