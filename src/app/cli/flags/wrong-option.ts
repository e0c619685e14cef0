import { InputError } from '../../../core/errors.ts';

/** The error for an option that cannot be used as given. `problem` says what is wrong with it and what was expected. */
export function wrongOption(option: string, problem: string): InputError {
  return new InputError(problem, { code: 'cli.option', subject: option });
}

/** The error for an option with an invalid value. */
export function wrongValue(option: string, got: string, expected: string): InputError {
  return wrongOption(option, `got ${JSON.stringify(got)}, expected ${expected}`);
}
