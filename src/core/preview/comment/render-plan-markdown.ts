import type { Problem } from '@berth/runtime/problem/problem';
import type { Plan } from '../plan.ts';
import { fleetMap } from './fleet-map.ts';
import { renderComment } from './render-comment.ts';

/** Forges refuse longer comments (GitHub: 65,536 characters). */
const DEFAULT_MAX_LENGTH = 60_000;
const MARKER = 'berth:plan';

/**
 * A plan as a comment that a pipeline writes on a pull request: the same as from `berth serve`, without the commands,
 * because no controller reads them there. A pipeline finds its earlier comment by the first line.
 * @param options.problems of the head
 * @param options.maxLength in characters; the forge's limit
 */
export function renderPlanMarkdown(
  plan: Plan,
  options: { readonly problems?: readonly Problem[]; readonly maxLength?: number } = {},
): string {
  const { problems = [], maxLength = DEFAULT_MAX_LENGTH } = options;
  return renderComment({
    marker: MARKER,
    outcome: { kind: 'planned', plan, problems, summaryOnly: false },
    head: plan.head.commit ?? plan.head.name,
    approvals: [],
    notes: [],
    map: fleetMap(plan),
    maxLength,
  });
}
