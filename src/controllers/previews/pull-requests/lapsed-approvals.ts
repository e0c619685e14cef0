import type { PullRequest } from '@berth/forge/contract/pull-request-forge';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { PreviewOutcome } from '../../../core/preview/comment/preview-outcome.ts';
import type { DeniedChange } from '../../../core/preview/rules/override-rules.ts';
import { mergesBetween } from './merge-causes.ts';
import type { LapsedApproval, PreviewMemory } from './preview-memory.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';

/** A new plan of a pull request. */
interface Replanned {
  readonly pull: Pick<PullRequest, 'number' | 'headCommit' | 'baseBranch'>;
  /** Full id of the tip of the base. */
  readonly base: string;
  readonly outcome: PreviewOutcome;
  /** What guard rules deny; undefined without a plan. */
  readonly denied: DeniedChange | undefined;
}

/**
 * The approvals that do not apply to a new plan, because what would be held is another change now. An approval of what
 * is not held any more is not needed, and not named.
 * @param before the memory of the earlier plan
 */
export async function lapsedApprovals(
  options: Pick<PullRequestPreviewsOptions, 'memories' | 'repository'>,
  before: PreviewMemory,
  { pull, base, outcome, denied }: Replanned,
): Promise<readonly LapsedApproval[]> {
  const held = outcome.kind === 'planned' ? stoppedSubjects(outcome, denied) : undefined;
  const given = [
    ...before.approvals.map(({ token, by }) => ({ token, by, of: subjectOf(before, token) })),
    ...(before.overrides ?? []).map(({ change, by, rule }) => ({ token: change, by, of: overrideOf(rule) })),
  ];
  const codes = new Set(held?.values());
  const isOpen = (subject: string): boolean => held === undefined || held.has(subject);
  const isApproved = (subject: string): boolean => given.some(({ token }) => held?.get(subject) === token);
  const earlier = (before.lapsed ?? []).filter(({ of }) => isOpen(of) && !isApproved(of));
  const lost: LapsedApproval[] = [];
  for (const { token, by, of } of given) {
    if (codes.has(token) || of === undefined || !isOpen(of)) continue;
    lost.push({ of, by, because: await causeOf(options, before, { pull, base }, of) });
  }
  return [...earlier.filter(({ of }) => !lost.some((one) => one.of === of)), ...lost];
}

/** `grace's approval of team-a/web no longer applies, because #2 moved main.` */
export function lapsedText({ of, by, because }: LapsedApproval): string {
  return `${by}'s ${of} no longer applies, because ${because}.`;
}

/** What identifies each approval that the plan needs, by the words for it. */
function stoppedSubjects(
  { plan }: PreviewOutcome & { readonly kind: 'planned' },
  denied: DeniedChange | undefined,
): ReadonlyMap<string, string> {
  return new Map([
    ...(denied?.rules ?? []).map(({ name }): [string, string] => [overrideOf(name), denied?.change ?? '']),
    ...plan.placements
      .filter(({ held }) => held !== undefined)
      .map((one): [string, string] => [approvalOf(namespacedName(one)), one.token]),
    ...plan.deletionsHeld.map(({ source, token }): [string, string] => [deletionsOf(source), token]),
    ...plan.addOnsHeld.map(({ addOn, token }): [string, string] => [addOnOf(addOn), token]),
  ]);
}

function subjectOf(
  { expected, heldDeletions, addOns = [] }: PreviewMemory,
  code: string,
): string | undefined {
  const source = heldDeletions.find(({ token }) => token === code)?.source;
  if (source !== undefined) return deletionsOf(source);
  const addOn = addOns.find(({ heldToken }) => heldToken === code);
  if (addOn !== undefined) return addOnOf(addOn.addOn);
  const found = expected.find(({ heldToken }) => heldToken === code);
  return found && approvalOf(found.placement);
}

function approvalOf(placement: string): string {
  return `approval of ${placement}`;
}

function deletionsOf(source: string): string {
  return `approval of the deletions of source ${source}`;
}

function addOnOf(addOn: string): string {
  return `approval of the removal of add-on ${addOn}`;
}

function overrideOf(rule: string): string {
  return `override of rule ${rule}`;
}

async function causeOf(
  options: Pick<PullRequestPreviewsOptions, 'memories' | 'repository'>,
  before: PreviewMemory,
  { pull, base }: Pick<Replanned, 'pull' | 'base'>,
  subject: string,
): Promise<string> {
  const { number, headCommit, baseBranch } = pull;
  if (before.head !== headCommit) return 'this pull request changed';
  if (before.base === base) return 'the fleet changed on the hub';
  const merges = await mergesBetween(options, { from: before.base, to: base, except: number });
  const cause =
    merges.find(({ placements }) => placements.some((one) => subject === approvalOf(one))) ?? merges[0];
  return cause === undefined
    ? `${baseBranch} moved to ${base.slice(0, 12)}`
    : `#${cause.number} moved ${baseBranch}`;
}
