/** The request of a comment on a pull request. */
export type CommentCommand =
  | { readonly kind: 'plan' }
  | { readonly kind: 'approve'; readonly codes: readonly string[] }
  /** A command for Berth that is not valid. */
  | { readonly kind: 'unknown' };

const MAX_CODES = 20;

/**
 * Reads `/berth plan` and `/berth approve CODE…` from the first line of a comment; undefined for any other comment. A
 * quoted command, or one in the middle of a text, does not count.
 */
export function commentCommand(text: string): CommentCommand | undefined {
  const [slash, verb, ...rest] = (/^[^\r\n]{0,1000}/.exec(text)?.[0] ?? '').trimEnd().split(/[ \t]+/);
  if (slash !== '/berth') return undefined;
  if (verb === 'plan' && rest.length === 0) return { kind: 'plan' };
  const areCodes = rest.length > 0 && rest.length <= MAX_CODES && rest.every((code) => CODE.test(code));
  return verb === 'approve' && areCodes ? { kind: 'approve', codes: rest } : { kind: 'unknown' };
}

const CODE = /^[0-9a-f]{12}$/;
