import type { KubeObject } from '../../src/core/model/object-meta.ts';

/**
 * The facts about an Argo CD from which its problems are diagnosed. Values of Secrets are decoded.
 */
export interface ArgoFacts {
  readonly namespace: string;
  /** Of the ApplicationSet controller's image, e.g. `v3.2.11`; undefined where it is not found. */
  readonly version: string | undefined;
  readonly applicationSets: readonly KubeObject[];
  /** Those that generators name, by name; undefined for one that does not exist. */
  readonly configMaps: ReadonlyMap<string, Texts | undefined>;
  /** The Secrets that ConfigMaps reference for tokens. */
  readonly secrets: ReadonlyMap<string, ArgoSecret | undefined>;
  readonly clusterSecrets: readonly { readonly name: string; readonly data: Texts }[];
  /** In the namespace of Argo CD. */
  readonly decisions: readonly KubeObject[];
  /** Names of the AppProjects there; undefined where they cannot be listed. */
  readonly projects: ReadonlySet<string> | undefined;
  /** Whether an account may list PlacementDecisions there. */
  readonly mayList: ReadonlyMap<string, boolean>;
  /** Results of probes of endpoints, by name of the ConfigMap; absent if not probed. */
  readonly probes: ReadonlyMap<string, ProbeResult>;
}

export type Texts = Readonly<Record<string, string>>;

export interface ArgoSecret {
  readonly data: Texts;
  readonly labels: Texts;
}

/** The answer of an endpoint, or why there is none: `code` is of Node or OpenSSL, e.g. `ECONNREFUSED`. */
export type ProbeResult =
  | { readonly kind: 'answered'; readonly status: number; readonly message: string }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

/** The name of the account in the API. */
export function accountUser(namespace: string, account: string): string {
  return `system:serviceaccount:${namespace}:${account}`;
}
