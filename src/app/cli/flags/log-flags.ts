import type { Command } from 'commander';
import type { Logger } from '@berth/runtime/logger';
import type { CliIo } from '../../terminal/cli-io.ts';
import { writePainted } from '../../terminal/terminal-output.ts';
import { oneOf } from './option-values.ts';

/** Flags of every command that runs until it is stopped. */
export interface LogFlags {
  readonly logLevel: string;
  readonly logFormat: string;
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const FORMATS = ['auto', 'text', 'json'] as const;

export function addLogFlags<T extends Command>(command: T): T {
  return command
    .option('--log-level <level>', LEVELS.join(', '), 'info')
    .option('--log-format <format>', 'auto, text, json; auto: text on a terminal, otherwise json', 'auto');
}

/**
 * The log on standard error.
 * @throws InputError for a level or a format that is not known
 */
export async function openLog({ stderr, env }: CliIo, flags: LogFlags): Promise<Logger> {
  const level = oneOf('--log-level', flags.logLevel, LEVELS);
  const format = oneOf('--log-format', flags.logFormat, FORMATS);
  const isTerminal = (stderr as { readonly isTTY?: boolean }).isTTY === true;
  const { createLogger } = await import('../../../adapters/log/pino-logger.ts');
  if (format === 'json' || (format === 'auto' && !isTerminal)) return createLogger({ level, stream: stderr });
  const { readableLines } = await import('../../../adapters/log/pino-logger.ts');
  const colour = isTerminal && env['NO_COLOR'] === undefined;
  return createLogger({
    level,
    stream: { write: (line) => writePainted(stderr, readableLines(line, colour)) },
  });
}
