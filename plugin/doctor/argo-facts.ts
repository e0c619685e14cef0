import type { KubeObject } from '@berth/kube/model/object-meta';

/**
 * The facts about an Argo CD from which its problems are diagnosed. Values of Secrets are decoded.
 */
export interface ArgoFacts {
  readonly namespace: string;
  /** The version in the images of Argo CD, e.g. `v3.6.1`; undefined if it was not found. */
  readonly version: string | undefined;
  readonly applicationSets: readonly KubeObject[];
  /** By name: the ConfigMaps that generators refer to; undefined for one that does not exist. */
  readonly configMaps: ReadonlyMap<string, Texts | undefined>;
  /** The Secrets that ConfigMaps reference for tokens. */
  readonly secrets: ReadonlyMap<string, ArgoSecret | undefined>;
  readonly clusterSecrets: readonly { readonly name: string; readonly data: Texts }[];
  /** Those in the namespace of Argo CD. */
  readonly decisions: readonly KubeObject[];
  /** Names of the AppProjects there; undefined if they cannot be listed. */
  readonly projects: ReadonlySet<string> | undefined;
  /** Whether each account may list PlacementDecisions there. */
  readonly mayList: ReadonlyMap<string, boolean>;
  /** Results of probes of endpoints, by name of the ConfigMap; absent if not probed. */
  readonly probes: ReadonlyMap<string, ProbeResult>;
}

export type Texts = Readonly<Record<string, string>>;

export interface ArgoSecret {
  readonly data: Texts;
  readonly labels: Texts;
}

/** The response of an endpoint, or why there is none: `code` comes from Node.js or OpenSSL, e.g. `ECONNREFUSED`. */
export type ProbeResult =
  | { readonly kind: 'answered'; readonly status: number; readonly message: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** The user name of the account in the API. */
export function accountUser(namespace: string, account: string): string {
  return `system:serviceaccount:${namespace}:${account}`;
}
