import { join } from 'node:path';
import { decisionChanges } from '@berth/placement/explain/decision-changes';
import type { PlacementRef } from '@berth/placement/explain/snapshot/snapshot-change';
import { decideInSnapshot } from '@berth/placement/explain/verdict/decide-in-snapshot';
import type { DecisionChange, DecisionChanges } from '@berth/placement/explain/verdict/explanation';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { InputError } from '@berth/runtime/errors';
import { HistoryReader } from '../../adapters/store/history-store.ts';
import type { DecisionRecord } from '../../core/publish/record/decision-record.ts';
import { explainInSnapshot, type OfflineExplanation } from './explain-offline.ts';

export interface RecordRequest {
  /** Data directory of a controller. */
  readonly data: string;
  /** Hash of a record or a prefix of it; undefined: the newest record of the placement. */
  readonly record?: string | undefined;
  readonly cluster?: string | undefined;
}

/**
 * Explains a decision that a controller published, from its recorded inputs, and what changed since
 * the previous published decision. The causes are found here by deciding again, so they cost the
 * controller nothing.
 */
export async function explainRecord(ref: PlacementRef, request: RecordRequest): Promise<OfflineExplanation> {
  const history = new HistoryReader(join(request.data, 'history'));
  const placement = `${ref.namespace}/${ref.name}`;
  const records = (await history.list()).filter((record) => record.placement === placement);
  const at = indexOf(records, placement, request.record);
  const [record, previous] = [records[at] as DecisionRecord, records[at - 1]];
  const snapshot = await history.readSnapshot(record.inputs);
  const before = previous === undefined ? undefined : await history.readSnapshot(previous.inputs);
  const { explanation, lines } = explainInSnapshot(snapshot, ref, { cluster: request.cluster, before });
  const commit =
    record.commit === null ? '' : `, commit ${record.commit.id.slice(0, 8)} ${record.commit.subject}`;
  return {
    explanation,
    lines: [`record ${record.hash}, published ${record.publishedAt}${commit}`, ...lines],
    problems: [],
  };
}

function indexOf(records: readonly DecisionRecord[], placement: string, wanted: string | undefined): number {
  const subject = wanted === undefined ? `Placement ${placement}` : `record ${wanted}`;
  const hint = 'berth history lists the records of a data directory';
  const matching = records.flatMap(({ hash }, at) =>
    wanted === undefined || hash.startsWith(wanted) ? [at] : [],
  );
  const last = matching.at(-1);
  if (last === undefined)
    throw new InputError('there is no such record of this placement here', {
      code: 'history.record',
      subject,
      hint,
    });
  if (wanted !== undefined && matching.length > 1)
    throw new InputError(`matches ${matching.length} records; give more digits of the hash`, {
      code: 'history.record',
      subject,
      hint,
    });
  return last;
}

type RecordRef = Pick<DecisionRecord, 'hash' | 'placement' | 'inputs'>;

/**
 * Explains why records added and removed clusters, and which objects caused it. To find out, it decides again from the
 * inputs of a record and of the record before it. A record is omitted if one of the inputs is not stored. The first
 * record of a placement has no moves.
 * @param all oldest first; `shown` is a part of them
 * @returns by hash
 */
export async function explainRecordMoves(
  historyDir: string,
  all: readonly RecordRef[],
  shown: readonly RecordRef[],
): Promise<ReadonlyMap<string, DecisionChanges>> {
  const reader = new HistoryReader(historyDir);
  // Snapshots are large, and adjacent records often share one.
  let last: { readonly inputs: string; readonly snapshot: Snapshot } | undefined;
  const readSnapshot = async (inputs: string): Promise<Snapshot> => {
    if (last?.inputs !== inputs) last = { inputs, snapshot: await reader.readSnapshot(inputs) };
    return last.snapshot;
  };
  const moves = new Map<string, DecisionChanges>();
  for (const record of shown) {
    const own = all.filter(({ placement }) => placement === record.placement);
    const previous = own[own.findIndex(({ hash }) => hash === record.hash) - 1];
    if (previous === undefined) continue;
    try {
      const before = await readSnapshot(previous.inputs);
      const changes = changesOf(record.placement, before, await readSnapshot(record.inputs));
      if (changes !== undefined) moves.set(record.hash, changes);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
    }
  }
  return moves;
}

function changesOf(
  placement: string,
  snapshotBefore: Snapshot,
  present: Snapshot,
): DecisionChanges | undefined {
  const [namespace = '', name = ''] = placement.split('/');
  const ref = { namespace, name };
  const decision = decideInSnapshot(present, ref);
  if (decision === undefined) return undefined;
  const earlier = decideInSnapshot(snapshotBefore, ref);
  const before = earlier?.decided.result.selected ?? [];
  // The inputs of the decision, with the new decisions of the placements before it.
  const decisions = earlier?.snapshot.decisions ?? snapshotBefore.decisions;
  const changes = decisionChanges({ ...decision, before, snapshotBefore: { ...snapshotBefore, decisions } });
  const isExplained = [...changes.gained, ...changes.lost].every(({ causes }) => causes.length > 0);
  if (isExplained) return changes;
  const inTime = decideInSnapshot({ ...present, now: snapshotBefore.now }, ref);
  return inTime === undefined ? changes : withPassedTime(changes, inTime.decided.result.selected);
}

const PASSED_TIME = 'time: a toleration or a score ended';

/**
 * Names the time as the cause of moves that no object caused, and that would not have happened at the time of the decision before.
 * @param inTime the clusters that would have been selected then
 */
function withPassedTime({ gained, lost }: DecisionChanges, inTime: readonly string[]): DecisionChanges {
  const withCause = (moves: readonly DecisionChange[], isSelected: boolean): readonly DecisionChange[] =>
    moves.map((move) =>
      move.causes.length === 0 && inTime.includes(move.cluster) === isSelected
        ? { ...move, causes: [PASSED_TIME] }
        : move,
    );
  return { gained: withCause(gained, false), lost: withCause(lost, true) };
}
