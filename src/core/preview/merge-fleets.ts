import type { SourceObject } from '../model/source-object.ts';
import { refOf } from '../model/object-ref.ts';
import type { RemovalBudget } from '../publish/judge/removal-budget.ts';
import { identityOf } from '../sync/plan-prune.ts';

/** What one source says, and how much a change of it may remove. */
export interface SourceFleet {
  readonly name: string;
  /** Its place in the settings. */
  readonly rank: number;
  readonly objects: readonly SourceObject[];
  readonly budget: RemovalBudget | undefined;
  /** Deletions within this time count as one toward the budget; undefined: the default. */
  readonly deletionWindowMs: number | undefined;
  /** Its last objects may leave the hub without a release. */
  readonly allowEmpty: boolean;
  /** Berth applies it, so that what leaves Git is deleted. */
  readonly applies: boolean;
}

export interface MergedFleets {
  /** Of an object in several sources, that of the first one: as for a controller that starts with all of them. */
  readonly objects: readonly SourceObject[];
  /** Of the source that the placement (`namespace/name`) is in; undefined when that says nothing, or none has it. */
  readonly budgetOf: (placement: string) => RemovalBudget | undefined;
}

/** What several sources say together. */
export function mergeFleets(fleets: readonly SourceFleet[]): MergedFleets {
  const objects = new Map<string, SourceObject>();
  const budgets = new Map<string, RemovalBudget | undefined>();
  for (const fleet of fleets.toSorted((a, b) => a.rank - b.rank))
    for (const source of fleet.objects) {
      const identity = identityOf(refOf(source.object));
      if (objects.has(identity)) continue;
      objects.set(identity, source);
      const { kind, metadata } = source.object;
      if (kind === 'Placement') budgets.set(`${metadata.namespace ?? ''}/${metadata.name}`, fleet.budget);
    }
  return { objects: [...objects.values()], budgetOf: (placement) => budgets.get(placement) };
}
