import type { EventContent } from '@berth/kube/model/event';
import type { ScheduleStatus } from '@berth/placement/result/schedule-result';

/** How a page changes. */
export type PageChange = 'create' | 'write' | 'delete';

/**
 * The Event that the scheduler of OCM writes for a placement when it writes a PlacementDecision,
 * with the same texts. Source: open-cluster-management-io/ocm
 * `pkg/placement/controllers/scheduling/scheduling_controller.go`, bind and
 * createOrUpdatePlacementDecision.
 * @param status the status of the decision; the Event of an update contains its warning
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

/** A change of a placement is held. The code comes first, because a long message is cut. */
export function heldEvent({
  reason,
  message,
  token,
}: Record<'reason' | 'message' | 'token', string>): EventContent {
  const note = cut(token === '' ? message : `Approval code ${token}. ${message}`);
  return { type: 'Warning', reason: 'Held', action: reason, note };
}

/** A held change was released. */
export function releasedEvent({ token, by }: { readonly token: string; readonly by: string }): EventContent {
  return { type: 'Normal', reason: 'Released', action: 'Released', note: cut(`${by} released ${token}`) };
}

/** The decision of a placement cannot be written. */
export function failingEvent(text: string): EventContent {
  const note = cut(`The decision cannot be published, so the last one stays: ${text}`);
  return { type: 'Warning', reason: 'PublishFailing', action: 'Publish', note };
}

export function recoveredEvent(): EventContent {
  const note = 'The decision is published, or needs no publication any more';
  return { type: 'Normal', reason: 'PublishRecovered', action: 'Publish', note };
}

/** Maximum length of a note. Source: the same file, maxEventMessageLength. */
export const MAX_NOTE_LENGTH = 1_000;

/**
 * The scores of the clusters for a placement, as `cluster1:12 cluster2:12`. The text is cut where
 * OCM cuts it.
 * @param scores in the order of the text; OCM writes them in random order
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

/**
 * Cuts a note. The API server accepts at most 1,024 bytes. Names of objects have one byte per
 * character.
 */
function cut(note: string): string {
  return note.length <= MAX_NOTE_LENGTH ? note : `${note.slice(0, MAX_NOTE_LENGTH)}......`;
}
