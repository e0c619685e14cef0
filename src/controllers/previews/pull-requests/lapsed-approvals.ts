import type { PullRequest } from '@berth/forge/contract/pull-request-forge';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { PreviewOutcome } from '../../../core/preview/comment/preview-outcome.ts';
import { mergesBetween } from './merge-causes.ts';
import type { LapsedApproval, PreviewMemory } from './preview-memory.ts';
import type { PullRequestPreviewsOptions } from './pull-request-options.ts';

/** A new plan of a pull request. */
interface Replanned {
  readonly pull: Pick<PullRequest, 'number' | 'headCommit' | 'baseBranch'>;
  /** Full id of the tip of the base. */
  readonly base: string;
  readonly outcome: PreviewOutcome;
}

/**
 * The approvals that do not apply to a new plan, because what would be held is another change now. An approval of what
 * is not held any more is not needed, and not named.
 * @param before the memory of the earlier plan
 */
export async function lapsedApprovals(
  options: Pick<PullRequestPreviewsOptions, 'memories' | 'repository'>,
  before: PreviewMemory,
  { pull, base, outcome }: Replanned,
): Promise<readonly LapsedApproval[]> {
  const held = outcome.kind === 'planned' ? heldSubjects(outcome) : undefined;
  const codes = new Set(held?.values());
  const isOpen = (subject: string): boolean => held === undefined || held.has(subject);
  const isApproved = (subject: string): boolean =>
    before.approvals.some(({ token }) => held?.get(subject) === token);
  const earlier = (before.lapsed ?? []).filter(({ of }) => isOpen(of) && !isApproved(of));
  const lost: LapsedApproval[] = [];
  for (const { token, by } of before.approvals) {
    const of = subjectOf(before, token);
    if (codes.has(token) || of === undefined || !isOpen(of)) continue;
    lost.push({ of, by, because: await causeOf(options, before, { pull, base }, of) });
  }
  return [...earlier.filter(({ of }) => !lost.some((one) => one.of === of)), ...lost];
}

/** `grace's approval of team-a/web no longer applies, because #2 moved main.` */
export function lapsedText({ of, by, because }: LapsedApproval): string {
  return `${by}'s approval of ${of} no longer applies, because ${because}.`;
}

/** The codes of what would be held, by placement, or by source with a few words. */
function heldSubjects({ plan }: PreviewOutcome & { readonly kind: 'planned' }): ReadonlyMap<string, string> {
  return new Map([
    ...plan.placements
      .filter(({ held }) => held !== undefined)
      .map((one): [string, string] => [namespacedName(one), one.token]),
    ...plan.deletionsHeld.map(({ source, token }): [string, string] => [deletionsOf(source), token]),
  ]);
}

function subjectOf({ expected, heldDeletions }: PreviewMemory, code: string): string | undefined {
  const source = heldDeletions.find(({ token }) => token === code)?.source;
  return source === undefined
    ? expected.find(({ heldToken }) => heldToken === code)?.placement
    : deletionsOf(source);
}

function deletionsOf(source: string): string {
  return `the deletions of source ${source}`;
}

async function causeOf(
  options: Pick<PullRequestPreviewsOptions, 'memories' | 'repository'>,
  before: PreviewMemory,
  { pull, base }: Omit<Replanned, 'outcome'>,
  subject: string,
): Promise<string> {
  const { number, headCommit, baseBranch } = pull;
  if (before.head !== headCommit) return 'this pull request changed';
  if (before.base === base) return 'the fleet changed on the hub';
  const merges = await mergesBetween(options, { from: before.base, to: base, except: number });
  const cause = merges.find(({ placements }) => placements.includes(subject)) ?? merges[0];
  return cause === undefined
    ? `${baseBranch} moved to ${base.slice(0, 12)}`
    : `#${cause.number} moved ${baseBranch}`;
}
