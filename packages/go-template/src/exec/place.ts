import type { Value } from '../value/go-type.ts';
import type { Run } from './run.ts';

/**
 * The value that a command gets from the previous command in the pipeline (undefined: no value), or
 * the mark that there is no previous command.
 */
export const NO_COMMAND: unique symbol = Symbol('no command before');
export type Final = Value | undefined | typeof NO_COMMAND;

/** Where an expression is evaluated. */
export interface Place {
  readonly run: Run;
  readonly dot: Value | undefined;
}
