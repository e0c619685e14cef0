import { versionCommand } from './commands/version.ts';
import type { CliCommand } from './cli-command.ts';

/** Every `berth` command, in the order of `berth --help`. */
export const COMMANDS: readonly CliCommand[] = [versionCommand];
