import { sha256 } from '../../adapters/store/world-digest.ts';
import type { KubeObject } from '../../core/model/object-meta.ts';
import type { HeldDeletions } from '../../core/preview/plan.ts';
import { DEFAULT_REMOVAL_BUDGET } from '../../core/publish/removal-budget.ts';
import { listNames } from '../../core/publish/judge-result.ts';
import { DEFAULT_DELETION_WINDOW_MS } from '../../core/sync/deletion-window.ts';
import { placeObject } from '../../core/sync/place-object.ts';
import { planPrune, standingIdentities } from '../../core/sync/plan-prune.ts';
import { rememberedInput, readPruneMemory } from '../../core/sync/prune-memory.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { DeletionMemory } from './hub-memory.ts';
import { kindScopes } from './kind-scopes.ts';
import type { SourceFleet } from './merge-fleets.ts';

type ReadSource = Pick<Fleet, 'complete'> & SourceFleet;

export interface DeletionContext {
  /** What every source says after the merge, this one or not: what one of them takes over is not deleted. */
  readonly all: readonly SourceFleet[];
  /** What the hub remembers of this source; undefined: there is no hub. */
  readonly memory: DeletionMemory | undefined;
  readonly nowMs: number;
}

interface JudgedDeletions {
  /** Undefined: nothing would be held. */
  readonly held: HeldDeletions | undefined;
  /** What could not be taken into account. */
  readonly notEvaluated: readonly string[];
}

/**
 * What of a source would be deleted from the hub by the merge, but only after a release: the same judgement, and the same token, as the
 * controller's, as long as the hub holds what the base says.
 */
export function judgeDeletions(
  base: ReadSource,
  head: ReadSource,
  context: DeletionContext,
): JudgedDeletions {
  if (!head.applies) return { held: undefined, notEvaluated: [] };
  const { all, memory, nowMs } = context;
  const { members, unknownScopes } = membersOf(base, head);
  const besides = identitiesOf(all.filter(({ name, applies }) => applies && name !== head.name));
  const annotations = memory !== undefined && 'annotations' in memory ? memory.annotations : {};
  const remembered = readPruneMemory(annotations, {
    nowMs,
    windowMs: head.deletionWindowMs ?? DEFAULT_DELETION_WINDOW_MS,
  });
  const plan = planPrune({
    ...rememberedInput(head.objects, remembered, besides),
    source: head.name,
    members,
    movesOn: (identity) => besides.has(identity),
    arrives: head.objects.some(
      ({ object }) =>
        object.kind !== 'PlacementDecision' && !standingIdentities(object).some((id) => besides.has(id)),
    ),
    allowEmpty: head.allowEmpty,
    complete: head.complete,
    budget: head.budget ?? DEFAULT_REMOVAL_BUDGET,
    digest: sha256,
  });
  if (plan.kind === 'suspended' || plan.objects.length === 0) return { held: undefined, notEvaluated: [] };
  const notEvaluated = notesOf(head.name, memory, remembered.isHeld);
  if (plan.kind !== 'held') return { held: undefined, notEvaluated };
  const inDoubt = [...new Set(plan.objects.map(({ kind }) => kind))].filter((kind) =>
    unknownScopes.has(kind),
  );
  const doubt =
    inDoubt.length === 0
      ? ''
      : `. The hub's token is another one if ${listNames(inDoubt.sort())} has namespaces: nothing here defines it, and the objects name none`;
  return {
    held: { source: head.name, message: `${plan.message}${doubt}`, token: plan.token },
    notEvaluated,
  };
}

/** What the hub has of the source, and the kinds of which nobody knows whether they have namespaces. */
function membersOf(
  base: ReadSource,
  head: ReadSource,
): { readonly members: readonly KubeObject[]; readonly unknownScopes: ReadonlySet<string> } {
  const scopeOf = kindScopes([...base.objects, ...head.objects].map(({ object }) => object));
  const unknownScopes = new Set<string>();
  const members = base.objects
    .map(({ object }) => object)
    .filter(({ kind }) => kind !== 'PlacementDecision')
    .map((object) => {
      const namespaced = scopeOf(object);
      if (namespaced !== undefined) return placeObject(object, { namespaced });
      if (object.metadata.namespace === undefined) unknownScopes.add(object.kind);
      return object;
    });
  return { members, unknownScopes };
}

function notesOf(source: string, memory: DeletionMemory | undefined, isHeld: boolean): readonly string[] {
  const past = `What of source ${source} was deleted or released before counts as well`;
  if (memory === undefined) return [`${past}: only a hub tells (--hub).`];
  if ('problem' in memory) return [`${past}, and cannot be read: ${memory.problem}`];
  if (!isHeld) return [];
  return [
    `Deletions of source ${source} are held on the hub already: what the merge deletes joins them, under a token that names them too.`,
  ];
}

function identitiesOf(fleets: readonly Pick<SourceFleet, 'objects'>[]): ReadonlySet<string> {
  return new Set(
    fleets.flatMap(({ objects }) => objects.flatMap(({ object }) => standingIdentities(object))),
  );
}
