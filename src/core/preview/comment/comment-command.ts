import { closestName } from '@berth/runtime/text/closest-name';

/** The request of a comment on a pull request. */
export type CommentCommand =
  | { readonly kind: 'plan' }
  | { readonly kind: 'help' }
  /** Without codes: what is held, if it is only one change. */
  | { readonly kind: 'approve'; readonly codes: readonly string[] }
  /** The name of a guard rule, and a reason. Names may contain spaces. */
  | { readonly kind: 'override'; readonly text: string }
  /** A command for Berth that is not valid. */
  | {
      readonly kind: 'unknown';
      /** What its author probably meant, to be typed. */
      readonly meant?: string | undefined;
    };

const VERBS = ['plan', 'approve', 'override', 'help'];
const MAX_CODES = 20;
const CODE = /^[0-9a-f]{12}$/;

/**
 * Reads `/berth plan`, `/berth approve CODE…`, `/berth override RULE REASON` and `/berth help` from the first line of a comment; undefined for any other
 * comment. A quoted command, or one in the middle of a text, does not count: programs quote what others write.
 */
export function commentCommand(text: string): CommentCommand | undefined {
  // Phones write the first letter as a capital.
  const line = /^\/berth(?![^ \t\r\n])[^\r\n]{0,1000}/i.exec(text)?.[0];
  if (line === undefined) return undefined;
  const [, verb = 'help', ...rest] = line.trimEnd().split(/[ \t]+/);
  const found = VERBS.find((one) => one === verb.toLowerCase());
  const meant = found ?? closestName(verb, VERBS);
  const codes = rest.map((word) => word.replace(/^`+|[`,]+$/g, '').toLowerCase());
  switch (meant) {
    case 'approve': {
      const known = codes.filter((code) => CODE.test(code)).slice(0, MAX_CODES);
      if (found === meant && known.length === codes.length) return { kind: 'approve', codes: known };
      return { kind: 'unknown', meant: ['/berth approve', ...known].join(' ') };
    }
    case 'override':
      if (found === meant) return { kind: 'override', text: rest.join(' ') };
      return { kind: 'unknown', meant: ['/berth override', ...rest].join(' ') };
    case 'plan':
    case 'help':
      if (found === meant && rest.length === 0) return { kind: meant };
      return { kind: 'unknown', meant: `/berth ${meant}` };
    default:
      return { kind: 'unknown' };
  }
}
