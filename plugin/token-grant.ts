/** Endpoints that a token may be used for: that of the plugin generator, `/api/v1` and `/metrics`. */
export const TOKEN_SCOPES = ['plugin', 'api', 'metrics'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** The names to which a token is restricted; `any`: it is not restricted. */
export type NameRestriction = ReadonlySet<string> | 'any';

/** The permissions of a token. */
export interface TokenGrant {
  /** Name of the token in logs and metrics. It is not secret. */
  readonly name: string;
  readonly scopes: ReadonlySet<TokenScope>;
  /** Namespaces whose placements the token may read. */
  readonly namespaces: NameRestriction;
  /** The token may read a placement only if all of its decided clusters are in these cluster sets. */
  readonly clusterSets: NameRestriction;
}

/** Whether the restriction allows the name. */
export function isBoundTo(bound: NameRestriction, name: string): boolean {
  return bound === 'any' || bound.has(name);
}
