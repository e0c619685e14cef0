import type { KubeObject } from '../../model/object-meta.ts';
import { parseAnnotationList } from './annotation-list.ts';
import { PLAN_ANNOTATION } from './publish-annotations.ts';
import { releaseTokens } from './release-tokens.ts';

/** What the approved plan of a commit says about one placement. */
export interface ApprovedPlan {
  /** Plan tokens of the approved changes. */
  readonly tokens: readonly string[];
  /** Full ID of the commit that contained the tokens. */
  readonly commit: string | undefined;
}

const ENTRY = /^(?:([^/=]+\/[^/=]+)=)?([0-9a-f]{12})$/;

/**
 * The entries of the annotation `berth.dev/plan`. `placement` is undefined for an entry about the
 * annotated object itself.
 */
export function planEntries({ metadata }: Pick<KubeObject, 'metadata'>): readonly {
  readonly text: string;
  /** Undefined if the text is neither `TOKEN` nor `NAMESPACE/NAME=TOKEN`. */
  readonly token: string | undefined;
  readonly placement: string | undefined;
}[] {
  return parseAnnotationList(metadata, PLAN_ANNOTATION).map((text) => {
    const [, placement, token] = ENTRY.exec(text) ?? [];
    return { text, placement, token };
  });
}

/**
 * The plan tokens approved in Git, by placement (`namespace/name`). The annotation `berth.dev/plan`
 * of any object approves a plan. A release on the placement does too, because a release approves
 * exactly one change.
 */
export function approvedPlans(
  objects: Iterable<Pick<KubeObject, 'kind' | 'metadata'>>,
): ReadonlyMap<string, readonly string[]> {
  const plans = new Map<string, readonly string[]>();
  const add = (placement: string, tokens: readonly string[]): void => {
    if (tokens.length > 0) plans.set(placement, [...(plans.get(placement) ?? []), ...tokens]);
  };
  for (const object of objects) {
    if (object.metadata.annotations === undefined) continue;
    const { namespace = '', name } = object.metadata;
    const own = object.kind === 'Placement' ? `${namespace}/${name}` : undefined;
    for (const { placement = own, token } of planEntries(object))
      if (placement !== undefined && token !== undefined) add(placement, [token]);
    if (own !== undefined) add(own, releaseTokens(object.metadata));
  }
  return plans;
}

/**
 * The approvals that a commit brings: all tokens of each placement that has a token which was not there before. A token
 * that leaves Git approves nothing: the others were approved, and may have been used, before.
 */
export function newApprovals(
  before: ReadonlyMap<string, readonly string[]>,
  now: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, readonly string[]> {
  const isNew = ([placement, tokens]: [string, readonly string[]]): boolean => {
    const known = before.get(placement) ?? [];
    return tokens.some((token) => !known.includes(token));
  };
  return new Map([...now].filter(isNew));
}
