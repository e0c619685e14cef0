import { listNames } from '../publish/judge-result.ts';
import { type RemovalBudget, removalLimit } from '../publish/removal-budget.ts';
import type { DeletionLoss } from './deletion-loss.ts';

/** Losses that a message names; the others are counted. */
const MAX_NAMED = 3;

/**
 * What is too much of what deletions take away: more clusters or works of one holder than the budget allows, as for a decision that
 * loses them, or anything of what is held. Undefined: nothing is.
 */
export function judgeLosses(losses: readonly DeletionLoss[], budget: RemovalBudget): string | undefined {
  const refused = losses.flatMap((loss) => {
    const limit = removalLimit(loss.budget ?? budget, loss.of);
    if (loss.heldFor !== undefined) return [describe(loss, `held: ${loss.heldFor}`)];
    return loss.count > limit ? [describe(loss, `budget ${limit}`)] : [];
  });
  if (refused.length === 0) return undefined;
  const more = refused.length > MAX_NAMED ? [`and ${refused.length - MAX_NAMED} more such losses`] : [];
  return [...refused.slice(0, MAX_NAMED), ...more].join('; ');
}

function describe({ holder, by, what, count, of, clusters }: DeletionLoss, why: string): string {
  const isOwn = by.length === 1 && by[0] === holder;
  const verb = by.length === 1 ? 'takes' : 'take';
  const whose = isOwn ? '' : ` of ${holder}`;
  return `${listNames(by)} ${verb} away ${count} of ${of} ${what}${whose} (${why}): ${listNames(clusters)}`;
}
