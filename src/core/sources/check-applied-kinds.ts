import type { SourceObject } from '@berth/kube/model/source-object';
import { appliedKinds, listedKind } from '../sync/applied/applied-kinds.ts';
import { findingsAbout, type SourceFinding } from './source-finding.ts';

/**
 * Finds objects that are not applied because the source does not list their kind. One finding per kind, at its first
 * object.
 * @param listed the kinds of the source; undefined: its settings are unknown, so the finding is a warning
 */
export function checkAppliedKinds(
  objects: readonly SourceObject[],
  listed: readonly string[] | undefined,
): readonly SourceFinding[] {
  const isApplied = appliedKinds(listed);
  const left = new Map<string, { readonly first: SourceObject; count: number }>();
  for (const source of objects) {
    if (isApplied(source.object)) continue;
    const kind = listedKind(source.object);
    const known = left.get(kind);
    if (known === undefined) left.set(kind, { first: source, count: 1 });
    else known.count += 1;
  }
  return [...left].flatMap(([kind, { first, count }]) =>
    findingsAbout(first, [
      {
        severity: listed === undefined ? 'warning' : 'error',
        code: 'source.kind-not-listed',
        path: ['kind'],
        message: `is applied to a hub only by a source that lists the kind${count > 1 ? ` (${count} objects)` : ''}`,
        hint: `for a work, name the folder in its annotation berth.dev/manifests; for the hub, add ${JSON.stringify(kind)} to the kinds of the source`,
      },
    ]),
  );
}
