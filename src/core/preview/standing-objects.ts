import type { KubeObject } from '../model/object-meta.ts';
import { refOf } from '../model/object-ref.ts';
import type { SourceObject } from '../model/source-object.ts';
import { appliedPart } from '../sync/applied-part.ts';
import { identityOf, standingIdentities } from '../sync/plan-prune.ts';
import type { JudgedDeletions } from './judged-deletions.ts';

/** What the hub has beside what Git says, and what the merge makes of it. */
export interface StandingObjects {
  /** In the base and not in the head, and on the hub after the merge too. */
  readonly staying: readonly SourceObject[];
  /** On the hub before the merge and not in the base: their deletion was held. */
  readonly left: readonly Pick<SourceObject, 'object'>[];
  /** Those of them that are on the hub after the merge too, and not in the head. */
  readonly remaining: readonly Pick<SourceObject, 'object'>[];
  /** Those of them that the head says again, with what the hub shows to have been applied of them. */
  readonly returning: readonly SourceObject[];
  /** Identities of what is deleted. */
  readonly gone: ReadonlySet<string>;
}

export function standingObjects(
  base: readonly SourceObject[],
  head: readonly SourceObject[],
  deletions: readonly Pick<JudgedDeletions, 'members' | 'stays' | 'goes'>[],
): StandingObjects {
  const stays = new Set(deletions.flatMap((judged) => judged.stays.map(idOf)));
  const gone = new Set(deletions.flatMap((judged) => judged.goes.map(idOf)));
  const said = new Set(base.flatMap(({ object }) => standingIdentities(object)));
  const left = new Map(
    deletions
      .flatMap(({ members }) => members)
      .map((object) => [idOf(object), object] as const)
      .filter(([identity]) => !said.has(identity)),
  );
  const returning = head.flatMap(({ object, location }): readonly SourceObject[] => {
    if (left.size === 0) return [];
    const live = standingIdentities(object).flatMap((identity) => left.get(identity) ?? [])[0];
    return live === undefined ? [] : [{ object: appliedPart(live, 'berth'), location }];
  });
  const isStaying = ({ object }: SourceObject): boolean =>
    standingIdentities(object).some((identity) => stays.has(identity));
  return {
    staying: stays.size === 0 ? [] : base.filter(isStaying),
    left: [...left.values()].map((object) => ({ object })),
    remaining: [...left].filter(([identity]) => stays.has(identity)).map(([, object]) => ({ object })),
    returning,
    gone,
  };
}

function idOf(object: KubeObject): string {
  return identityOf(refOf(object));
}
