import type { BerthError } from '../errors.ts';
import type { Problem } from '../model/problem.ts';
import { formatLocation } from '../model/source-location.ts';

/** An error that was thrown as a problem of the input: the message of an error ends with its place, that of a problem has it beside it. */
export function errorProblem({ code, message, hint, location }: BerthError): Problem {
  const place = location === undefined ? '' : ` (${formatLocation(location)})`;
  const text = message.endsWith(place) ? message.slice(0, message.length - place.length) : message;
  return { severity: 'error', code, message: text, ...(hint && { hint }), ...(location && { location }) };
}
