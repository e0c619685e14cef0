import path from 'node:path';
import { printableLines } from '@berth/runtime/text/printable';
import { leavesOut } from '@berth/runtime/problem/problem';
import { InputError } from '@berth/runtime/errors';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../../terminal/output-format.ts';
import {
  addHubFlags,
  givenDecided,
  EMBEDDED_HELP,
  isHubRequested,
  type HubFlags,
  withHub,
} from '../../flags/hub-flags.ts';
import type { PlacementRef } from '@berth/placement/explain/snapshot/snapshot-change';
import type { OfflineExplanation } from '../../../../controllers/explanations/explain-offline.ts';

interface ExplainOptions extends HubFlags {
  readonly hub: boolean;
  readonly embedded: boolean;
  readonly cluster?: string;
  readonly from: string;
  readonly ref?: string;
  readonly since?: string;
  readonly case?: string;
  readonly caseName?: string;
  readonly now?: string;
  readonly data?: string;
  readonly record?: string;
  readonly output: OutputFormat;
}

export const explainCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('explain')
      .description('explain why a placement selects clusters or not, and what would change that')
      .argument('<placement>', 'NAMESPACE/NAME')
      .option('--cluster <name>', 'explain this cluster, selected or not')
      .option('--from <path>', 'folder of manifests to decide from', '.')
      .option('--ref <revision>', 'read this branch, tag or commit of the repository around --from')
      .option('--since <revision>', 'also show what changed since this revision, and which object caused it')
      .option('--hub', 'decide from the current objects of a hub, instead of files', false)
      .option('--embedded', EMBEDDED_HELP, false)
      .option('--case <file>', 'decide a recorded case instead (JSON Lines, as for `berth simulate`)')
      .option('--case-name <name>', 'name of the case in the file (default: the first)')
      .option(
        '--data <dir>',
        'explain the last decision that `berth serve` with this data directory published, and what caused it',
      )
      .option('--record <hash>', 'with --data: explain this record instead (`berth history` lists them)')
      .option('--now <time>', 'time to decide at, RFC 3339 (default: now)')
      .addOption(outputOption());
    addHubFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, placement: string, options: ExplainOptions) => explain(io, placement, options)));
  },
};

const HELP = `
Exit codes: 0 explained, 1 error.

Examples:
  berth explain guestbook/frontend
  berth explain guestbook/frontend --cluster cluster2
  berth explain guestbook/frontend --from fleet --ref main --since main~1
  berth explain guestbook/frontend --hub --kubeconfig hub.kubeconfig
  berth explain guestbook/frontend --data /var/lib/berth
  berth explain team/web --case cases.jsonl --case-name lose-eu -o json
`;

async function explain(io: CliIo, name: string, options: ExplainOptions): Promise<ExitCode> {
  const [namespace = '', placement = '', ...more] = name.split('/');
  if (namespace === '' || placement === '' || more.length > 0)
    throw new InputError('expected NAMESPACE/NAME', {
      code: 'explain.placement',
      subject: JSON.stringify(name),
    });
  refuseContradictions(options);
  const ref = { namespace, name: placement };
  const { explanation, lines, problems } = await explained(io, ref, options);
  const { countProblems, renderProblems } = await import('../../../terminal/problem-report.ts');
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) {
    io.stderr.write(renderProblems(errors, false));
    const left = errors.filter(leavesOut);
    if (left.length > 0)
      io.stderr.write(`${countProblems(left)}: these objects are left out of this explanation\n`);
  }
  io.stdout.write(
    options.output === 'table' ? printableLines(lines) : await renderDocument(explanation, options.output),
  );
  return 0;
}

/** An option without effect is a misunderstanding, so it is an error. */
function refuseContradictions(options: ExplainOptions): void {
  const refuse = (option: string, problem: string): never => {
    throw new InputError(problem, { code: 'explain.options', subject: option });
  };
  if (options.since !== undefined && options.cluster !== undefined)
    refuse('--since', 'applies to a whole placement and cannot be combined with --cluster');
  const wantsHub = isHubRequested(options);
  for (const option of ['ref', 'since', 'case'] as const)
    if (wantsHub && options[option] !== undefined)
      refuse(`--${option}`, 'a hub has no revisions and no cases');
  for (const option of ['ref', 'since', 'case', 'now'] as const)
    if (options.data !== undefined && options[option] !== undefined)
      refuse(`--${option}`, 'a record has its own inputs, and is compared with the record before it');
  if (options.data !== undefined && wantsHub) refuse('--data', 'either a hub or what a controller recorded');
  if (options.record !== undefined && options.data === undefined) refuse('--record', 'needs --data DIR');
  if (options.case !== undefined && options.since !== undefined)
    refuse('--since', 'a recorded case has no revisions');
  if (options.caseName !== undefined && options.case === undefined)
    refuse('--case-name', 'needs --case FILE');
}

async function explained(io: CliIo, ref: PlacementRef, options: ExplainOptions): Promise<OfflineExplanation> {
  const given = givenDecided(options, isHubRequested(options));
  if (options.data !== undefined) {
    const { explainRecord } = await import('../../../../controllers/explanations/explain-record.ts');
    const { record, cluster } = options;
    return explainRecord(ref, { data: path.resolve(io.cwd, options.data), record, cluster });
  }
  const { explainInSnapshot, explainOffline } = await import(
    '../../../../controllers/explanations/explain-offline.ts'
  );
  if (!isHubRequested(options))
    return explainOffline(ref, options, { cwd: io.cwd, env: io.env, signal: io.signal });
  const { readHubSnapshot } = await import('../../../../controllers/explanations/offline-snapshot.ts');
  const { readDecidedPlacements } = await import(
    '../../../../controllers/inventory/schedulable-placement.ts'
  );
  const { readHubWaves } = await import('../../../../controllers/explanations/hub-waves.ts');
  const now = options.now ?? new Date().toISOString();
  return withHub(io, options, async (hub) => {
    const snapshot = await readHubSnapshot(hub, now, ref);
    const { waves, problems } = await readHubWaves(hub, snapshot, ref);
    const decides = given ?? (await readDecidedPlacements(hub));
    const asked = { cluster: options.cluster, decides, waves };
    return { ...explainInSnapshot(snapshot, ref, asked), problems };
  });
}
