import { namespacedName } from '@berth/kube/model/object-ref';
import { type Digest, approvalCode } from '../../publish/approval/approval-code.ts';
import { judgeRemovals, type LeavingGroup, type RemovalVerdict } from '../../publish/judge/judge-removals.ts';
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
