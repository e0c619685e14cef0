import { namespacedName } from '@berth/kube/model/object-ref';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { approvalCode, type Digest } from '../../publish/approval/approval-code.ts';
import {
  judgeRemovals,
  type LeavingGroup,
  REMOVAL_WINDOW_MS,
  type RemovalVerdict,
} from '../../publish/judge/removal-budget.ts';
import type { WorkToRemove } from './plan-pull.ts';
import { setGroup } from './pull-target.ts';

export interface PullRemovalInput extends Pick<LeavingGroup, 'present' | 'removals' | 'budget' | 'nowMs'> {
  /** See removalGroup. */
  readonly group: string;
  readonly leaving: readonly WorkToRemove[];
  readonly digest: Digest;
}

/** Decides whether works may be removed. A work that another one on the same cluster replaces does not count. */
export function judgePullRemovals({ group, leaving, digest, ...rest }: PullRemovalInput): RemovalVerdict {
  const { taken, names, code } = countedRemoval(digest, group, leaving);
  return judgeRemovals(
    { ...rest, leaving: taken.map(({ work }) => work.metadata), names, code },
    {
      what: `ManifestWorks of ${group} would be removed`,
      stay: 'They stay.',
      command: releaseCommandOf(group),
      carrier: 'one of them',
    },
  );
}

export interface CountedRemoval {
  /** Works whose removal leaves a cluster without the Application. */
  readonly taken: readonly WorkToRemove[];
  /** Names (`namespace/name`) of these works, sorted. */
  readonly names: readonly string[];
  /** The approval code for exactly this removal. */
  readonly code: string;
}

/** The part of a removal that counts toward the budget, and the code that approves it. */
export function countedRemoval(
  digest: Digest,
  group: string,
  leaving: readonly WorkToRemove[],
): CountedRemoval {
  const taken = leaving.filter(({ reason }) => reason !== 'replaced');
  const names = taken.map(({ work }) => namespacedName(work.metadata)).sort();
  return { taken, names, code: approvalCode(digest, `pull ${group}`, names, []) };
}

/** The arguments for a group: `ApplicationSet argocd/shop` gives `berth release --application-set argocd/shop`. */
function releaseCommandOf(group: string): string {
  const subject = group.slice(group.lastIndexOf(' ') + 1);
  return `berth release ${group === setGroup(subject) ? '--application-set' : '--applications'} ${subject}`;
}

/**
 * Clusters that may still run a copy that a newer one replaces. Their removal was requested at the creation of the
 * newer copy or later, and they are unreachable. The ApplicationSet controller creates the new Application shortly before
 * it deletes the old one.
 * @param work the newer copy
 * @param others works of the same ApplicationSet
 */
export function unconfirmedCopies(
  work: ManifestWork,
  others: readonly ManifestWork[],
  isUnreachable: (cluster: string) => boolean,
): readonly string[] {
  const createdMs = Date.parse(work.metadata.creationTimestamp ?? '');
  const clusters = others.flatMap(({ metadata }) => {
    const { namespace = '', deletionTimestamp } = metadata;
    if (deletionTimestamp === undefined || namespace === work.metadata.namespace) return [];
    const isReplaced = createdMs >= Date.parse(deletionTimestamp) - REMOVAL_WINDOW_MS;
    return isReplaced && isUnreachable(namespace) ? [namespace] : [];
  });
  return [...new Set(clusters)].sort();
}
