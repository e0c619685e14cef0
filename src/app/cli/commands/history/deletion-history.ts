import { readRecordLog } from '../../../../adapters/store/record-log.ts';
import { printable } from '@berth/runtime/text/printable';
import { formatCount } from '../../../../core/preview/plan-text.ts';
import type { DeletionRecord } from '../../../../core/sync/deletion-record.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { type HistoryFlags, historyDir } from './decision-history.ts';
import { isHubRequested } from '../../flags/hub-flags.ts';
import { renderDocument, renderTextTable, type OutputFormat } from '../../../terminal/output-format.ts';
import { wrongOption } from '../../flags/option-values.ts';

export interface DeletionFlags extends HistoryFlags {
  readonly output: OutputFormat;
  readonly limit: number;
  /** `namespace/name` of an object of any kind; undefined: all objects. */
  readonly name: string | undefined;
}

/** Lists the objects that the sync deleted from the hub, newest last. */
export async function listDeletions(io: CliIo, flags: DeletionFlags): Promise<ExitCode> {
  if (isHubRequested(flags))
    throw wrongOption(
      '--deletions',
      'reads the data directory only, expected no --hub, --kubeconfig or --context',
    );
  const { name, limit, output } = flags;
  const found = (await deletionsOf(flags, name)).slice(-limit);
  io.stdout.write(output === 'table' ? renderDeletions(found) : await renderDocument(found, output));
  return 0;
}

/** The deletions to print below the records of a placement; '' if no object of its name was deleted. */
export async function deletionsBelow(flags: HistoryFlags, placement: string): Promise<string> {
  const found = isHubRequested(flags) ? [] : await deletionsOf(flags, placement);
  return found.length === 0 ? '' : `\nDeleted from the hub:\n${renderDeletions(found)}`;
}

async function deletionsOf(
  flags: HistoryFlags,
  name: string | undefined,
): Promise<readonly DeletionRecord[]> {
  const all = await readRecordLog<DeletionRecord>({ dir: historyDir(flags), name: 'deletions' });
  return all.filter(({ object }) => name === undefined || object.endsWith(` ${name}`));
}

function renderDeletions(records: readonly DeletionRecord[]): string {
  return renderTextTable(HEADINGS, records.map(row));
}

const HEADINGS = ['DELETED', 'OBJECT', 'SOURCE', 'TOOK AWAY', 'COMMIT', 'AUTHOR', 'RELEASED BY'];

function row(record: DeletionRecord): readonly string[] {
  const { deletedAt, object, source, took, commit, released, byOthers } = record;
  return [
    deletedAt,
    printable(object),
    source,
    byOthers === true ? 'nothing: deleted by others, applied again' : tookText(took),
    commit?.id.slice(0, 8) ?? '-',
    printable(commit?.author ?? '-'),
    printable(released?.by ?? ''),
  ];
}

function tookText({ clusters, works }: DeletionRecord['took']): string {
  if (clusters !== undefined) return `decision for ${formatCount(clusters, 'cluster')}`;
  return works === undefined ? '' : `works on ${formatCount(works, 'cluster')}`;
}
