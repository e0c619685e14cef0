/** Endpoints that a token may be used for: that of the plugin generator, that of Argo CD's pages, `/api/v1` and `/metrics`. */
export const TOKEN_SCOPES = ['plugin', 'extension', 'api', 'metrics'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** The names to which a request is restricted; `any`: it is not restricted. */
export type NameRestriction = ReadonlySet<string> | 'any';

/** What may be read. */
export interface Binding {
  /** Namespaces whose placements may be read. */
  readonly namespaces: NameRestriction;
  /** A placement may be read only if all of its decided clusters are in these cluster sets. */
  readonly clusterSets: NameRestriction;
}

/** The permissions of a token. */
export interface TokenGrant extends Binding {
  /** Name of the token in logs and metrics. It is not secret. */
  readonly name: string;
  readonly scopes: ReadonlySet<TokenScope>;
}

/** Whether the restriction allows the name. */
export function isBoundTo(bound: NameRestriction, name: string): boolean {
  return bound === 'any' || bound.has(name);
}

/** Prefix of the public values that the shipped manifests ask to replace. */
const PLACEHOLDER = /^REPLACE-WITH-/i;

/** Whether the token is the unchanged value of a shipped manifest. */
export function isPlaceholder(token: string): boolean {
  return PLACEHOLDER.test(token);
}
