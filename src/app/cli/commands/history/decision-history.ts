import { compareText } from '@berth/runtime/text/compare-text';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from '@berth/runtime/errors';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { CompactRecord } from '../../../../core/publish/record/compact-record.ts';
import type { DecisionRecord } from '../../../../core/publish/record/decision-record.ts';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { isHubRequested, type HubFlags, withHub } from '../../flags/hub-flags.ts';

export interface HistoryFlags extends HubFlags {
  readonly hub: boolean;
  readonly data: string;
}

/** A record from a data directory, or a compact one from a hub. Only the former contains the text of the decision. */
export type HistoryRecord = DecisionRecord | CompactRecord;

export function historyDir({ data }: { readonly data: string }): string {
  return join(data, 'history');
}

/**
 * Oldest first.
 * @param namespace read only this namespace of a hub, which needs fewer rights
 */
export async function readRecords(
  io: CliIo,
  flags: HistoryFlags,
  namespace: string | undefined,
): Promise<readonly HistoryRecord[]> {
  if (isHubRequested(flags)) return readHubRecords(io, flags, namespace);
  if (!existsSync(historyDir(flags)))
    throw new InputError('contains no history', {
      code: 'history.data',
      subject: flags.data,
      hint: 'set --data to the data directory of berth serve, or --kubeconfig to that of a hub',
    });
  const { HistoryReader } = await import('../../../../adapters/store/history-store.ts');
  return new HistoryReader(historyDir(flags)).list();
}

async function readHubRecords(
  io: CliIo,
  flags: HistoryFlags,
  namespace: string | undefined,
): Promise<readonly CompactRecord[]> {
  const { dataOf } = await import('../../../../controllers/publication/hub-records.ts');
  const { RECORDS_LABEL, recordsOf } = await import('../../../../core/publish/record/compact-record.ts');
  const { items } = await withHub(io, flags, (hub) =>
    hub.list(CONFIG_MAP, { namespace, labelSelector: RECORDS_LABEL }),
  );
  return items
    .flatMap((item) => recordsOf(dataOf(item)))
    .sort((a, b) => compareText(a.publishedAt, b.publishedAt));
}
