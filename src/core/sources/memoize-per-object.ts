import type { FieldFinding } from './source-finding.ts';

/**
 * Caches the findings of a check for each object, until the object is garbage-collected. The check must depend on the object
 * alone. Files that a commit does not change keep their parsed objects, so most objects of a commit were checked before.
 */
export function memoizePerObject<T extends object>(
  check: (object: T) => readonly FieldFinding[],
): (object: T) => readonly FieldFinding[] {
  const findingsByObject = new WeakMap<T, readonly FieldFinding[]>();
  return (object) => {
    let findings = findingsByObject.get(object);
    if (findings === undefined) findingsByObject.set(object, (findings = check(object)));
    return findings;
  };
}
