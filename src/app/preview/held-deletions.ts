import { sha256 } from '../../adapters/store/world-digest.ts';
import type { HeldDeletions } from '../../core/preview/plan.ts';
import { releaseTokens } from '../../core/publish/release-tokens.ts';
import { DEFAULT_REMOVAL_BUDGET } from '../../core/publish/removal-budget.ts';
import { listNames } from '../../core/publish/judge-result.ts';
import { placeObject } from '../../core/sync/place-object.ts';
import { planPrune, standingIdentities } from '../../core/sync/plan-prune.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { kindScopes } from './kind-scopes.ts';
import type { SourceFleet } from './merge-fleets.ts';

type ReadSource = Pick<Fleet, 'complete'> & SourceFleet;

/**
 * What of a source would be deleted from the hub by the merge, but only after a release: the same judgement, and the same token, as the
 * controller's, as long as the hub holds what the base says. Undefined when nothing would be held.
 * @param all what every source says after the merge, this one or not: what one of them takes over is not deleted
 */
export function heldDeletions(
  base: ReadSource,
  head: ReadSource,
  all: readonly SourceFleet[],
): HeldDeletions | undefined {
  if (!head.applies) return undefined;
  const scopeOf = kindScopes([...base.objects, ...head.objects].map(({ object }) => object));
  const unknown = new Set<string>();
  const members = base.objects
    .map(({ object }) => object)
    .filter(({ kind }) => kind !== 'PlacementDecision')
    .map((object) => {
      const namespaced = scopeOf(object);
      if (namespaced !== undefined) return placeObject(object, { namespaced });
      if (object.metadata.namespace === undefined) unknown.add(object.kind);
      return object;
    });
  const besides = identitiesOf(all.filter(({ name, applies }) => applies && name !== head.name));
  const plan = planPrune({
    source: head.name,
    members,
    wanted: identitiesOf([head]),
    movesOn: (identity) => besides.has(identity),
    arrives: head.objects.some(
      ({ object }) =>
        object.kind !== 'PlacementDecision' && !standingIdentities(object).some((id) => besides.has(id)),
    ),
    allowEmpty: head.allowEmpty,
    complete: head.complete,
    budget: head.budget ?? DEFAULT_REMOVAL_BUDGET,
    releasedTokens: head.objects.flatMap(({ object }) => releaseTokens(object.metadata)),
    digest: sha256,
  });
  if (plan.kind !== 'held') return undefined;
  const inDoubt = [...new Set(plan.objects.map(({ kind }) => kind))].filter((kind) => unknown.has(kind));
  const doubt =
    inDoubt.length === 0
      ? ''
      : `. The hub's token is another one if ${listNames(inDoubt.sort())} has namespaces: nothing here defines it, and the objects name none`;
  return { source: head.name, message: `${plan.message}${doubt}`, token: plan.token };
}

function identitiesOf(fleets: readonly Pick<SourceFleet, 'objects'>[]): ReadonlySet<string> {
  return new Set(
    fleets.flatMap(({ objects }) => objects.flatMap(({ object }) => standingIdentities(object))),
  );
}
