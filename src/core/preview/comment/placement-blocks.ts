import { formatReason, groupTexts, spreadTexts } from '../plan-text.ts';
import type { ClusterMove, Plan, PlacementPlan } from '../plan.ts';
import { details, MAX_MOVES, names } from './comment-blocks.ts';
import { code, inElement, prose } from './foreign-text.ts';
import type { PlanRow } from './plan-rows.ts';

/** More placements than this share sections, so that the folded ones do not fill the page. */
const MAX_OWN_SECTIONS = 6;
/** The limits of a shared section, in characters and in placements. */
const [SECTION_LENGTH, SECTION_PLACEMENTS] = [8_000, 20] as const;

/** Why each placement changes, cluster by cluster, in the order of the rows. */
export function placementBlocks({ placements }: Plan, rows: readonly PlanRow[]): readonly string[] {
  const byKey = new Map(placements.map((one) => [`${one.namespace}/${one.name}`, one]));
  const reasons = rows.flatMap(({ placement }) => {
    const plan = byKey.get(placement);
    return plan === undefined ? [] : [{ placement, text: reasonsOf(plan) }];
  });
  const sections =
    reasons.length <= MAX_OWN_SECTIONS ? reasons.map((reason) => [reason]) : sharedSections(reasons);
  return sections.map((section) => {
    const [first, ...others] = section;
    if (first === undefined) return '';
    const title = `${inElement(first.placement)}${others.length === 0 ? '' : ` and ${others.length} more`}: why`;
    return details(
      title,
      others.length === 0
        ? first.text
        : section.map(({ placement, text }) => `**${code(placement)}**\n\n${text}`).join('\n\n'),
    );
  });
}

interface PlacementReasons {
  readonly placement: string;
  readonly text: string;
}

function sharedSections(reasons: readonly PlacementReasons[]): readonly (readonly PlacementReasons[])[] {
  const sections: PlacementReasons[][] = [];
  let length = Infinity;
  for (const reason of reasons) {
    const last = sections.at(-1);
    if (
      last === undefined ||
      length + reason.text.length > SECTION_LENGTH ||
      last.length === SECTION_PLACEMENTS
    ) {
      sections.push([reason]);
      length = reason.text.length;
    } else {
      last.push(reason);
      length += reason.text.length;
    }
  }
  return sections;
}

function reasonsOf(plan: PlacementPlan): string {
  const { after, added, removed, regrouped, affectedBy } = plan;
  const edited =
    affectedBy.length === 0 ? [] : [`- nobody edited it; it changes because of ${names(affectedBy)}`];
  const lines = [
    ...edited,
    ...clusterLines('leaves', removed),
    ...clusterLines('joins', added),
    ...(regrouped.length === 0 ? [] : [`- regrouped: ${names(regrouped)}`]),
    ...[...groupTexts(plan), ...spreadTexts(plan)].map((text) => `- ${prose(text)}`),
    ...(after === undefined || after.message === '' ? [] : [`- ${prose(after.message)}`]),
  ];
  return lines.join('\n');
}

/** Uses words, because a line that begins with a plus would become a nested list. */
function clusterLines(verb: 'leaves' | 'joins', moves: readonly ClusterMove[]): readonly string[] {
  const lines = moves.slice(0, MAX_MOVES).map((move) => {
    const why = formatReason(move);
    return `- ${code(move.cluster)} ${verb}${why === '' ? '' : `: ${prose(why)}`}`;
  });
  return moves.length > MAX_MOVES ? [...lines, `- … and ${moves.length - MAX_MOVES} more`] : lines;
}
