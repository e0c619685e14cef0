/** The request of a comment on a pull request. */
export type CommentCommand =
  | { readonly kind: 'plan' }
  | { readonly kind: 'approve'; readonly tokens: readonly string[] }
  /** A command for Berth that is not valid. */
  | { readonly kind: 'unknown' };

const MAX_TOKENS = 20;

/**
 * Reads `/berth plan` and `/berth approve TOKEN…` from the first line of a comment; undefined for any other comment. A
 * quoted command, or one in the middle of a text, does not count.
 */
export function commentCommand(text: string): CommentCommand | undefined {
  const [slash, verb, ...rest] = (/^[^\r\n]{0,1000}/.exec(text)?.[0] ?? '').trimEnd().split(/[ \t]+/);
  if (slash !== '/berth') return undefined;
  if (verb === 'plan' && rest.length === 0) return { kind: 'plan' };
  const areTokens = rest.length > 0 && rest.length <= MAX_TOKENS && rest.every((token) => TOKEN.test(token));
  return verb === 'approve' && areTokens ? { kind: 'approve', tokens: rest } : { kind: 'unknown' };
}

const TOKEN = /^[0-9a-f]{12}$/;
