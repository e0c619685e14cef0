import type { Value } from '../value/go-type.ts';
import type { Run } from './run.ts';

/** What a command gets from the command before it in the pipeline: a value (undefined: none), or that there is no such command. */
export const NO_COMMAND: unique symbol = Symbol('no command before');
export type Final = Value | undefined | typeof NO_COMMAND;

/** Where an expression is evaluated. */
export interface Place {
  readonly run: Run;
  readonly dot: Value | undefined;
}
