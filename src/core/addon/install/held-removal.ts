import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import { approvalCode, type Digest } from '../../publish/approval/approval-code.ts';
import { releaseCodes } from '../../publish/approval/approved-plans.ts';
import {
  HELD_CODE_ANNOTATION,
  HELD_MESSAGE_ANNOTATION,
  HELD_SINCE_ANNOTATION,
  RELEASED_ANNOTATION,
  RELEASED_BY_ANNOTATION,
} from '../../publish/approval/publish-annotations.ts';
import { judgeRemovals, type LeavingGroup, type RemovalVerdict } from '../../publish/judge/removal-budget.ts';

/** The removal of an add-on from clusters that is held. */
export interface AddOnHold {
  /** Approves exactly this removal. */
  readonly code: string;
  readonly message: string;
  readonly sinceMs: number;
}

/** The hold that a ClusterManagementAddOn shows; undefined if nothing of it is held. */
export function heldRemoval({
  metadata: { annotations = {} },
}: Pick<KubeObject, 'metadata'>): AddOnHold | undefined {
  const {
    [HELD_CODE_ANNOTATION]: code = '',
    [HELD_MESSAGE_ANNOTATION]: message = '',
    [HELD_SINCE_ANNOTATION]: since = '',
  } = annotations;
  return code === '' ? undefined : { code, message, sinceMs: Date.parse(since) || Infinity };
}

/** Who approved a removal, and by which code. */
export interface ReleasedRemoval {
  readonly code: string;
  readonly by: string;
}

/** The release that one of the add-ons which leave carries. */
export function releasedRemoval(
  leaving: readonly Pick<KubeObject, 'metadata'>[],
  code: string,
): ReleasedRemoval | undefined {
  const carrier = leaving.find(({ metadata }) => releaseCodes(metadata).includes(code));
  return carrier && { code, by: carrier.metadata.annotations?.[RELEASED_BY_ANNOTATION] ?? 'an annotation' };
}

/** The annotations that show the last release, or none. */
export function releasedAnnotations(released: ReleasedRemoval | undefined): Readonly<Record<string, string>> {
  return released === undefined
    ? {}
    : { [RELEASED_ANNOTATION]: released.code, [RELEASED_BY_ANNOTATION]: released.by };
}

/** The annotations that show a hold, or none. */
export function heldAnnotations(
  held: (Pick<AddOnHold, 'code' | 'message'> & { readonly since: string }) | undefined,
): Readonly<Record<string, string | null>> {
  return {
    [HELD_CODE_ANNOTATION]: held?.code ?? null,
    [HELD_MESSAGE_ANNOTATION]: held?.message ?? null,
    [HELD_SINCE_ANNOTATION]: held?.since ?? null,
  };
}

interface AddOnRemovalInput extends Pick<LeavingGroup, 'present' | 'removals' | 'budget' | 'nowMs'> {
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
