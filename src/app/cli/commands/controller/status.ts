import { printable, printableLines } from '@berth/runtime/text/printable';
import type { HubStatus } from '../../../../controllers/leadership/read-hub-status.ts';
import type { ControllerStatus } from '../../../serve/http/controller-status.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import {
  type OutputFormat,
  outputOption,
  renderDocument,
  renderTextTable,
} from '../../../terminal/output-format.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { wrongOption } from '../../flags/option-values.ts';
import type { CliCommand } from '../cli-command.ts';
import {
  addControllerFlags,
  addOptionalControllerFlags,
  callController,
  type ControllerFlags,
  DEFAULT_SERVER,
} from './controller-client.ts';

interface StatusFlags extends HubFlags, Partial<ControllerFlags> {
  readonly output: OutputFormat;
}

const HELP = `
Exit codes: 0 no problems, 1 a problem needs attention, or the controller or the hub did not answer.

Examples:
  berth status                                   # from the objects on the hub, with the rights of the kubeconfig
  berth status --token-file plugin-tokens
  berth status --server http://berth.berth-system:8080 --token-file plugin-tokens -o json
`;

export const statusCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('status')
      .description('show what a running controller read, published and held, and what is wrong in Git');
    addHubFlags(addOptionalControllerFlags(command, 'the status is read from the hub'))
      .addOption(outputOption())
      .addHelpText('after', HELP)
      .action(run((io, flags: StatusFlags) => runStatus(io, flags)));
  },
};

async function runStatus(io: CliIo, flags: StatusFlags): Promise<ExitCode> {
  const { server, tokenFile, kubeconfig, context } = flags;
  if (tokenFile === undefined) {
    if (server !== undefined)
      throw wrongOption('--server', 'needs --token-file; without both the hub is read');
    return runHubStatus(io, flags);
  }
  if (kubeconfig !== undefined || context !== undefined)
    throw wrongOption(
      '--kubeconfig',
      'has no effect with --token-file: the controller is asked, not the hub',
    );
  const access = { server: server ?? DEFAULT_SERVER, tokenFile };
  const status = (await callController(io, access, 'GET', 'status')) as ControllerStatus;
  io.stdout.write(
    flags.output === 'table'
      ? `${renderStatus(status)}\nDashboard: ${access.server.replace(/\/+$/, '')}/ (berth dashboard says how to log in)\n`
      : await renderDocument(status, flags.output),
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

async function runHubStatus(io: CliIo, flags: StatusFlags): Promise<ExitCode> {
  const { readHubStatus } = await import('../../../../controllers/leadership/read-hub-status.ts');
  const status = await withHub(io, flags, (hub) => readHubStatus(hub, Date.now()));
  io.stdout.write(
    flags.output === 'table' ? renderHubStatus(status) : await renderDocument(status, flags.output),
  );
  const troubled =
    !status.controllers.some(({ isRunning }) => isRunning) ||
    status.problems.length > 0 ||
    status.addOnsHeld.length > 0 ||
    status.sources.some(({ pruneHeld }) => pruneHeld !== undefined) ||
    status.placements.some(({ held }) => held !== undefined);
  return troubled ? 1 : 0;
}

const ONLY_THE_CONTROLLER_KNOWS =
  'Only the controller knows which commit it read, what is wrong in Git, and its warnings: berth status --token-file FILE.';

const DECIDES = { own: 'its own placements', all: 'all placements', none: 'no placements' } as const;

export function renderHubStatus(status: HubStatus): string {
  const { controllers, sources, placements, addOnsHeld, problems } = status;
  const announced = controllers.map(({ name, isRunning, renewedAt, decides }) => {
    const state = isRunning ? 'runs' : 'does not run';
    return `Controller ${name} ${state}, decides ${DECIDES[decides]}; last sign ${renewedAt || 'unknown'}`;
  });
  const lines = [
    ...(announced.length === 0 ? ['No controller has announced itself on the hub'] : announced),
    ...problems.map((problem) => `Not read: ${problem}`),
    ONLY_THE_CONTROLLER_KNOWS,
  ];
  const held = sources.map(({ name, url, pruneHeld }) => [
    name,
    url,
    pruneHeld === undefined ? '' : 'deletions',
  ]);
  const details = [
    ...sources.flatMap(({ name, pruneHeld }) => (pruneHeld === undefined ? [] : [`${name}: ${pruneHeld}`])),
    ...addOnsHeld.map(({ addOn, message }) => `add-on ${addOn}: ${message}`),
  ];
  return [
    printableLines(lines),
    '\n',
    renderTextTable(['SOURCE', 'URL', 'HELD'], held),
    '\n',
    renderPlacements(placements, details),
  ].join('');
}

/** @param details lines before those of the holds */
function renderPlacements(placements: ControllerStatus['placements'], details: readonly string[]): string {
  const rows = placements.map(({ placement, clusters, held }) => [
    placement,
    String(clusters),
    held?.reason ?? '',
  ]);
  const holds = placements.flatMap(({ placement, held }) =>
    held === undefined ? [] : [`${placement}: ${held.message}`],
  );
  const all = [...details, ...holds];
  const below = all.length === 0 ? '' : `\n${printableLines(all)}`;
  return renderTextTable(['PLACEMENT', 'CLUSTERS', 'HELD'], rows) + below;
}

export function renderStatus(status: ControllerStatus): string {
  const lines = [
    `Controller: ${status.ready ? 'ready' : `not ready: ${printable(status.problem ?? 'starting')}`}`,
    `Placements are decided by: ${status.schedule === 'berth' ? 'Berth' : 'OCM (schedule: upstream)'}`,
    ...leadershipLine(status),
    ...worksLine(status),
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
  const details = [
    ...status.sources.flatMap(({ name, inProcess, problems, pruneHeld }) => [
      ...(inProcess ? [`${name}: there is no git program, so Berth reads in process, which is slower`] : []),
      ...problems.map((problem) => `${name}: ${problem}`),
      ...(pruneHeld === undefined ? [] : [`${name}: ${pruneHeld}`]),
    ]),
  ];
  return [
    lines.join('\n'),
    '\n',
    renderTextTable(['SOURCE', 'COMMIT', 'OBJECTS', 'PROBLEMS', 'ERROR'], sources),
    '\n',
    renderPlacements(status.placements, details),
  ].join('');
}

function leadershipLine({ leadership }: ControllerStatus): readonly string[] {
  if (leadership === undefined) return [];
  const { role, lease, holder, problem } = leadership;
  const who = role === 'standby' && holder !== '' ? `, ${printable(holder)} leads` : '';
  const trouble = problem === undefined ? '' : `: ${printable(problem)}`;
  return [`Election: ${role}${who} (Lease ${lease})${trouble}`];
}

function worksLine({ works }: ControllerStatus): readonly string[] {
  if (works === undefined) return [];
  const { held, shares, processes } = works;
  const which = held.length === 0 ? 'none' : held.join(', ');
  return [
    `Works: processes that share them: ${processes}; shares of this one: ${which} (of 0 to ${shares - 1})`,
  ];
}

const RECONCILE_HELP = `
Exit codes: 0 the controller accepted the request, 1 it refused or did not answer.

Examples:
  berth reconcile --token-file plugin-tokens
`;

export const reconcileCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('reconcile')
      .description('make a running controller fetch its sources and compare the hub with them now');
    addControllerFlags(command)
      .addHelpText('after', RECONCILE_HELP)
      .action(
        run(async (io, flags: ControllerFlags) => {
          const response = (await callController(io, flags, 'POST', 'reconcile')) as { message: string };
          io.stdout.write(printableLines([response.message]));
          return 0;
        }),
      );
  },
};
