import { printable, printableText } from '@berth/runtime/text/printable';
import type { CliIo } from './cli-io.ts';

/** An output of a command. All text is escaped, so that text from outside cannot control the terminal. */
export interface TerminalOutput extends NodeJS.WritableStream {
  /** Allows colours and the removal of a line. Everything else is escaped. */
  readonly writePainted: (text: string) => boolean;
}

/** Colours and weights (SGR), and the start of a line that replaces the previous one. */
const PAINT = /(\u001b\[\d{1,2}m|\r\u001b\[2K)/;

/** Makes the output of a command safe for terminals; all of its text passes through here. */
export function withSafeOutput(io: CliIo): CliIo {
  return { ...io, stdout: safeOutput(io.stdout), stderr: safeOutput(io.stderr) };
}

/**
 * Writes text that this program coloured. Untrusted parts must have been escaped by `printable`
 * before, because colour codes are not escaped here.
 */
export function writePainted(output: NodeJS.WritableStream, text: string): void {
  if ('writePainted' in output) (output as TerminalOutput).writePainted(text);
  else output.write(text);
}

/** Formats an error for people. A line break in the text cannot start a line that looks like another message. */
export function messageLines(label: string, text: string): string {
  return `${label}: ${text.split('\n').map(printable).join('\n  ')}\n`;
}

/** `write` with all its overloads: with an encoding, with a callback. */
interface AnyWriter {
  write(...given: readonly unknown[]): boolean;
}

function safeOutput(stream: NodeJS.WritableStream): TerminalOutput {
  if ('writePainted' in stream) return stream as TerminalOutput;
  const write = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    return (stream as unknown as AnyWriter).write(printableText(text), ...rest);
  };
  const painted = (text: string): boolean =>
    stream.write(
      text
        .split(PAINT)
        .map((part, index) => (index % 2 === 1 ? part : printableText(part)))
        .join(''),
    );
  return new Proxy(stream, {
    has: (target, name) => name === 'writePainted' || Reflect.has(target, name),
    get: (target, name) => {
      if (name === 'write') return write;
      if (name === 'writePainted') return painted;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  }) as TerminalOutput;
}

/**
 * Shows the progress of a command in one terminal line that is overwritten; nothing without a
 * terminal.
 */
interface Progress {
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
