import { BerthError, ConflictError, TransientError } from '../../core/errors.ts';
import type { LogFields, Logger } from '../../core/ports.ts';

/**
 * A logger that lowers messages about failed requests to debug level during a server outage
 * (`isAway`). `ServerOutage` logs the outage once.
 */
export function quietLogger(log: Logger, isAway: () => boolean): Logger {
  const isQuiet = (fields: LogFields | undefined): boolean => {
    const error = fields?.['error'];
    return error instanceof BerthError && (mayPass(error) || error.code.startsWith('kube.')) && isAway();
  };
  return {
    debug: (message, fields) => log.debug(message, fields),
    info: (message, fields) => log.info(message, fields),
    warn: (message, fields) => log[isQuiet(fields) ? 'debug' : 'warn'](message, fields),
    error: (message, fields) => log[isQuiet(fields) ? 'debug' : 'error'](message, fields),
    child: (fields) => quietLogger(log.child(fields), isAway),
  };
}

function mayPass(error: BerthError): boolean {
  return error instanceof TransientError || error instanceof ConflictError;
}
