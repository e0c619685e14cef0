import { BerthError, InputError } from '../errors.ts';
import type { Clock } from '../clock/clock.ts';
import type { LogFields, Logger } from '../logger.ts';
import { OncePerPeriod } from '../loop/rate-limiter.ts';

const REPEAT_MS = 60_000;

/**
 * A logger that lowers messages about failed requests to debug level where another message explains them
 * (`isExplained`, see `ServerOutage`), and where the same was just logged: a refusal, such as of a token by a forge, lasts
 * until somebody acts, so it is logged once a minute.
 */
export function quietLogger(
  log: Logger,
  isExplained: (error: BerthError) => boolean,
  clock: Pick<Clock, 'now'>,
): Logger {
  const due = new OncePerPeriod(() => clock.now(), REPEAT_MS);
  const isQuiet = (message: string, fields: LogFields = {}): boolean => {
    const { error } = fields;
    if (!(error instanceof BerthError)) return false;
    return (
      isExplained(error) || (error instanceof InputError && !due.isDue(identityOf(message, fields, error)))
    );
  };
  const quietOver = (inner: Logger, context: string): Logger => ({
    debug: (message, fields) => inner.debug(message, fields),
    info: (message, fields) => inner.info(message, fields),
    warn: (message, fields) => inner[isQuiet(context + message, fields) ? 'debug' : 'warn'](message, fields),
    error: (message, fields) =>
      inner[isQuiet(context + message, fields) ? 'debug' : 'error'](message, fields),
    child: (fields) => quietOver(inner.child(fields), `${context}${JSON.stringify(fields)} `),
  });
  return quietOver(log, '');
}

/** Equal for the same failure of the same thing. Numbers, such as of attempts, do not count. */
function identityOf(message: string, fields: LogFields, error: InputError): string {
  const names = Object.values(fields).filter((value) => typeof value === 'string');
  return JSON.stringify([message, ...names, error.message]);
}
