import { join } from 'node:path';
import type { DecisionRecord } from '../../../core/publish/decision-record.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../cli-io.ts';
import { type OutputFormat, outputOption, renderDocument } from '../output-format.ts';
import { renderTextTable } from '../text-table.ts';

interface HistoryFlags {
  readonly data: string;
  readonly output: OutputFormat;
  readonly limit: string;
}

const HELP = `
Exit codes: 0 listed, 1 error.

Examples:
  berth history                                  # every placement, newest last
  berth history team-a/web --data /var/lib/berth
  berth replay 1c0ffee5c0ffee55                  # compute one of them again
`;

export const historyCommand: CliCommand = {
  register(program, run) {
    program
      .command('history')
      .argument('[placement]', 'NAMESPACE/NAME')
      .description('list published decisions: when, from which commit, what came and went')
      .option('--data <dir>', 'data directory of berth serve', '.berth')
      .option('--limit <n>', 'newest records to show', '50')
      .addOption(outputOption())
      .addHelpText('after', HELP)
      .action(
        run((io, placement: string | undefined, flags: HistoryFlags) => runHistory(io, placement, flags)),
      );
  },
};

async function runHistory(io: CliIo, placement: string | undefined, flags: HistoryFlags): Promise<ExitCode> {
  const { HistoryReader } = await import('../../../adapters/store/history-reader.ts');
  const all = await new HistoryReader(join(flags.data, 'history')).list();
  const records = all
    .filter((record) => placement === undefined || record.placement === placement)
    .slice(-Math.max(1, Number(flags.limit) || 50));
  io.stdout.write(
    flags.output === 'table'
      ? renderTextTable(
          ['RECORD', 'PUBLISHED', 'PLACEMENT', 'CLUSTERS', 'ADDED', 'REMOVED', 'COMMIT', 'RELEASED BY'],
          records.map(row),
        )
      : await renderDocument(records, flags.output),
  );
  return 0;
}

function row(record: DecisionRecord): readonly string[] {
  return [
    record.hash,
    record.publishedAt,
    record.placement,
    String(record.clusters),
    String(record.added.length),
    String(record.removed.length),
    record.commit?.id.slice(0, 8) ?? '-',
    record.released?.by ?? '',
  ];
}
