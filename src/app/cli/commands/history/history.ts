import { InputError } from '@berth/runtime/errors';
import { ageSince } from '../../../../core/listing/listed.ts';
import type { DecisionChanges } from '@berth/placement/explain/verdict/explanation';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags } from '../../flags/hub-flags.ts';
import { wholeNumber } from '../../flags/option-values.ts';
import {
  type HistoryRecord,
  type HistoryFlags as RecordFlags,
  historyDir,
  readRecords,
} from './decision-history.ts';
import {
  outputOption,
  renderDocument,
  renderTextTable,
  type OutputFormat,
} from '../../../terminal/output-format.ts';

interface HistoryFlags extends RecordFlags {
  readonly output: OutputFormat;
  readonly limit: string;
  readonly why: boolean;
  readonly deletions: boolean;
  readonly timeline: boolean;
}

const HELP = `
Exit codes: 0 listed, 1 error.

Examples:
  berth history                                  # every placement, newest last
  berth history team-a/web --data /var/lib/berth
  berth history team-a/web --kubeconfig hub.kubeconfig
  berth history --deletions                      # which objects were deleted, with commit and author
  berth history team-a/web --why                 # also find the objects that caused it, by deciding again
  berth history team-a/web --timeline            # what happened to its clusters and works, step by step
  berth replay 1c0ffee5c0ffee55                  # compute one record again
`;

export const historyCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('history')
      .argument('[placement]', 'NAMESPACE/NAME')
      .description('list published decisions: when, from which commit, which clusters were added and removed')
      .option('--data <dir>', 'data directory of berth serve', '.berth')
      .option('--hub', 'read the compact records of a hub, instead of a data directory', false)
      .option('--deletions', 'list deletions of objects that left Git instead', false)
      .option(
        '--timeline',
        'list steps instead: leases, taints, tolerations, decisions, works, each with its time',
        false,
      )
      .option('--limit <n>', 'how many of the newest records to show', '50')
      .option(
        '--why',
        'also show why clusters were added and removed; needs the inputs in the data directory',
        false,
      )
      .addOption(outputOption());
    addHubFlags(command)
      .addHelpText('after', HELP)
      .action(
        run((io, placement: string | undefined, flags: HistoryFlags) => runHistory(io, placement, flags)),
      );
  },
};

async function runHistory(io: CliIo, placement: string | undefined, flags: HistoryFlags): Promise<ExitCode> {
  const limit = wholeNumber('--limit', flags.limit, 1, 9_999_999);
  if (flags.deletions) {
    const { listDeletions } = await import('./deletion-history.ts');
    return listDeletions(io, { ...flags, limit, name: placement });
  }
  if (flags.timeline) {
    // A name without a namespace is refused before anything is read.
    if (placement !== undefined) namespaceOf(placement);
    const { listTimeline } = await import('./timeline.ts');
    return listTimeline(io, { ...flags, limit, placement });
  }
  const all = await readRecords(io, flags, placement === undefined ? undefined : namespaceOf(placement));
  const records = all
    .filter((record) => placement === undefined || record.placement === placement)
    .slice(-limit);
  const moves = flags.why ? await movesOf(flags, all, records) : undefined;
  if (flags.output === 'table')
    io.stdout.write(`${tableOf(records, moves)}${await belowTable(flags, placement)}`);
  else
    io.stdout.write(
      await renderDocument(
        moves === undefined
          ? records
          : records.map((record) => ({ ...record, moves: moves.get(record.hash) ?? null })),
        flags.output,
      ),
    );
  return 0;
}

function tableOf(
  records: readonly HistoryRecord[],
  moves: ReadonlyMap<string, DecisionChanges> | undefined,
): string {
  // Few records are released, and a table fits 80 columns without that.
  const hasReleases = records.some(({ released }) => released?.by !== undefined);
  const nowMs = Date.now();
  return renderTextTable(
    [...HEADINGS, ...(hasReleases ? ['RELEASED BY'] : []), ...(moves === undefined ? [] : ['CAUSED BY'])],
    records.map((record) => [
      ...row(record, nowMs),
      ...(hasReleases ? [record.released?.by ?? ''] : []),
      ...(moves === undefined ? [] : [causesText(moves.get(record.hash))]),
    ]),
  );
}

async function belowTable(flags: HistoryFlags, placement: string | undefined): Promise<string> {
  if (placement === undefined) return '';
  const { deletionsBelow } = await import('./deletion-history.ts');
  return deletionsBelow(flags, placement);
}

const HEADINGS = ['RECORD', 'AGE', 'PLACEMENT', 'CLUSTERS', 'CHANGE', 'COMMIT'];

async function movesOf(
  flags: HistoryFlags,
  all: readonly HistoryRecord[],
  shown: readonly HistoryRecord[],
): Promise<ReadonlyMap<string, DecisionChanges>> {
  const { explainRecordMoves } = await import('../../../../controllers/explanations/explain-record.ts');
  return explainRecordMoves(historyDir(flags), all, shown);
}

const MAX_CAUSES = 5;

/** Each object once, sorted by the number of moves that it caused. */
function causesText(moves: DecisionChanges | undefined): string {
  if (moves === undefined) return '-';
  const counts = new Map<string, number>();
  for (const cause of [...moves.gained, ...moves.lost].flatMap(({ causes }) => causes))
    counts.set(cause, (counts.get(cause) ?? 0) + 1);
  const causes = [...counts].sort(([, a], [, b]) => b - a).map(([cause]) => cause);
  const more = causes.length > MAX_CAUSES ? ` and ${causes.length - MAX_CAUSES} more` : '';
  return `${causes.slice(0, MAX_CAUSES).join(', ')}${more}`;
}

function namespaceOf(placement: string): string {
  const [, namespace] = /^([^/]+)\/[^/]+$/.exec(placement) ?? [];
  if (namespace !== undefined) return namespace;
  throw new InputError(`got ${JSON.stringify(placement)}, expected NAMESPACE/NAME`, {
    code: 'cli.argument',
    subject: 'placement',
  });
}

/** The commit of a record that was written after a restart is the last one that had been read at that time. */
function commitText({ commit, afterRestart }: HistoryRecord): string {
  return `${commit?.id.slice(0, 8) ?? '-'}${afterRestart === true ? ' (found later)' : ''}`;
}

function row(record: HistoryRecord, nowMs: number): readonly string[] {
  return [
    record.hash,
    ageSince(record.publishedAt, nowMs),
    record.placement,
    String(record.clusters),
    changeText(record),
    commitText(record),
  ];
}

/** `+2 −1`, of added and removed clusters. */
function changeText({ added, removed }: HistoryRecord): string {
  const count = (list: HistoryRecord['added']): number => ('count' in list ? list.count : list.length);
  const [more, fewer] = [count(added), count(removed)];
  return [more > 0 ? `+${more}` : '', fewer > 0 ? `−${fewer}` : ''].filter((part) => part !== '').join(' ');
}
