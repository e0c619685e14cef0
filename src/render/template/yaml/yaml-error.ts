import { GoError } from '../value/go-error.ts';

/**
 * What is wrong with a YAML text, with the message of go-yaml. go-yaml counts lines from 0, and names the line of a place unless that is 0; where its
 * scanner fails it adds one.
 */
export function scannerError(problem: string, line: number): GoError {
  return new GoError(`yaml: ${line > 0 ? `line ${line + 1}: ` : ''}${problem}`);
}

export function parserError(problem: string, line: number): GoError {
  return new GoError(`yaml: ${line > 0 ? `line ${line}: ` : ''}${problem}`);
}
