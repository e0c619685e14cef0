import { BerthError } from '@berth/runtime/errors';
import type { LogFields, Logger } from '@berth/runtime/logger';
import { printable } from '@berth/runtime/text/printable';
import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Writes JSON lines, one for each entry. `error` fields keep class, code, subject and hint of Berth's errors. */
export function createLogger(options: { level: LogLevel; stream?: DestinationStream }): Logger {
  const settings = {
    level: options.level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: describeError },
    redact: { paths: ['token', 'password', 'authorization', '*.token', '*.password'], censor: '[redacted]' },
  };
  return wrap(options.stream === undefined ? pino(settings) : pino(settings, options.stream));
}

function wrap(log: PinoLogger): Logger {
  return {
    debug: (message, fields) => log.debug(fields ?? {}, message),
    info: (message, fields) => log.info(fields ?? {}, message),
    warn: (message, fields) => log.warn(fields ?? {}, message),
    error: (message, fields) => log.error(fields ?? {}, message),
    child: (fields) => wrap(log.child(fields)),
  };
}

function describeError(error: unknown): LogFields | string {
  if (error instanceof BerthError) {
    const { name, code, subject, message, hint } = error;
    return { name, code, subject, message, ...(hint === undefined ? {} : { hint }) };
  }
  // Any other error is unexpected, so its stack is logged.
  if (error instanceof Error) return { name: error.name, message: error.message, stack: error.stack };
  return String(error);
}

const COLOURS: Readonly<Record<string, string>> = { warn: '33', error: '31', debug: '2' };
const PLAIN = /^[^\s"'=]+$/;

/**
 * An entry of the log for people: `14:02:07Z warn  the hub does not answer  source=fleet`. What an error says follows on
 * lines of its own. Text from outside is escaped.
 * @param line one entry as JSON
 * @param colour colours the level by its meaning, and the names of fields
 */
export function readableLines(line: string, colour: boolean): string {
  const { level, time, msg, error, ...fields } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const paint = (code: string | undefined, text: string): string =>
    colour && code !== undefined ? `\u001b[${code}m${text}\u001b[0m` : text;
  const word = String(level);
  const head = [
    paint('2', `${String(time).slice(11, 19)}Z`),
    `${paint(COLOURS[word], word.padEnd(5))} ${printable(String(msg))}`,
    ...Object.entries(fields).map(
      ([name, value]) => `${paint('2', `${printable(name)}=`)}${printable(valueText(value))}`,
    ),
  ];
  return `${[head.join(' '), ...errorLines(error)].join('\n')}\n`;
}

function valueText(value: unknown): string {
  return typeof value === 'string' && PLAIN.test(value) ? value : JSON.stringify(value);
}

/** Berth's errors have a code and may have a hint, others have a stack. */
function errorLines(error: unknown): readonly string[] {
  if (error === undefined) return [];
  if (typeof error !== 'object' || error === null) return [`    ${printable(JSON.stringify(error))}`];
  const { message, code, hint, stack } = error as Readonly<Record<string, string | undefined>>;
  const text = stack ?? `${message ?? ''} (${code ?? 'error'})`;
  return [...text.split('\n'), ...(hint === undefined ? [] : [hint])].map(
    (one) => `    ${printable(one.trim())}`,
  );
}
