import { readFileSync } from 'node:fs';
import { errorText, InputError } from '@berth/runtime/errors';

/**
 * The text of a file that a flag of the hub names.
 * @param code of the error
 * @throws InputError when it cannot be read
 */
export function readFlagFile(code: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw wrongFile(code, file, `cannot be read: ${errorText(error)}`);
  }
}

/** @param where the file, perhaps with the line */
export function wrongFile(code: string, where: string, problem: string): InputError {
  return new InputError(problem, { code, subject: where });
}
