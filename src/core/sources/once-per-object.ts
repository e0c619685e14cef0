import type { FieldFinding } from './source-finding.ts';

/**
 * A check that depends on the object alone, done once for as long as the object lives: unchanged files give the very same
 * objects from commit to commit, and most of a commit is unchanged.
 */
export function oncePerObject<T extends object>(
  check: (object: T) => readonly FieldFinding[],
): (object: T) => readonly FieldFinding[] {
  const known = new WeakMap<T, readonly FieldFinding[]>();
  return (object) => {
    let findings = known.get(object);
    if (findings === undefined) known.set(object, (findings = check(object)));
    return findings;
  };
}
