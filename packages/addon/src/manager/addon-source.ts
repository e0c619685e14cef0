import type { IndexDefinition } from '@berth/kube/cache/object-cache';
import type { Reflector } from '@berth/kube/cache/reflector';
import type { ManagedClusterAddOn, StatusRegistration } from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { Outcome } from '@berth/runtime/outcome';
import type { AddOnHealth, ProbeResult } from '../rules/deployment/addon-health.ts';
import type { RenderedAddOn } from '../rules/deployment/plan-deployment.ts';
import type { AllowedRequest } from '../rules/registration/judge-addon-request.ts';
import type { RegistrationPlan } from '../rules/registration/plan-registration.ts';

/** One add-on on one cluster, as the cache has them: the add-on in v1alpha1. */
export interface ClusterAddOn {
  readonly addon: ManagedClusterAddOn;
  readonly cluster: ManagedCluster;
}

/*
 * What add-ons are made from: AddOnTemplates, or code. The controllers of this folder are the same for both. Whatever a source cannot read
 * or make is a failure that they write into a condition; what is on the hub stays.
 */

interface Source {
  /** Kinds that it reads, beside clusters and add-ons. */
  readonly reads: readonly Reflector[];
  /** Calls back with the keys `CLUSTER/ADDON` of add-ons when what they are made from changes. */
  follow(add: (key: string) => void): void;
  health(addon: ManagedClusterAddOn): AddOnHealth;
}

/** What runs on the clusters. */
export interface DeploymentSource extends Source {
  /** Whether the add-on is made from this source. Others have a manager of their own. */
  isOwn(addon: ManagedClusterAddOn): boolean;
  /** Whether an add-on with a hosting cluster is split between both clusters. */
  isHosted(addon: ManagedClusterAddOn): boolean;
  /** Whether the rollout of its configurations has reached the cluster. Until then it keeps what it has. */
  isDue(addon: ManagedClusterAddOn): boolean;
  /** What add-ons are made from of a cluster, beside whether it is there and available. */
  partsOf(cluster: ManagedCluster): unknown;
  render(of: ClusterAddOn, signal: AbortSignal): Promise<Outcome<RenderedAddOn>>;
  /** Judges what was reported to an add-on with a probe: what is wrong, or undefined. */
  check?(of: ClusterAddOn, results: readonly ProbeResult[], signal: AbortSignal): Promise<string | undefined>;
}

/** What the agents of add-ons may do at the hub. */
export interface RegistrationSource extends Source {
  /** The objects with rights that the source gives, by `CLUSTER/ADDON`. */
  readonly permissions: readonly IndexDefinition[];
  /** What the status says of its registration, and its rights; undefined: that is not decided yet, or it is not made from this source. */
  register(of: ClusterAddOn, signal: AbortSignal): Promise<RegistrationPlan | undefined>;
  /**
   * Where the agent of the add-on runs, and finds what is registered for it; undefined: that is not known. The cluster's agent would
   * request a certificate for another place first if it learned of this later than of what to register.
   */
  installNamespace(of: ClusterAddOn): string | undefined;
  /** What it declares to register; undefined: that is not known. */
  declared(of: ClusterAddOn, signal: AbortSignal): Promise<readonly StatusRegistration[] | undefined>;
  /** Decides about a request instead of the rule. @param request `why`: what the rule has against it */
  approve?(
    of: ClusterAddOn,
    request: AllowedRequest & { readonly why: string | undefined },
    signal: AbortSignal,
  ): Promise<boolean>;
  /** A certificate as PEM, for a signer of the add-on; undefined: it signs none. */
  sign(of: ClusterAddOn, request: AllowedRequest, signal: AbortSignal): Promise<string | undefined>;
}
