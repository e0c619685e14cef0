import type { CliIo, ExitCode } from '../terminal/cli-io.ts';
import { COMMANDS } from './commands.ts';
import { runCommands } from './commands/run-commands.ts';

/** Runs `berth ARGS`. Never throws: a failure is printed to stderr and becomes exit code 1. */
export function runCli(args: readonly string[], io: CliIo): Promise<ExitCode> {
  return runCommands(COMMANDS, args, io);
}
