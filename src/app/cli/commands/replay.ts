import { createHash } from 'node:crypto';
import { InputError } from '../../../core/errors.ts';
import { namespacedName } from '../../../core/model/object-ref.ts';
import { utf8LengthBytes } from '../../../core/model/utf8-length.ts';
import { decidedText } from '../../../core/publish/decision-record.ts';
import type { CliCommand } from '../cli-command.ts';
import type { CliIo, ExitCode } from '../cli-io.ts';
import { type HistoryFlags, historyDir, readRecords } from '../decision-history.ts';
import { addHubFlags } from '../hub-flags.ts';
import { packageVersion } from '../package-version.ts';

const EXAMPLES = `
Exit codes: 0 the same bytes, 1 another result, or an error.

Examples:
  berth history team-a/web
  berth replay 1c0ffee5c0ffee55 --data /var/lib/berth
  berth replay 1c0ffee5c0ffee55 --data /var/lib/berth --kubeconfig hub.kubeconfig
`;

export const replayCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('replay')
      .argument('<record>', 'hash of a record, or its beginning')
      .description(
        'compute a published decision again from its recorded inputs, offline, and compare byte for byte',
      )
      .option('--data <dir>', 'data directory of berth serve: where the inputs are', '.berth')
      .option('--hub', 'take the record from a hub; only the inputs come from the data directory', false);
    addHubFlags(command)
      .addHelpText('after', EXAMPLES)
      .action(run((io, hash: string, flags: HistoryFlags) => runReplay(io, hash, flags)));
  },
};

/** 0: the same bytes; 1: another result. */
async function runReplay(io: CliIo, hash: string, flags: HistoryFlags): Promise<ExitCode> {
  const { HistoryReader } = await import('../../../adapters/store/history-reader.ts');
  const { startEngine } = await import('../../serve/placement-engine.ts');
  const found = (await readRecords(io, flags, undefined)).filter((record) => record.hash.startsWith(hash));
  const record = found[0];
  if (record === undefined || found.length > 1)
    throw new InputError(
      found.length > 1 ? `fits ${found.length} records, give more of the hash` : 'is not in the history',
      {
        code: 'history.record',
        subject: `record ${hash}`,
        hint: 'berth history lists them',
      },
    );
  const world = await new HistoryReader(historyDir(flags)).readWorld(record.inputs);
  const result = [...startEngine()(world)].find(
    (candidate) => namespacedName(candidate.placement.metadata) === record.placement,
  );
  const again = result === undefined ? 'nothing' : decidedText(result);
  // The compact record of a hub has no text, only what it hashes to.
  const isWhole = 'decided' in record;
  const recorded = isWhole ? record.decided : `sha256 ${record.decidedSha256}`;
  const computed = isWhole ? again : `sha256 ${sha256(again)}`;
  if (recorded === computed) {
    io.stdout.write(
      `${record.hash} ${record.placement}: the same decision, byte for byte (${utf8LengthBytes(again)} bytes)\n`,
    );
    return 0;
  }
  const differing = [`- ${recorded}`, `+ ${computed}`, ...(isWhole ? [] : [`  ${again}`])];
  io.stdout.write(`${record.hash} ${record.placement}: another decision\n${differing.join('\n')}\n`);
  io.stderr.write(`recorded by berth ${record.engineVersion}, computed by berth ${await packageVersion()}\n`);
  return 1;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
