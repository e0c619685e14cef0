import { names } from './comment-blocks.ts';
import { code, prose } from './foreign-text.ts';

/* What Berth answers to commands in comments. Each answer says what happened, or what to type. All are Markdown. */

/** A change that is held, or would be. */
export interface HeldChange {
  /** Approves exactly this change. */
  readonly token: string;
  readonly what:
    | {
        /** `namespace/name` */
        readonly placement: string;
        readonly before: readonly string[];
        /** Undefined: unknown. */
        readonly after: readonly string[] | undefined;
      }
    /** The source whose deletions are held. */
    | { readonly deletionsOf: string }
    /** The clusters that would lose an add-on. */
    | { readonly addOn: string; readonly leaving: readonly string[] };
}

const MAX_CHANGES = 10;
const MAX_NAMES = 5;

export const HELP = `Berth reads the first line of a comment by an account that may write to this repository.

| comment | |
|---|---|
| \`/berth plan\` | plans again; also plans a fork or a draft that the settings exclude |
| \`/berth approve CODE\` | approves what would be held, by the code in the comment; without a code, if it is only one change |
| \`/berth override RULE REASON\` | an owner that the rule names lets this change pass |
| \`/berth help\` | shows this table |`;

export function unknownCommand(meant: string | undefined): string {
  return meant === undefined
    ? `Berth does not know this command.\n\n${HELP}`
    : `Berth does not know this command. Did you mean ${code(meant)}?`;
}

export function stranger(account: string): string {
  return `${code(account)} may not write to this repository, so Berth does not do this. Somebody who may write can send the same comment.`;
}

export function approved(changes: readonly HeldChange[], isMerged: boolean): string {
  const lines = changes.slice(0, MAX_CHANGES).map((change) => `- ${changeText(change)}`);
  if (changes.length > lines.length) lines.push(`- … and ${changes.length - lines.length} more`);
  return `Approved. Berth does this ${isMerged ? 'now' : 'after the merge'}:\n\n${lines.join('\n')}`;
}

/** Why codes approve nothing, and which code does. */
export function notApproved(
  codes: readonly string[],
  { past, ...holds }: Holds & { readonly past: readonly string[] },
): string {
  const [first] = codes.filter((one) => past.includes(one));
  const why =
    first === undefined
      ? `${codes.map(code).join(', ')} ${codes.length === 1 ? 'is not the approval code' : 'are not the approval codes'} of a change that ${holds.isMerged ? 'is held' : 'this plan would hold'}.`
      : `${code(first)} is the code of an earlier plan. What would be held is another change now.`;
  return `Not approved: ${why} ${whatToType(holds)}`;
}

interface Holds {
  readonly held: readonly HeldChange[];
  readonly isMerged: boolean;
  /** The code that approves all of it. Absent if nothing is held. */
  readonly all: string | undefined;
}

/** For an approval without a code: nothing is held, or more than one change is. */
export function noCode(holds: Holds): string {
  return holds.held.length === 0
    ? whatToType(holds)
    : `Not approved: more than one change is held. ${whatToType(holds)}`;
}

function whatToType({ held, isMerged, all }: Holds): string {
  const [only, ...more] = held;
  if (only === undefined || all === undefined)
    return isMerged ? 'Nothing is held.' : 'This plan would hold nothing.';
  if (more.length === 0)
    return `To approve that ${changeText(only)}, write ${code(`/berth approve ${only.token}`)}.`;
  const lines = held.slice(0, MAX_CHANGES).map((change) => `- ${changeText(change)}`);
  if (held.length > lines.length) lines.push(`- … and ${held.length - lines.length} more`);
  return `To approve all of these, write ${code(`/berth approve ${all}`)}:\n\n${lines.join('\n')}`;
}

/** `team-a/web leaves c1 and joins c2` */
function changeText({ what }: HeldChange): string {
  if ('deletionsOf' in what) return `the deletions of source ${code(what.deletionsOf)} are made`;
  if ('addOn' in what) return `add-on ${code(what.addOn)} leaves ${names(what.leaving, MAX_NAMES)}`;
  const { placement, before, after } = what;
  if (after === undefined) return `the held change of ${code(placement)} is made`;
  return `${code(placement)} ${movesText(before, after)}`;
}

/** `leaves c1 and joins c2`; `stays on c1` where nothing moves. */
function movesText(before: readonly string[], after: readonly string[]): string {
  const removed = before.filter((name) => !after.includes(name));
  const added = after.filter((name) => !before.includes(name));
  const moves = [
    ...(removed.length === 0 ? [] : [`leaves ${names(removed, MAX_NAMES)}`]),
    ...(added.length === 0 ? [] : [`joins ${names(added, MAX_NAMES)}`]),
  ];
  return moves.length === 0 ? `stays on ${names(before, MAX_NAMES)}` : moves.join(' and ');
}

export function overrode(rule: string, reason: string): string {
  return `Rule ${code(rule)} is overridden for exactly this change. Recorded reason: ${prose(reason)}`;
}

/** Which rules can be overridden, and how. */
export function whichRule(rules: readonly { readonly name: string }[]): string {
  if (rules.length === 0) return 'No guard rule denies this change.';
  const commands = rules.slice(0, MAX_CHANGES).map(({ name }) => code(`/berth override ${name} REASON`));
  return `Which rule? Write ${commands.join(' or ')}.`;
}

export function noReason(rule: string): string {
  return `Say why: write ${code(`/berth override ${rule} REASON`)}.`;
}

export function noOwner(rule: string, owners: readonly string[]): string {
  if (owners.length === 0)
    return `Rule ${code(rule)} names no owners, so nobody can override it. Change this pull request, or the rule.`;
  return `Only an owner of rule ${code(rule)} can override it: ${owners.map(code).join(', ')}.`;
}
