import { InputError } from '../../core/errors.ts';
import type { World } from '../../core/snapshot/world.ts';

const LISTS = ['placements', 'clusters', 'clusterSets', 'bindings', 'decisions', 'scores'] as const;

/**
 * A world from JSON Lines of cases, bare or under `"case"` as in recorded answers: the one of that name, else the first.
 * InputError names the line.
 */
export function readCase(
  text: string,
  from: { readonly file: string; readonly name?: string | undefined },
): World {
  const names: string[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const found = parseLine(line, { file: from.file, line: index + 1, column: 1 });
    if (from.name === undefined || found.name === from.name) return found.world;
    names.push(found.name);
  }
  throw new InputError(
    names.length === 0
      ? 'holds no case'
      : `has no case ${JSON.stringify(from.name)}, it has ${names.slice(0, 5).join(', ')}`,
    { code: 'case.not-found', subject: from.file },
  );
}

interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

function parseLine(line: string, location: Place): { readonly name: string; readonly world: World } {
  const wrong = (problem: string, cause?: unknown): never => {
    throw new InputError(problem, { code: 'case.syntax', subject: 'Case', location, cause });
  };
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    return wrong('is not JSON', cause);
  }
  const inner = isRecord(value) && isRecord(value['case']) ? value['case'] : value;
  if (!isRecord(inner)) return wrong('got no object, expected a case');
  const record = inner;
  if (typeof record['now'] !== 'string') return wrong('now: expected a time such as 2026-01-31T12:00:00Z');
  for (const list of LISTS)
    if (record[list] !== undefined && record[list] !== null && !Array.isArray(record[list]))
      wrong(`${list}: expected a list`);
  const lists = Object.fromEntries(LISTS.map((list) => [list, record[list] ?? []]));
  const name = typeof record['name'] === 'string' ? record['name'] : '';
  return { name, world: { now: record['now'], ...lists } as unknown as World };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
