/** What a token may be used for: the plugin generator, `/api/v1`, `/metrics`. */
export const TOKEN_SCOPES = ['plugin', 'api', 'metrics'] as const;
export type TokenScope = (typeof TOKEN_SCOPES)[number];

/** Names that a token is bound to. */
export type Bound = ReadonlySet<string> | 'any';

/** What the holder of a token may do. */
export interface TokenGrant {
  /** For logs and metrics; never the token. */
  readonly name: string;
  readonly scopes: ReadonlySet<TokenScope>;
  /** Namespaces of placements that it may read. */
  readonly namespaces: Bound;
  /** A placement that selects a cluster outside of these sets is refused. */
  readonly clusterSets: Bound;
}

export function isBoundTo(bound: Bound, name: string): boolean {
  return bound === 'any' || bound.has(name);
}
