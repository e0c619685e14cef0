import { formatReason, groupTexts, moveText, spreadTexts } from '../plan-text.ts';
import type { ClusterMove, Plan, PlacementPlan } from '../plan.ts';
import { details, MAX_MOVES, names } from './comment-blocks.ts';
import { code, inElement, prose } from './foreign-text.ts';
import type { PlanRow } from './plan-rows.ts';

/** Why each placement changes, cluster by cluster, in the order of the rows. */
export function placementBlocks({ placements }: Plan, rows: readonly PlanRow[]): readonly string[] {
  const byKey = new Map(placements.map((one) => [`${one.namespace}/${one.name}`, one]));
  return rows.flatMap(({ placement }) => {
    const plan = byKey.get(placement);
    return plan === undefined ? [] : [placementBlock(plan)];
  });
}

function placementBlock(plan: PlacementPlan): string {
  const { namespace, name, after, added, removed, regrouped, moves, affectedBy, token } = plan;
  const edited = affectedBy.length === 0 ? [] : [`- nobody edited it: ${names(affectedBy)}`];
  const lines = [
    ...edited,
    ...moves.slice(0, MAX_MOVES).map((move) => `- moves: ${prose(moveText(move))}`),
    ...clusterLines('leaves', removed),
    ...clusterLines('joins', added),
    ...(regrouped.length === 0 ? [] : [`- regrouped: ${names(regrouped)}`]),
    ...[...groupTexts(plan), ...spreadTexts(plan)].map((text) => `- ${prose(text)}`),
    ...(after === undefined || after.message === '' ? [] : [`- ${prose(after.message)}`]),
    `- plan token: ${code(token)}`,
  ];
  return details(`${inElement(`${namespace}/${name}`)}: why`, lines.join('\n'));
}

/** Uses words, because a line that begins with a plus would become a nested list. */
function clusterLines(verb: 'leaves' | 'joins', moves: readonly ClusterMove[]): readonly string[] {
  const lines = moves.slice(0, MAX_MOVES).map((move) => {
    const why = formatReason(move);
    return `- ${code(move.cluster)} ${verb}${why === '' ? '' : `: ${prose(why)}`}`;
  });
  return moves.length > MAX_MOVES ? [...lines, `- … and ${moves.length - MAX_MOVES} more`] : lines;
}
