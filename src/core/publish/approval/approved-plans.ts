import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import { PLAN_ANNOTATION, RELEASE_ANNOTATION } from './publish-annotations.ts';

/** What the approved plan of a commit says about one placement. */
export interface ApprovedPlan {
  /** Approval codes of the approved changes. */
  readonly tokens: readonly string[];
  /** Full ID of the commit that contained the codes. */
  readonly commit: string | undefined;
}

/** The approval codes that one source approves, by placement (`namespace/name`). */
export type Approvals = ReadonlyMap<string, readonly string[]>;

const ENTRY = /^(?:([^/=]+\/[^/=]+)=)?([0-9a-f]{12})$/;

/**
 * The entries of the annotation `berth.dev/plan`. `placement` is undefined for an entry about the
 * annotated object itself.
 */
export function planEntries({ metadata }: Pick<KubeObject, 'metadata'>): readonly {
  readonly text: string;
  /** Undefined if the text is neither `CODE` nor `NAMESPACE/NAME=CODE`. */
  readonly code: string | undefined;
  readonly placement: string | undefined;
}[] {
  return parseAnnotationList(metadata, PLAN_ANNOTATION).map((text) => {
    const [, placement, code] = ENTRY.exec(text) ?? [];
    return { text, placement, code };
  });
}

/**
 * The approval codes approved in Git, by placement (`namespace/name`). The annotation `berth.dev/plan`
 * of any object approves a plan. A release on the placement does too, because a release approves
 * exactly one change.
 */
export function approvedPlans(objects: Iterable<Pick<KubeObject, 'kind' | 'metadata'>>): Approvals {
  const plans = new Map<string, readonly string[]>();
  const add = (placement: string, codes: readonly string[]): void => {
    if (codes.length > 0) plans.set(placement, [...(plans.get(placement) ?? []), ...codes]);
  };
  for (const object of objects) {
    if (object.metadata.annotations === undefined) continue;
    const { namespace = '', name } = object.metadata;
    const own = object.kind === 'Placement' ? `${namespace}/${name}` : undefined;
    for (const { placement = own, code } of planEntries(object))
      if (placement !== undefined && code !== undefined) add(placement, [code]);
    if (own !== undefined) add(own, releaseCodes(object.metadata));
  }
  return plans;
}

/** The approvals that a commit changes: all codes of each placement whose codes are not the same as before. */
export function changedApprovals(before: Approvals, now: Approvals): Approvals {
  return new Map([...now].filter(([placement, codes]) => !isSameApproval(before.get(placement), codes)));
}

/**
 * The approvals that a commit brings, of all sources. Those that it only moves from one source to another are not new,
 * as in `plansAfterRead`.
 * @param before the approvals of each source
 * @param now those of the same sources, in the same order
 */
export function addedApprovals(before: readonly Approvals[], now: readonly Approvals[]): Approvals {
  const none: Approvals = new Map();
  return joinApprovals(
    now.map((approvals, at) => {
      const own = before[at] ?? none;
      const others = before.filter((_, other) => other !== at);
      const isNew = ([placement, codes]: readonly [string, readonly string[]]): boolean =>
        own.has(placement) || !others.some((other) => isSameApproval(other.get(placement), codes));
      return new Map([...changedApprovals(own, approvals)].filter(isNew));
    }),
  );
}

/** Whether these are all codes that the placement had before. */
export function isSameApproval(before: readonly string[] | undefined, codes: readonly string[]): boolean {
  return before?.join() === codes.join();
}

/** All codes of several sources. */
export function joinApprovals(approvals: readonly Approvals[]): Approvals {
  const [only, ...more] = approvals;
  if (only !== undefined && more.length === 0) return only;
  const joined = new Map<string, readonly string[]>();
  for (const [placement, codes] of approvals.flatMap((one) => [...one]))
    joined.set(placement, [...(joined.get(placement) ?? []), ...codes]);
  return joined;
}

/** The approval codes that an object in Git releases. */
export function releaseCodes(metadata: Pick<ObjectMeta, 'annotations'>): readonly string[] {
  return parseAnnotationList(metadata, RELEASE_ANNOTATION);
}

/** The words of an annotation, separated by commas or blanks; empty when the annotation is absent. */
export function parseAnnotationList(
  { annotations }: Pick<ObjectMeta, 'annotations'>,
  key: string,
): readonly string[] {
  return (annotations?.[key] ?? '').split(/[\s,]+/).filter((word) => word !== '');
}
