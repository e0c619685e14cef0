import { printable, printableLines } from '@berth/runtime/text/printable';
import type { ControllerStatus } from '../../../serve/http/controller-status.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../../terminal/output-format.ts';
import { renderTextTable } from '../../../terminal/text-table.ts';
import { addControllerFlags, callController, type ControllerFlags } from './controller-client.ts';

interface StatusFlags extends ControllerFlags {
  readonly output: OutputFormat;
}

const HELP = `
Exit codes: 0 no problems, 1 a problem needs attention, or the controller did not answer.

Examples:
  berth status --token-file plugin-tokens
  berth status --server http://berth.berth-system:8080 --token-file plugin-tokens -o json
`;

export const statusCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('status')
      .description('show what a running controller read, published and held, and what is wrong in Git');
    addControllerFlags(command)
      .addOption(outputOption())
      .addHelpText('after', HELP)
      .action(run((io, flags: StatusFlags) => runStatus(io, flags)));
  },
};

async function runStatus(io: CliIo, flags: StatusFlags): Promise<ExitCode> {
  const status = (await callController(io, flags, 'GET', 'status')) as ControllerStatus;
  io.stdout.write(
    flags.output === 'table' ? renderStatus(status) : await renderDocument(status, flags.output),
  );
  const troubled =
    !status.ready ||
    status.leadership?.problem !== undefined ||
    status.warnings.length > 0 ||
    status.sources.some(
      (source) => source.error !== undefined || source.problems.length > 0 || source.pruneHeld !== undefined,
    ) ||
    status.placements.some((placement) => placement.held !== undefined);
  return troubled ? 1 : 0;
}

export function renderStatus(status: ControllerStatus): string {
  const lines = [
    `Controller: ${status.ready ? 'ready' : `not ready: ${printable(status.problem ?? 'starting')}`}`,
    `Placements are decided by: ${status.schedule === 'berth' ? 'Berth' : 'OCM (schedule: upstream)'}`,
    ...leadershipLine(status),
    ...status.warnings.map((warning) => `Warning: ${printable(warning)}`),
    '',
  ];
  const sources = status.sources.map(({ name, commit, objects, error, problems }) => [
    name,
    commit?.slice(0, 8) ?? '-',
    String(objects),
    String(problems.length),
    error ?? '',
  ]);
  const placements = status.placements.map(({ placement, clusters, held }) => [
    placement,
    String(clusters),
    held?.reason ?? '',
  ]);
  const details = [
    ...status.sources.flatMap(({ name, inProcess, problems, pruneHeld }) => [
      ...(inProcess ? [`${name}: there is no git program, so Berth reads in process, which is slower`] : []),
      ...problems.map((problem) => `${name}: ${problem}`),
      ...(pruneHeld === undefined ? [] : [`${name}: ${pruneHeld}`]),
    ]),
    ...status.placements.flatMap(({ placement, held }) =>
      held === undefined ? [] : [`${placement}: ${held.message}`],
    ),
  ];
  return [
    lines.join('\n'),
    '\n',
    renderTextTable(['SOURCE', 'COMMIT', 'OBJECTS', 'PROBLEMS', 'ERROR'], sources),
    '\n',
    renderTextTable(['PLACEMENT', 'CLUSTERS', 'HELD'], placements),
    details.length === 0 ? '' : `\n${printableLines(details)}`,
  ].join('');
}

function leadershipLine({ leadership }: ControllerStatus): readonly string[] {
  if (leadership === undefined) return [];
  const { role, lease, holder, problem } = leadership;
  const who = role === 'standby' && holder !== '' ? `, ${printable(holder)} leads` : '';
  const trouble = problem === undefined ? '' : `: ${printable(problem)}`;
  return [`Election: ${role}${who} (Lease ${lease})${trouble}`];
}
