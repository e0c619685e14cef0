import { oncePerList } from '../../../core/once-per-list.ts';
import type { SourceObject } from '../../../core/model/source-object.ts';
import { possibleIdentities } from '../../../core/sync/plan-prune.ts';

/** The identities that the objects may have on the hub. */
export const declaredIdentities = oncePerList(
  (objects: readonly SourceObject[]): ReadonlySet<string> =>
    new Set(objects.flatMap(({ object }) => possibleIdentities(object))),
);
