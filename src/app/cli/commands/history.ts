import { InputError } from '../../../core/errors.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../cli-io.ts';
import { addHubFlags } from '../hub-flags.ts';
import { type AnyRecord, type HistoryFlags as RecordFlags, readRecords } from '../decision-history.ts';
import { type OutputFormat, outputOption, renderDocument } from '../output-format.ts';
import { renderTextTable } from '../text-table.ts';

interface HistoryFlags extends RecordFlags {
  readonly output: OutputFormat;
  readonly limit: string;
}

const HELP = `
Exit codes: 0 listed, 1 error.

Examples:
  berth history                                  # every placement, newest last
  berth history team-a/web --data /var/lib/berth
  berth history team-a/web --kubeconfig hub.kubeconfig
  berth replay 1c0ffee5c0ffee55                  # compute one of them again
`;

export const historyCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('history')
      .argument('[placement]', 'NAMESPACE/NAME')
      .description('list published decisions: when, from which commit, what came and went')
      .option('--data <dir>', 'data directory of berth serve', '.berth')
      .option('--hub', 'read the compact records that a hub keeps, instead of a data directory', false)
      .option('--limit <n>', 'newest records to show', '50')
      .addOption(outputOption());
    addHubFlags(command)
      .addHelpText('after', HELP)
      .action(
        run((io, placement: string | undefined, flags: HistoryFlags) => runHistory(io, placement, flags)),
      );
  },
};

async function runHistory(io: CliIo, placement: string | undefined, flags: HistoryFlags): Promise<ExitCode> {
  const limit = limitOf(flags.limit);
  const all = await readRecords(io, flags, placement === undefined ? undefined : namespaceOf(placement));
  const records = all
    .filter((record) => placement === undefined || record.placement === placement)
    .slice(-limit);
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

function limitOf(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InputError(`got ${JSON.stringify(text)}, expected a number of records`, {
    code: 'cli.flag',
    subject: '--limit',
  });
}

function namespaceOf(placement: string): string {
  const [, namespace] = /^([^/]+)\/[^/]+$/.exec(placement) ?? [];
  if (namespace !== undefined) return namespace;
  throw new InputError(`got ${JSON.stringify(placement)}, expected NAMESPACE/NAME`, {
    code: 'cli.argument',
    subject: 'placement',
  });
}

function row(record: AnyRecord): readonly string[] {
  return [
    record.hash,
    record.publishedAt,
    record.placement,
    String(record.clusters),
    String('count' in record.added ? record.added.count : record.added.length),
    String('count' in record.removed ? record.removed.count : record.removed.length),
    record.commit?.id.slice(0, 8) ?? '-',
    record.released?.by ?? '',
  ];
}
