import { parseManifests } from '../../adapters/yaml/parse-manifests.ts';
import type { Problem } from '@berth/runtime/problem/problem';
import { objectIdentity, refOf } from '@berth/kube/model/object-ref';
import { formatLocation } from '@berth/runtime/problem/source-location';
import type { SourceObject } from '@berth/kube/model/source-object';

/** The objects of a test, and their problems. */
export interface TestObjects {
  readonly objects: readonly SourceObject[];
  readonly problems: readonly Problem[];
}

/**
 * Checks the inline objects of a test file as if they were a manifest file, so that mistakes in them are found.
 * @param shown the place in messages, such as `a.placement-test.yaml (spec.objects)`
 */
export function readInlineObjects(shown: string, objects: readonly unknown[]): TestObjects {
  const text = objects.map((one) => JSON.stringify(one)).join('\n---\n');
  const { manifests, problems } = parseManifests({ file: shown, text });
  return { objects: manifests, problems };
}

/** The objects of the fleet. An object of the test replaces the one of the same kind and name. */
export function overlayObjects(
  fleet: readonly SourceObject[],
  own: readonly SourceObject[],
): readonly SourceObject[] {
  const key = ({ object }: SourceObject): string => objectIdentity(refOf(object));
  const replaced = new Set(own.map(key));
  return [...fleet.filter((one) => !replaced.has(key(one))), ...own];
}

export function errorsAmong(problems: readonly Problem[]): readonly Problem[] {
  return problems.filter(({ severity }) => severity === 'error');
}

/** `file:line:column: Placement a/b: what is wrong` */
export function testProblemText({ message, location, object }: Problem): string {
  const where = location === undefined ? '' : `${formatLocation(location)}: `;
  return `${where}${object === undefined ? '' : `${object}: `}${message}`;
}
