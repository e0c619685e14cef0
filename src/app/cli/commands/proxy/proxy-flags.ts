import type { HubFlags } from '../../flags/hub-flags.ts';
import type { LogFlags } from '../../flags/log-flags.ts';

/* What the flags of each command become. Apart from the command, whose action loads what uses them. */

/** Flags of `berth proxy serve`. */
export interface ServeFlags extends HubFlags, LogFlags {
  readonly listen: string;
  readonly agentListen: string;
  readonly publicUrl?: string;
  readonly agentAddress?: string;
  readonly namespace: string;
  readonly image?: string;
  readonly replicas: string;
}

/** Flags of `berth proxy agent`. */
export interface AgentFlags extends HubFlags, LogFlags {
  readonly namespace: string;
}

/** Flags of the commands for people: where the user server is, and who they are. */
export interface UserFlags extends HubFlags {
  readonly namespace: string;
  readonly server?: string;
  readonly certificateAuthority?: string;
  readonly serviceAccount?: string;
  readonly duration: string;
}

export interface ClusterFlags extends UserFlags {
  readonly cluster: string;
}

/** Flags of `berth proxy forward`; `namespace` is that of the user server's ConfigMap. */
export interface ForwardFlags extends ClusterFlags {
  readonly listen: string;
  readonly protocol: string;
}

export interface HealthFlags extends UserFlags {
  readonly clusters?: string;
  readonly allowedIn: string;
}
