import type { KubeConfig } from '../../../adapters/kube/config/kube-config.ts';
import type { KubeApi, Logger, MonotonicClock, ServerEndpoints } from '../../../core/ports.ts';
import type { ClaimLimits } from '../../../core/registration/agent/cluster-claims.ts';

/** A client of a hub; closed when the agent is done with it. */
export interface HubClient {
  readonly api: KubeApi;
  close(): void;
}

/** How an agent registers its cluster; the same for all agents of a process. */
export interface RegistrationSettings {
  readonly clock: MonotonicClock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** With the variables that name a proxy. */
  readonly env: NodeJS.ProcessEnv;
  /** Makes a client with the credentials of a kubeconfig. */
  readonly connect: (config: KubeConfig) => HubClient;
  /** Life of the certificates that are asked for; undefined: the hub decides. */
  readonly expirationSeconds: number | undefined;
  /** How others reach the API server of the cluster; `caBundle` in base64. */
  readonly clientConfigs: readonly { readonly url: string; readonly caBundle?: string }[];
  /** For the ManagedCluster, at its creation; only those with OCM's prefix for agents count. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly claims: ClaimLimits;
  /** With a list of hubs: one that does not take the lease for so long is left for another. */
  readonly hubTimeoutMs: number;
}

/** The managed cluster as the agent reaches it. */
export type ManagedApi = KubeApi & ServerEndpoints;
