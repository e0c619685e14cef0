import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import { fieldError, findingsAbout, type SourceFinding } from './source-finding.ts';

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
