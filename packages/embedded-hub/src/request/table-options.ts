import { badRequest } from '../wire/status-errors.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

/**
 * How much of each object the rows of a Table contain.
 * @throws StatusError 400
 */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject');
  if (value === null || value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw badRequest(`includeObject: got ${JSON.stringify(value)}, expected None, Metadata or Object`);
}
