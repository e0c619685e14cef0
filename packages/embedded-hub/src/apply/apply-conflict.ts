import { StatusError } from '../wire/status-error.ts';
import type { FieldSet } from './field-set.ts';
import { memberCount, memberPaths } from './field-set.ts';
import type { ManagedEntry } from './managed-fields.ts';

export interface FieldConflict {
  readonly owner: ManagedEntry;
  readonly fields: FieldSet;
}

/** Maximum number of conflicting fields in one response, which also contains the total number. */
const MAX_REPORTED = 100;

/** 409: fields of an applied configuration are owned by other managers, with other values. */
export function applyConflict(conflicts: readonly FieldConflict[]): StatusError {
  const count = conflicts.reduce((sum, { fields }) => sum + memberCount(fields), 0);
  const rows = namedConflicts(conflicts);
  const causes = rows.flatMap(({ owner, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${owner}`, field })),
  );
  const [only] = causes;
  if (count === 1 && only !== undefined) {
    const message = `Apply failed with 1 conflict: ${only.message}: ${only.field}`;
    return new StatusError(409, 'Conflict', message, { causes });
  }
  const lines = rows.map(
    ({ owner, paths }) => `conflicts with ${owner}:\n${paths.map((path) => `- ${path}`).join('\n')}`,
  );
  if (count > causes.length) lines.push(`...(${String(count - causes.length)} more conflicts)`);
  const message = `Apply failed with ${String(count)} conflicts: ${lines.join('\n')}`;
  return new StatusError(409, 'Conflict', message, { causes });
}

interface NamedConflict {
  readonly owner: string;
  readonly paths: readonly string[];
}

/** The first conflicts, by the names of their managers. */
function namedConflicts(conflicts: readonly FieldConflict[]): readonly NamedConflict[] {
  const byOwner = conflicts
    .map(({ owner, fields }) => ({ owner: managerText(owner), fields }))
    .sort((a, b) => (a.owner < b.owner ? -1 : 1));
  const rows: NamedConflict[] = [];
  let room = MAX_REPORTED;
  for (const { owner, fields } of byOwner) {
    if (room === 0) break;
    const paths = memberPaths(fields, room);
    room -= paths.length;
    rows.push({ owner, paths });
  }
  return rows;
}

function managerText(entry: ManagedEntry): string {
  const subresource =
    entry.subresource === '' ? '' : ` with subresource ${JSON.stringify(entry.subresource)}`;
  const name = `${JSON.stringify(entry.name)}${subresource}`;
  return entry.operation === 'Update' ? `${name} using ${entry.apiVersion}` : name;
}
