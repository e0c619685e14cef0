import { BerthError, ConflictError, TransientError } from '../../core/errors.ts';
import type { LogFields, Logger } from '../../core/ports.ts';

/**
 * A logger that lowers messages about failed requests to debug level during a server outage
 * (`isOutage`). `ServerOutage` logs the outage once.
 */
export function quietLogger(log: Logger, isOutage: () => boolean): Logger {
  const isQuiet = (fields: LogFields | undefined): boolean => {
    const error = fields?.['error'];
    return (
      error instanceof BerthError && (isTemporary(error) || error.code.startsWith('kube.')) && isOutage()
    );
  };
  return {
    debug: (message, fields) => log.debug(message, fields),
    info: (message, fields) => log.info(message, fields),
    warn: (message, fields) => log[isQuiet(fields) ? 'debug' : 'warn'](message, fields),
    error: (message, fields) => log[isQuiet(fields) ? 'debug' : 'error'](message, fields),
    child: (fields) => quietLogger(log.child(fields), isOutage),
  };
}

function isTemporary(error: BerthError): boolean {
  return error instanceof TransientError || error instanceof ConflictError;
}
