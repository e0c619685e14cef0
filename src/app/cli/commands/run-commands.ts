import { Command, CommanderError, Help, type Option } from 'commander';
import { BerthError, errorText } from '@berth/runtime/errors';
import type { CliCommand, RunAction } from './cli-command.ts';
import { type CliIo, type ExitCode, NOT_READY } from '../../terminal/cli-io.ts';
import { builtCommit, packageVersion } from './version.ts';
import { messageLines, withSafeOutput } from '../../terminal/terminal-output.ts';

/**
 * Runs one of the commands. Never throws: a failure is printed to stderr and becomes exit code 1, or 2 (NOT_READY).
 * @param groups headings of the help, each with the names of its commands, in this order
 */
export async function runCommands(
  commands: readonly CliCommand[],
  args: readonly string[],
  given: CliIo,
  groups: Readonly<Record<string, readonly string[]>> = {},
): Promise<ExitCode> {
  const io = withSafeOutput(given);
  let exitCode: ExitCode = 0;
  const run: RunAction =
    (action) =>
    async (...actionArgs) => {
      exitCode = await action(io, ...actionArgs);
    };
  const program = new Command('berth')
    .description('GitOps placement controller for Open Cluster Management and Argo CD')
    .version(
      `berth ${await packageVersion()}, commit ${builtCommit()}`,
      '-V, --version',
      'print the version and the commit that was built',
    )
    // `--version` behind a command is the command's.
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ optionDescription })
    .showHelpAfterError('(add --help for usage and examples)')
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
    })
    .addHelpText('after', HELP);
  // The heading of what is in no group, and of `help`.
  program.commandsGroup(Object.keys(groups).at(-1) ?? 'Commands:');
  for (const command of commands) command.register(program, run);
  // Subcommands inherit a `help` that exists before them, with its heading.
  program.helpCommand(true);
  addHeadings(program, groups);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.code === 'commander.unknownCommand')
      io.stderr.write(messageLines('hint', known(program, args)));
    return reportFailure(error, io);
  }
}

const HELP = `
Exit codes: 0 done or no change, 1 error, 2 plan found changes, hub revoke found no token, or what init or join waits for is missing, 3 a rule or a hold stops the plan, or serve lost its Lease.

Examples:
  berth COMMAND --help        # what it does, its options, examples
  berth demo                  # everything at once, on this machine
`;

/** The help lists groups in the order of their first command. */
function addHeadings(program: Command, groups: Readonly<Record<string, readonly string[]>>): void {
  const order = Object.values(groups).flat();
  for (const [heading, names] of Object.entries(groups))
    for (const command of program.commands) if (names.includes(command.name())) command.helpGroup(heading);
  const place = (command: Command): number => order.indexOf(command.name()) + 1 || Infinity;
  (program.commands as Command[]).sort((a, b) => place(a) - place(b));
}

/** What exists where the first unknown word is. */
function known(program: Command, args: readonly string[]): string {
  let [command, path] = [program, program.name()];
  for (const word of args) {
    const next = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
    if (next === undefined) break;
    [command, path] = [next, `${path} ${word}`];
  }
  return `${path} has these commands: ${command.commands.map((one) => one.name()).join(', ')}`;
}

const DEFAULT_HELP = new Help();

/** The description of an option, without a default of false or an empty list. */
function optionDescription(option: Option): string {
  const defaultValue: unknown = option.defaultValue;
  const isPlain = defaultValue === false || (Array.isArray(defaultValue) && defaultValue.length === 0);
  return isPlain ? option.description : DEFAULT_HELP.optionDescription(option);
}

function reportFailure(error: unknown, io: CliIo): ExitCode {
  // Commander has already printed its own message (help, version, usage errors).
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
  io.stderr.write(messageLines('error', errorText(error)));
  if (error instanceof BerthError && error.hint !== undefined)
    io.stderr.write(messageLines('hint', error.hint));
  if (!(error instanceof BerthError) && io.env['BERTH_DEBUG'] !== undefined && error instanceof Error)
    io.stderr.write(`${error.stack ?? ''}\n`);
  return error instanceof BerthError && error.code === NOT_READY ? 2 : 1;
}
