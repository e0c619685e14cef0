import type { KubeConfig } from '@berth/kube/config/kube-config';
import type { KubeApi, ServerEndpoints } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { MonotonicClock } from '@berth/runtime/clock/clock';
import type { AddonDriver } from '../../rules/addons/addon-registrations.ts';
import type { ClaimLimits } from '../../rules/registration/cluster-claims.ts';

/** A client of a hub. The agent closes it when it no longer needs it. */
export interface HubClient {
  readonly api: KubeApi;
  close(): void;
}

/** The settings of registration that all agents of a process share. */
export interface RegistrationSettings {
  readonly clock: MonotonicClock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly log: Logger;
  /** The environment, with the variables that set a proxy. */
  readonly env: NodeJS.ProcessEnv;
  /** Creates a client with the credentials of a kubeconfig. */
  readonly connect: (config: KubeConfig) => HubClient;
  /** The requested lifetime of certificates; undefined: the hub decides. */
  readonly expirationSeconds: number | undefined;
  /** How other clients reach the API server of the cluster; `caBundle` in base64. */
  readonly clientConfigs: readonly { readonly url: string; readonly caBundle?: string }[];
  /** Annotations for a new ManagedCluster. Only those with OCM's prefix for agents count. */
  readonly annotations: Readonly<Record<string, string>>;
  readonly claims: ClaimLimits;
  readonly addons: {
    /** How agents of add-ons authenticate at the hub. */
    readonly driver: AddonDriver;
    /** The requested lifetime of their tokens, with the driver `token`. */
    readonly tokenSeconds: number;
  };
  /** With several hubs: the agent leaves a hub that has not accepted the lease for this long. */
  readonly hubTimeoutMs: number;
}

/** The client of the managed cluster. */
export type ManagedApi = KubeApi & ServerEndpoints;
