import { InputError } from '@berth/runtime/errors';

/** The error for an invalid option; `problem` describes the value and what was expected. */
export function wrongOption(option: string, problem: string): InputError {
  return new InputError(problem, { code: 'cli.option', subject: option });
}

/** The error for an invalid value of an option. */
export function wrongValue(option: string, got: string, expected: string): InputError {
  return wrongOption(option, `got ${JSON.stringify(got)}, expected ${expected}`);
}
