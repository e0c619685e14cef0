import { join } from 'node:path';
import { InputError } from '@berth/runtime/errors';
import type { PlacementRef } from '@berth/placement/explain/snapshot/snapshot-change';
import { HistoryReader } from '../../adapters/store/history-store.ts';
import type { DecisionRecord } from '../../core/publish/record/decision-record.ts';
import type { OfflineExplanation } from './explain-offline.ts';
import { explainInSnapshot } from './explain-offline.ts';

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
