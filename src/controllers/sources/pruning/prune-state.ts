import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import type pLimit from 'p-limit';
import type { Digest } from '../../../core/publish/approval/approval-code.ts';
import type { RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';
import { departuresOf, type WithdrawnObject } from '../../../core/sync/applied/departure.ts';
import type { DeletionRecord } from '../../../core/sync/deletion-record.ts';
import { countedMembers, possibleIdentities } from '../../../core/sync/plan-prune.ts';
import {
  noteMembersBefore,
  pruneInputFromMemory,
  type PruneMemory,
  readPruneMemory,
} from '../../../core/sync/prune-memory.ts';
import type { ApplySetRegistry } from '../members/apply-set-registry.ts';
import type { SyncInput } from '../members/sync-problem.ts';
import type { CommitBarrier } from '../progress/commit-barrier.ts';
import type { SourceDeclarations } from '../progress/source-declarations.ts';

export interface PruneParts {
  readonly api: KubeApi;
  readonly digest: Digest;
  readonly source: string;
  readonly budget: RemovalBudget;
  /** Delete the last objects of the source without a release. */
  readonly allowEmpty?: boolean | undefined;
  /** Deletions within this time count toward the budget. */
  readonly deletionWindowMs: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly limit: ReturnType<typeof pLimit>;
  readonly registry: ApplySetRegistry;
  readonly declarations: Pick<SourceDeclarations, 'isDeclaredElsewhere' | 'declaredElsewhere' | 'hasGivenUp'>;
  /** See `HubSyncOptions`. False: Berth decides all placements of the hub. */
  readonly annotatePlacements: boolean;
  readonly written?: Pick<CommitBarrier, 'applied' | 'deleted'> | undefined;
  /** Called for each object when the hub has deleted it. */
  readonly onDeleted?: ((record: DeletionRecord) => void) | undefined;
  /** Called for each object that stays on the hub without what Git applied. */
  readonly onWithdrawn?: ((one: WithdrawnObject) => void) | undefined;
}

/** State of the source on the hub. */
export interface PruneState {
  readonly members: ReadonlyMap<string, KubeObject>;
  /** Further objects: the source deleted them earlier, and a backup restored them. */
  readonly restored: readonly KubeObject[];
  /** Whether every kind of these objects could be listed. */
  readonly areAll: boolean;
  /** By identity: objects of the same kinds that belong to other sources. */
  readonly others: ReadonlyMap<string, string>;
  /** Other sources that follow the same commit, and whose deletions are judged later. */
  readonly unjudged: ReadonlySet<string>;
  /** Whether this sync found or applied an object that the source declares. */
  readonly arrives: boolean;
  /**
   * Annotations of the ApplySet parent, with a release by a user. A release in Git is written there
   * before anything is deleted.
   */
  readonly parent: KubeObject | undefined;
  /** See `recordMemberCount`. */
  readonly membersBefore: number | undefined;
  /** Objects of the source, with their places, whose kind the hub does not serve. */
  readonly notServed: readonly string[];
}

/** Parses the annotations of the parent about deletions and releases. */
export function pruneMemoryOf(
  { clock, deletionWindowMs: windowMs }: Pick<PruneParts, 'clock' | 'deletionWindowMs'>,
  { parent }: Pick<PruneState, 'parent'>,
): PruneMemory {
  return readPruneMemory(parent?.metadata.annotations ?? {}, { nowMs: clock.now(), windowMs });
}

/** The inputs for judging the members, before and after the commit is applied. */
export function pruneInputOf(
  { declarations, source, digest }: Pick<PruneParts, 'declarations' | 'source' | 'digest'>,
  objects: SyncInput['objects'],
  memory: PruneMemory,
  { members, others }: Pick<PruneState, 'members' | 'others'>,
) {
  // The source no longer lists a kind of which it has no member, so `others` does not show all.
  const elsewhere = new Set([...others.keys(), ...declarations.declaredElsewhere(source)]);
  return {
    ...pruneInputFromMemory(objects, memory, elsewhere),
    members: [...members.values()],
    isTransferred: (identity: string): boolean => declarations.isDeclaredElsewhere(source, identity),
    digest,
  };
}

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
