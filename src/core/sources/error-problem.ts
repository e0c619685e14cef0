import type { BerthError } from '@berth/runtime/errors';
import type { Problem } from '@berth/runtime/problem/problem';
import { formatLocation } from '@berth/runtime/problem/source-location';

/**
 * Converts a thrown error to a problem of the input, whose location is a field instead of a part of
 * the message.
 */
export function errorProblem({ code, message, hint, location }: BerthError): Problem {
  const place = location === undefined ? '' : ` (${formatLocation(location)})`;
  const text = message.endsWith(place) ? message.slice(0, message.length - place.length) : message;
  return { severity: 'error', code, message: text, ...(hint && { hint }), ...(location && { location }) };
}
