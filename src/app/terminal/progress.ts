import { printable } from '@berth/runtime/text/printable';
import type { CliIo } from './cli-io.ts';
import { writePainted } from './terminal-output.ts';

/**
 * Shows the progress of a command in one terminal line that is overwritten; nothing without a
 * terminal.
 */
export interface Progress {
  /** For example `reading main`, without dots or line break. */
  readonly report: (step: string) => void;
  /** Removes the line. Call it before anything else is printed. */
  readonly done: () => void;
}

export function makeProgress({ stderr }: Pick<CliIo, 'stderr'>): Progress {
  const isTerminal = (stderr as { readonly isTTY?: boolean }).isTTY === true;
  const write = (text: string): void => {
    if (isTerminal) writePainted(stderr, text);
  };
  return { report: (step) => write(`\r\u001b[2K${printable(step)} …`), done: () => write('\r\u001b[2K') };
}
