import { oncePerList } from '@berth/runtime/lists/once-per-list';
import type { SourceObject } from '@berth/kube/model/source-object';
import { possibleIdentities } from '../../../core/sync/plan-prune.ts';

/** The identities that the objects may have on the hub. */
export const declaredIdentities = oncePerList(
  (objects: readonly SourceObject[]): ReadonlySet<string> =>
    new Set(objects.flatMap(({ object }) => possibleIdentities(object))),
);
