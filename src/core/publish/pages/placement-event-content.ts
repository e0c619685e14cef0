import type { EventContent } from '../../model/kind/event.ts';
import type { ScheduleStatus } from '../../placement/result/schedule-result.ts';

/** The change of a page. */
export type PageChange = 'create' | 'write' | 'delete';

/**
 * The Event that OCM's scheduler writes for a placement when it writes a PlacementDecision, with
 * the same texts. Source: open-cluster-management-io/ocm
 * `pkg/placement/controllers/scheduling/scheduling_controller.go`, bind and
 * createOrUpdatePlacementDecision.
 * @param status of the decision; an update contains its warning
 */
export function pageEvent(
  change: PageChange,
  { page, placement, namespace }: Record<'page' | 'placement' | 'namespace', string>,
  status: ScheduleStatus | undefined,
): EventContent {
  const { reason, action, verb } = WORDS[change];
  const note = `Decision ${page} is ${verb} with placement ${placement} in namespace ${namespace}`;
  if (change !== 'write' || status?.code !== 'Warning') return { type: 'Normal', reason, action, note };
  return {
    type: 'Warning',
    reason,
    action,
    note: cut(`${note}: ${status.message} in plugin ${status.plugin}`),
  };
}

const WORDS = {
  create: { reason: 'DecisionCreate', action: 'DecisionCreated', verb: 'created' },
  write: { reason: 'DecisionUpdate', action: 'DecisionUpdated', verb: 'updated' },
  delete: { reason: 'DecisionDelete', action: 'DecisionDeleted', verb: 'deleted' },
} as const;

/** Of a note. Source: the same file, maxEventMessageLength. */
export const MAX_NOTE_LENGTH = 1_000;

/**
 * The scores that clusters have for a placement: `cluster1:12 cluster2:12`, cut where OCM cuts it.
 * @param scores in the order of the text; OCM has them in no order
 */
export function scoreEvent(scores: Iterable<readonly [cluster: string, total: number]>): EventContent {
  let note = '';
  for (const [cluster, total] of scores) {
    const next = `${cluster}:${total} `;
    if (note.length + next.length > MAX_NOTE_LENGTH) {
      note += '......';
      break;
    }
    note += next;
  }
  return { type: 'Normal', reason: 'ScoreUpdate', action: 'ScoreUpdated', note: note.trimEnd() };
}

/** An API server takes 1,024 bytes; names of objects have one byte a character. */
function cut(note: string): string {
  return note.length <= MAX_NOTE_LENGTH ? note : `${note.slice(0, MAX_NOTE_LENGTH)}......`;
}
