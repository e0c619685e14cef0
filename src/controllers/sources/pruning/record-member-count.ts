import { departuresOf } from '../../../core/sync/applied/departure.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { countedMembers, possibleIdentities } from '../../../core/sync/plan-prune.ts';
import { noteMembersBefore } from '../../../core/sync/prune-memory.ts';
import { pruneInputOf, pruneMemoryOf, type PruneParts, type PruneState } from './prune-state.ts';
import type { SyncInput } from '../members/sync-outcome.ts';

/**
 * The number of members before a commit that both adds and deletes objects. The budget is a
 * fraction of it in every later sync, also after a restart. Compute it before the first apply;
 * undefined if there are no deletions or no additions.
 */
export async function recordMemberCount(
  parts: Omit<PruneParts, 'limit'>,
  objects: SyncInput['objects'],
  found: Pick<PruneState, 'members' | 'areAll' | 'others' | 'parent'>,
): Promise<number | undefined> {
  const { declarations: declarations, source, registry } = parts;
  const { members, areAll } = found;
  const memory = pruneMemoryOf(parts, found);
  if (memory.membersBefore !== undefined || !areAll) return memory.membersBefore;
  const known = pruneInputOf(parts, objects, memory, found);
  const isGone = ([identity]: readonly [string, KubeObject]): boolean =>
    declarations.hasGivenUp(source, identity) && !known.isTransferred(identity);
  if (departuresOf([...members].filter(isGone).map(([, object]) => object)).deleted.length === 0)
    return undefined;
  const isAdded = ({ object }: SyncInput['objects'][number]): boolean =>
    !possibleIdentities(object).some((identity) => members.has(identity));
  if (!objects.some(isAdded)) return undefined;
  const count = countedMembers(known).length;
  await registry.annotate(noteMembersBefore(count));
  return count;
}
