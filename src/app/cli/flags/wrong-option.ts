import { InputError } from '../../../core/errors.ts';

/** An option that cannot be used as it was given; `problem` says what is wrong with it and what was expected. */
export function wrongOption(option: string, problem: string): InputError {
  return new InputError(problem, { code: 'cli.option', subject: option });
}

/** One whose value means nothing here. */
export function wrongValue(option: string, got: string, expected: string): InputError {
  return wrongOption(option, `got ${JSON.stringify(got)}, expected ${expected}`);
}
