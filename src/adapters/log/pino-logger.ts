import { pino, type DestinationStream, type Logger as PinoLogger } from 'pino';
import { BerthError } from '@berth/runtime/errors';
import type { LogFields, Logger } from '@berth/runtime/logger';

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
