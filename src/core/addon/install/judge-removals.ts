import type { ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import { type Digest, approvalCode } from '../../publish/approval/approval-code.ts';
import { judgeRemovals, type LeavingGroup, type RemovalVerdict } from '../../publish/judge/judge-removals.ts';

export interface AddOnRemovalInput extends Pick<LeavingGroup, 'present' | 'removals' | 'budget' | 'nowMs'> {
  readonly addOn: string;
  readonly leaving: readonly ManagedClusterAddOn[];
  readonly digest: Digest;
}

/** In the memory of removals, which has those of pulled Applications, too. */
export function removalGroupOf(addOn: string): string {
  return `add-on ${addOn}`;
}

/**
 * Decides whether clusters may lose an add-on, all of them or none: an agent goes with its certificates and its access at once, so
 * this counts like a decision that removes clusters.
 */
export function judgeAddOnRemovals({ addOn, leaving, digest, ...group }: AddOnRemovalInput): RemovalVerdict {
  const { clusters: names, code } = leavingClusters(digest, addOn, leaving);
  return judgeRemovals(
    { ...group, leaving: leaving.map(({ metadata }) => metadata), names, code },
    {
      what: `clusters would lose add-on ${addOn}`,
      stay: 'They keep it.',
      command: `berth release --addon ${addOn}`,
      carrier: 'one of their ManagedClusterAddOns',
    },
  );
}

/** The clusters that would lose an add-on, sorted, and the code that approves exactly this. */
export function leavingClusters(
  digest: Digest,
  addOn: string,
  leaving: readonly ManagedClusterAddOn[],
): { readonly clusters: readonly string[]; readonly code: string } {
  const clusters = leaving.map(({ metadata }) => metadata.namespace ?? '').sort();
  return { clusters, code: approvalCode(digest, removalGroupOf(addOn), clusters, []) };
}
