import type { KubeObject } from '@berth/kube/model/object-meta';
import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import { appliedKinds, listedKind } from '../sync/applied/applied-kinds.ts';
import { fieldError, findingsAbout, type SourceFinding } from './source-finding.ts';

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

/** `served`, or else the versions in which the kind is served, as in `apiVersion`; none if the kind is unknown. */
export type KindService = 'served' | readonly string[];

const KNOWN_KINDS =
  'a kind of Kubernetes, OCM or Argo CD, or one that a CustomResourceDefinition here defines';

/**
 * Reports objects of a kind, or of a version of it, that no hub serves.
 * @param serviceOf how a hub is known, or expected, to serve the object's kind
 */
export function checkKinds(
  objects: readonly SourceObject[],
  serviceOf: (object: KubeObject) => KindService,
): readonly SourceFinding[] {
  return objects.flatMap((source) => {
    const versions = serviceOf(source.object);
    if (versions === 'served') return [];
    const { apiVersion, kind } = source.object;
    const { group } = groupVersionOf(apiVersion);
    const expected = versions.length === 0 ? KNOWN_KINDS : versions.join(' or ');
    const message = `got ${apiVersion} ${kind}, expected ${expected}`;
    const hint = `if the hub serves it: --expect-kind ${group}/${kind}`;
    const field = versions.length === 0 ? 'kind' : 'apiVersion';
    return findingsAbout(source, [fieldError('source.kind-not-served', [field], message, hint)]);
  });
}
