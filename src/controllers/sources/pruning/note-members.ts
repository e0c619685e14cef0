import type { KubeObject } from '../../../core/model/object-meta.ts';
import { countedMembers, isPruned, standingIdentities } from '../../../core/sync/plan-prune.ts';
import { noteMembersBefore } from '../../../core/sync/prune-memory.ts';
import { knownOf, memoryOf, type PruneParts, type PruneState } from './prune-state.ts';
import type { SyncInput } from '../members/sync-outcome.ts';

/**
 * How many members there were before what the source brings now, beside what leaves it: what may be deleted is a share of these, in every
 * later look and in the next process as well. To be asked before the first of it is applied; undefined: nothing leaves, or nothing comes.
 */
export async function noteMembers(
  parts: Omit<PruneParts, 'limit'>,
  objects: SyncInput['objects'],
  found: Pick<PruneState, 'members' | 'areAll' | 'others' | 'parent'>,
): Promise<number | undefined> {
  const { claims, source, registry } = parts;
  const { members, areAll } = found;
  const memory = memoryOf(parts, found);
  if (memory.membersBefore !== undefined || !areAll) return memory.membersBefore;
  const known = knownOf(parts, objects, memory, found);
  const leaves = ([identity, object]: readonly [string, KubeObject]): boolean =>
    claims.letsGo(source, identity) && !known.movesOn(identity) && isPruned(object);
  if (![...members].some(leaves)) return undefined;
  const comes = ({ object }: SyncInput['objects'][number]): boolean =>
    !standingIdentities(object).some((identity) => members.has(identity));
  if (!objects.some(comes)) return undefined;
  const count = countedMembers(known).length;
  await registry.annotate(noteMembersBefore(count));
  return count;
}
