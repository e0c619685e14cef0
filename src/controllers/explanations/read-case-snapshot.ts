import { errorText, InputError } from '@berth/runtime/errors';
import type { ParsedCase, SimulationCase } from './simulation-case.ts';
import { checkSimulationCase } from './simulation-case.ts';

/**
 * Reads a snapshot from JSON Lines of cases. A case is the line itself, or its field `case` as in recorded results.
 * @param from `name`: the name of the case; undefined: the first one
 * @throws InputError with the line of an invalid case, or if there is no such case
 */
export function readCaseSnapshot(
  text: string,
  from: { readonly file: string; readonly name?: string | undefined },
): Pick<SimulationCase, 'snapshot' | 'assumed'> {
  const names: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const found = parseLine(line);
    if (!found.ok)
      throw new InputError(found.error, {
        code: 'case.syntax',
        subject: 'Case',
        location: { file: from.file, line: index + 1, column: 1 },
      });
    if (from.name === undefined || found.name === from.name) return found;
    names.push(found.name);
  }
  const known = names.slice(0, 5).join(', ');
  const problem =
    names.length === 0 ? 'contains no case' : `has no case ${JSON.stringify(from.name)}, it has ${known}`;
  throw new InputError(problem, { code: 'case.not-found', subject: from.file });
}

function parseLine(line: string): ParsedCase {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return { ok: false, error: `not JSON (${errorText(error)}), expected one case object per line` };
  }
  const isWrapped = typeof value === 'object' && value !== null && Object.hasOwn(value, 'case');
  return checkSimulationCase(isWrapped ? (value as { readonly case: unknown }).case : value);
}
