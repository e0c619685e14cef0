import type { KubeObject } from '../../model/object-meta.ts';
import { parseAnnotationList } from './annotation-list.ts';
import { PLAN_ANNOTATION } from './publish-annotations.ts';
import { releaseTokens } from './release-tokens.ts';

/** The part of a commit's approved plan that concerns one placement. */
export interface ApprovedPlan {
  /** Plan tokens of the changes that are approved. */
  readonly tokens: readonly string[];
  /** Full id of the commit that brought them. */
  readonly commit: string | undefined;
}

const ENTRY = /^(?:([^/=]+\/[^/=]+)=)?([0-9a-f]{12})$/;

/** The entries of the annotation. `placement` is undefined for an entry about the object itself. */
export function planEntries({ metadata }: Pick<KubeObject, 'metadata'>): readonly {
  readonly text: string;
  /** Undefined: the text is no `TOKEN` and no `NAMESPACE/NAME=TOKEN`. */
  readonly token: string | undefined;
  readonly placement: string | undefined;
}[] {
  return parseAnnotationList(metadata, PLAN_ANNOTATION).map((text) => {
    const [, placement, token] = ENTRY.exec(text) ?? [];
    return { text, placement, token };
  });
}

/**
 * The plans approved in Git, per placement (`namespace/name`): by the annotation `berth.dev/plan`
 * of any object, and by releases on the placement itself, since a release approves exactly one
 * change.
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
