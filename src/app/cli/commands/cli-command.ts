import type { Command } from 'commander';
import type { CliIo, ExitCode } from '../../terminal/cli-io.ts';

/** One `berth` command: its name, options, help with examples, and an action that returns an exit code. */
export interface CliCommand {
  /** Adds the command to the program; `run` wraps an action so that its exit code reaches the process. */
  readonly register: (program: Command, run: RunAction) => void;
}

/** Wraps the action of a command: awaits it and sets the exit code. Heavy modules are imported inside the action. */
export type RunAction = <A extends unknown[]>(
  action: (io: CliIo, ...args: A) => Promise<ExitCode>,
) => (...args: A) => Promise<void>;
