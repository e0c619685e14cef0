import { GoError } from '../value/go-error.ts';

/**
 * The error of a YAML text, with the message of go-yaml. go-yaml counts lines from 0 and omits line
 * 0. Where its scanner fails, it adds one to the line.
 */
export function scannerError(problem: string, line: number): GoError {
  return new GoError(`yaml: ${line > 0 ? `line ${line + 1}: ` : ''}${problem}`);
}

export function parserError(problem: string, line: number): GoError {
  return new GoError(`yaml: ${line > 0 ? `line ${line}: ` : ''}${problem}`);
}
