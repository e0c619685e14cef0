import type { LogFields, Logger } from '@berth/runtime/logger';

/** A logger that prints nothing and keeps what it was told. */
export class SilentLogger implements Logger {
  readonly entries: { level: string; message: string; fields: LogFields }[] = [];
  debug = (message: string, fields: LogFields = {}) =>
    void this.entries.push({ level: 'debug', message, fields });
  info = (message: string, fields: LogFields = {}) =>
    void this.entries.push({ level: 'info', message, fields });
  warn = (message: string, fields: LogFields = {}) =>
    void this.entries.push({ level: 'warn', message, fields });
  error = (message: string, fields: LogFields = {}) =>
    void this.entries.push({ level: 'error', message, fields });
  child(): Logger {
    return this;
  }
}
