import { formatNameList } from '@berth/runtime/text/name-list';
import { type RemovalBudget, removalLimit } from '../publish/judge/removal-budget.ts';
import type { Digest } from '../publish/approval/plan-token.ts';
import type { DeletionLoss } from './deletion-loss.ts';
import { durationText } from './duration-text.ts';
import { type EarlierLosses, sumEarlierLosses } from './loss-window.ts';
import { objectMark } from './object-mark.ts';

export interface LossRules {
  /** The budget of holders without one of their own. */
  readonly budget: RemovalBudget;
  readonly earlierLosses?: EarlierLosses | undefined;
  readonly digest: Digest;
}

const NOTHING_EARLIER: EarlierLosses = { losses: [], windowMs: 0 };
/** Losses that a message names; the others are counted. */
const MAX_NAMED = 3;

/** Losses that are not allowed. */
export interface RefusedLosses {
  /** What is lost, for a message. */
  readonly text: string;
  /** The objects that would lose it, such as `Placement team-a/web`. */
  readonly holders: readonly string[];
}

/**
 * The losses that are not allowed: more clusters or works of one holder than its budget allows, or any loss of a
 * placement that is held. Losses of the holder within the window are added, both to the loss and to the total that the
 * budget is a share of.
 * @returns undefined if every loss is allowed
 */
export function judgeLosses(
  losses: readonly DeletionLoss[],
  { budget, earlierLosses, digest }: LossRules,
): RefusedLosses | undefined {
  const { losses: earlier, windowMs } = earlierLosses ?? NOTHING_EARLIER;
  const refused = losses.flatMap((loss) => {
    if (loss.heldFor !== undefined) return [{ loss, why: `held: ${loss.heldFor}` }];
    const before = earlier.length === 0 ? 0 : sumEarlierLosses(earlier, objectMark(digest, loss.holder));
    const limit = removalLimit(loss.budget ?? budget, loss.of + before);
    if (loss.count + before <= limit) return [];
    const after = before === 0 ? '' : `, after ${before} in the ${durationText(windowMs)} before`;
    return [{ loss, why: `budget ${limit}${after}` }];
  });
  if (refused.length === 0) return undefined;
  const named = refused.slice(0, MAX_NAMED).map(({ loss, why }) => describe(loss, why));
  const more = refused.length > MAX_NAMED ? [`and ${refused.length - MAX_NAMED} more such losses`] : [];
  return { text: [...named, ...more].join('; '), holders: refused.map(({ loss }) => loss.holder) };
}

function describe({ holder, by, what, count, of, clusters }: DeletionLoss, why: string): string {
  const isOwn = by.length === 1 && by[0] === holder;
  const verb = by.length === 1 ? 'takes' : 'take';
  const whose = isOwn ? '' : ` of ${holder}`;
  return `${formatNameList(by)} ${verb} away ${count} of ${of} ${what}${whose} (${why}): ${formatNameList(clusters)}`;
}
