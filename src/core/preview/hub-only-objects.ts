import type { KubeObject } from '@berth/kube/model/object-meta';
import { identityOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import { appliedPart } from '../sync/applied/applied-part.ts';
import { FIELD_MANAGER } from '../sync/applied/field-names.ts';
import { APPLY_SET_PART_OF_LABEL } from '../sync/apply-set.ts';
import { ADDED_ANNOTATIONS } from '../sync/left-fields.ts';
import { possibleIdentities } from '../sync/plan-prune.ts';
import type { JudgedDeletions } from './judged-deletions.ts';

/** Objects that differ between the hub and Git, and what the merge does with them. */
export interface HubOnlyObjects {
  /** Not in the head, and still on the hub after the merge: as the base declares it, or without what Git applied. */
  readonly staying: readonly Pick<SourceObject, 'object'>[];
  /** On the hub before the merge and not in the base, because their deletion was held. */
  readonly left: readonly Pick<SourceObject, 'object'>[];
  /** The part of `left` that is still on the hub after the merge, and is not in the head. */
  readonly remaining: readonly Pick<SourceObject, 'object'>[];
  /**
   * The part of `left` that the head declares again, or that loses what Git applied, with the state that was applied to
   * the hub.
   */
  readonly returning: readonly Pick<SourceObject, 'object'>[];
  /** Identities of the deleted objects. */
  readonly gone: ReadonlySet<string>;
}

/**
 * Compares the hub with Git.
 * @param deletions the judged deletions of each source
 */
export function hubOnlyObjects(
  base: readonly SourceObject[],
  head: readonly SourceObject[],
  deletions: readonly Pick<JudgedDeletions, 'left' | 'keptOnHub' | 'deleted' | 'withdrawn'>[],
): HubOnlyObjects {
  const keptOnHub = new Set(deletions.flatMap((judged) => judged.keptOnHub.map(identityOf)));
  const gone = new Set(deletions.flatMap((judged) => judged.deleted.map(identityOf)));
  const left = leftBefore(
    base,
    deletions.flatMap((judged) => judged.left),
  );
  const isStaying = ({ object }: SourceObject): boolean =>
    possibleIdentities(object).some((identity) => keptOnHub.has(identity));
  const withdrawn = deletions.flatMap((judged) => judged.withdrawn);
  const withdrawnLeft = withdrawn.flatMap(({ object }) => left.get(identityOf(object)) ?? []);
  return {
    staying: [
      ...(keptOnHub.size === 0 ? [] : base.filter(isStaying)),
      ...withdrawn.map(({ after }) => ({ object: after })),
    ],
    left: [...left.values()].map((object) => ({ object })),
    remaining: [...left].filter(([identity]) => keptOnHub.has(identity)).map(([, object]) => ({ object })),
    returning: [
      ...returningFrom(left, head),
      ...withdrawnLeft.map((live) => ({ object: appliedPart(live, FIELD_MANAGER) })),
    ],
    gone,
  };
}

/**
 * Objects that the head declares and the base does not, and that are on the hub, with the state that was applied to the
 * hub.
 * @param members objects of the source on the hub, at least those that the base does not declare
 */
export function returningObjects(
  base: readonly Pick<SourceObject, 'object'>[],
  head: readonly SourceObject[],
  members: readonly KubeObject[],
): readonly SourceObject[] {
  return returningFrom(leftBefore(base, members), head);
}

type LeftObjects = ReadonlyMap<string, KubeObject>;

/** The members that the base does not declare, by identity. */
function leftBefore(
  base: readonly Pick<SourceObject, 'object'>[],
  members: readonly KubeObject[],
): LeftObjects {
  const objects = new Set(base.map(({ object }) => object));
  const others = members.filter((object) => !objects.has(object));
  if (others.length === 0) return new Map();
  const declared = new Set(base.flatMap(({ object }) => possibleIdentities(object)));
  const known = others.map((object) => [identityOf(object), object] as const);
  return new Map(known.filter(([identity]) => !declared.has(identity)));
}

function returningFrom(left: LeftObjects, head: readonly SourceObject[]): readonly SourceObject[] {
  if (left.size === 0) return [];
  return head.flatMap(({ object, location }): readonly SourceObject[] => {
    const live = possibleIdentities(object).flatMap((identity) => left.get(identity) ?? [])[0];
    return live === undefined ? [] : [{ object: declaredPart(live), location }];
  });
}

/** What Git applied to an object on the hub. What Berth adds to it, every apply adds again. */
function declaredPart(live: KubeObject): KubeObject {
  const applied = appliedPart(live, FIELD_MANAGER);
  const { labels, annotations } = applied.metadata;
  const metadata = {
    ...applied.metadata,
    labels: withoutNames(labels, [APPLY_SET_PART_OF_LABEL]),
    annotations: withoutNames(annotations, ADDED_ANNOTATIONS),
  };
  return { ...applied, metadata };
}

function withoutNames(
  texts: Readonly<Record<string, string>> = {},
  names: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).filter(([name]) => !names.includes(name)));
}
