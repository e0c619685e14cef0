import type { Logger } from '@berth/runtime/logger';

export const SILENT_LOG: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => SILENT_LOG,
};
