import { StatusError } from '../status/status-error.ts';
import type { FieldSet } from './field-set.ts';
import { memberPaths } from './field-set.ts';
import type { ManagedEntry } from './managed-fields.ts';

export interface FieldConflict {
  readonly owner: ManagedEntry;
  readonly fields: FieldSet;
}

/** 409: fields of an applied configuration belong to others, with other values. */
export function applyConflict(conflicts: readonly FieldConflict[]): StatusError {
  const rows = conflicts
    .map(({ owner, fields }) => ({ owner: managerText(owner), paths: memberPaths(fields) }))
    .sort((a, b) => (a.owner < b.owner ? -1 : 1));
  const causes = rows.flatMap(({ owner, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${owner}`, field })),
  );
  const [only] = causes;
  if (causes.length === 1 && only !== undefined) {
    const message = `Apply failed with 1 conflict: ${only.message}: ${only.field}`;
    return new StatusError(409, 'Conflict', message, { causes });
  }
  const lines = rows.map(
    ({ owner, paths }) => `conflicts with ${owner}:\n${paths.map((path) => `- ${path}`).join('\n')}`,
  );
  const message = `Apply failed with ${String(causes.length)} conflicts: ${lines.join('\n')}`;
  return new StatusError(409, 'Conflict', message, { causes });
}

function managerText(entry: ManagedEntry): string {
  const subresource =
    entry.subresource === '' ? '' : ` with subresource ${JSON.stringify(entry.subresource)}`;
  const name = `${JSON.stringify(entry.name)}${subresource}`;
  return entry.operation === 'Update' ? `${name} using ${entry.apiVersion}` : name;
}
