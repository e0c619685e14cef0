import { sha256 } from '@berth/runtime/sha256';
import { InputError } from '@berth/runtime/errors';
import { namespacedName } from '@berth/kube/model/object-ref';
import { printableLines } from '@berth/runtime/text/printable';
import { utf8LengthBytes } from '@berth/runtime/text/utf8';
import { decidedText } from '../../../../core/publish/record/decision-record.ts';
import type { CompactRecord } from '../../../../core/publish/record/compact-record.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { type HistoryRecord, type HistoryFlags, historyDir, readRecords } from './decision-history.ts';
import { addHubFlags, isHubRequested, withHub } from '../../flags/hub-flags.ts';
import { packageVersion } from '../version.ts';

const EXAMPLES = `
Exit codes: 0 the same result byte for byte, 1 another result, or an error.

Examples:
  berth history team-a/web
  berth replay 1c0ffee5c0ffee55 --data /var/lib/berth
  berth replay 1c0ffee5c0ffee55 --data /var/lib/berth --kubeconfig hub.kubeconfig
  berth replay 1c0ffee5c0ffee55 --kubeconfig hub.kubeconfig --repo ./fleet   # without stored inputs: from the commit and the current hub
`;

interface ReplayFlags extends HistoryFlags {
  readonly repo?: string;
}

export const replayCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('replay')
      .argument('<record>', 'hash of a record, or a prefix of it')
      .description(
        'compute a published decision again from its recorded inputs, offline, and compare byte for byte',
      )
      .option('--data <dir>', 'data directory of berth serve, with the inputs', '.berth')
      .option(
        '--repo <folder>',
        'clone of the repository; inputs that are not stored are rebuilt from it and the current hub',
      )
      .option('--hub', 'read the record from a hub; only the inputs come from the data directory', false);
    addHubFlags(command)
      .addHelpText('after', EXAMPLES)
      .action(run((io, hash: string, flags: ReplayFlags) => runReplay(io, hash, flags)));
  },
};

/** 0: the same bytes; 1: another result. */
async function runReplay(io: CliIo, hash: string, flags: ReplayFlags): Promise<ExitCode> {
  const { startEngine } = await import('@berth/placement/incremental-scheduler');
  const all = await readRecords(io, flags, undefined);
  const found = all.filter((record) => record.hash.startsWith(hash));
  const record = found[0];
  if (record === undefined || found.length > 1)
    throw new InputError(
      found.length > 1
        ? `matches ${found.length} records; give more digits of the hash`
        : 'is not in the history',
      {
        code: 'history.record',
        subject: `record ${hash}`,
        hint: 'berth history lists the records',
      },
    );
  const { snapshot, from } = await inputsOf(io, flags, record, all);
  const result = [...startEngine()(snapshot)].find(
    (candidate) => namespacedName(candidate.placement.metadata) === record.placement,
  );
  const recomputed = result === undefined ? 'nothing' : decidedText(result);
  // The compact record of a hub contains only the hash of the decision's text.
  const hasText = 'decided' in record;
  const recorded = hasText ? record.decided : `sha256 ${record.decidedSha256}`;
  const computed = hasText ? recomputed : `sha256 ${sha256(recomputed)}`;
  if (recorded === computed) {
    io.stdout.write(
      printableLines([
        `${record.hash} ${record.placement}: the same decision, byte for byte (${utf8LengthBytes(recomputed)} bytes${from})`,
      ]),
    );
    return 0;
  }
  const differing = [`- ${recorded}`, `+ ${computed}`, ...(hasText ? [] : [`  ${recomputed}`])];
  io.stdout.write(
    printableLines([`${record.hash} ${record.placement}: another decision${from}`, ...differing]),
  );
  if (from !== '')
    io.stderr.write(
      'This proves nothing, because clusters and scores may have changed since. The data directory of the controller that decided has the original inputs.\n',
    );
  io.stderr.write(`recorded by berth ${record.engineVersion}, computed by berth ${await packageVersion()}\n`);
  return 1;
}

interface Inputs {
  readonly snapshot: Snapshot;
  /** Their origin, for the message; '' for the recorded ones. */
  readonly from: string;
}

/** The recorded inputs; if they are not available and a clone is given, the rebuilt ones. */
async function inputsOf(
  io: CliIo,
  flags: ReplayFlags,
  record: HistoryRecord,
  all: readonly HistoryRecord[],
): Promise<Inputs> {
  const { HistoryReader } = await import('../../../../adapters/store/history-store.ts');
  try {
    return { snapshot: await new HistoryReader(historyDir(flags)).readSnapshot(record.inputs), from: '' };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    if (flags.repo === undefined || !isHubRequested(flags)) throw inputsMissing(flags, record, error);
  }
  const { rebuildSnapshot } = await import('../../../../controllers/explanations/offline-snapshot.ts');
  const records = all.filter((one): one is CompactRecord => 'decidedSha256' in one);
  const compact = records.find(({ hash }) => hash === record.hash);
  if (compact === undefined) throw inputsMissing(flags, record, undefined);
  const repo = flags.repo;
  const snapshot = await withHub(io, flags, (hub) =>
    rebuildSnapshot({ record: compact, records, hub, repo }, io),
  );
  const commit = record.commit?.id.slice(0, 12) ?? '';
  return { snapshot, from: `, from inputs rebuilt from commit ${commit} and the current hub` };
}

function inputsMissing(flags: ReplayFlags, record: HistoryRecord, cause: unknown): InputError {
  return new InputError(`its inputs (${record.inputs}) are missing in ${historyDir(flags)}, or are damaged`, {
    code: 'history.inputs',
    subject: `record ${record.hash}`,
    hint:
      'the controller that decided stores them in its data directory: set --data to it, or to a copy of its folder history; ' +
      'or rebuild them from the commit and the current hub with --kubeconfig and --repo CLONE',
    cause,
  });
}
