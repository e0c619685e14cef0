import type { KubeObject } from '../model/object-meta.ts';
import type { SourceObject } from '../model/source-object.ts';
import { fieldError, findingsAbout, type SourceFinding } from './source-finding.ts';

/**
 * Reports objects of a kind that no hub serves.
 * @param isServed whether a hub is known, or expected, to serve the object's kind
 */
export function checkKinds(
  objects: readonly SourceObject[],
  isServed: (object: KubeObject) => boolean,
): readonly SourceFinding[] {
  return objects
    .filter(({ object }) => !isServed(object))
    .flatMap((source) => {
      const { apiVersion, kind } = source.object;
      const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
      const message = `got ${apiVersion} ${kind}, expected a kind of Kubernetes, OCM or Argo CD, or one that a CustomResourceDefinition here defines`;
      const hint = `if the hub serves it: --expect-kind ${group}/${kind}`;
      return findingsAbout(source, [fieldError('source.kind-not-served', ['kind'], message, hint)]);
    });
}
