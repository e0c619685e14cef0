import type { KubeObject } from '../../model/object-meta.ts';
import { apiVersionOf, PLACEMENT } from '../../model/kinds.ts';
import type { SourceObject } from '../../model/source-object.ts';
import { objectIdentity, refOf } from '../../model/object-ref.ts';
import type { RemovalBudget } from '../../publish/judge/removal-budget.ts';

/** What one source says, and how much a change of it may remove. */
export interface SourceDeclaration {
  /** Kinds that are applied beside those of OCM and namespaces. Undefined: not known, none counts. */
  readonly kinds?: readonly string[] | undefined;
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

export interface MergedSources {
  /** Of an object in several sources, that of its owner. */
  readonly objects: readonly SourceObject[];
  /** Of the source that the placement (`namespace/name`) is in; undefined when that says nothing, or none has it. */
  readonly budgetOf: (placement: string) => RemovalBudget | undefined;
  /** The name of the source that an object is taken from; undefined: none declares it. */
  readonly ownerOf: OwnerOf;
}

/** @param identity see `objectIdentity` */
export type OwnerOf = (identity: string) => string | undefined;

/**
 * What several sources declare together. An object that several of them declare belongs to one, as in the controller: to the source
 * that owns it already while that declares it, else to the first one in the settings.
 * @param ownedBy the owner before; undefined: none
 */
export function mergeSources(
  sources: readonly SourceDeclaration[],
  ownedBy: OwnerOf = () => undefined,
): MergedSources {
  const taken = new Map<string, { readonly source: SourceDeclaration; readonly object: SourceObject }>();
  for (const source of sources.toSorted((a, b) => a.rank - b.rank))
    for (const object of source.objects) {
      const identity = objectIdentity(refOf(object.object));
      if (!taken.has(identity) || ownedBy(identity) === source.name) taken.set(identity, { source, object });
    }
  return {
    objects: [...taken.values()].map(({ object }) => object),
    budgetOf: (placement) => taken.get(placementIdentity(placement))?.source.budget,
    ownerOf: (identity) => taken.get(identity)?.source.name,
  };
}

/** The objects that more than one of the sources declares, each once. */
export function contestedObjects(sources: readonly SourceDeclaration[]): readonly KubeObject[] {
  const first = new Map<string, SourceDeclaration>();
  const contested = new Map<string, KubeObject>();
  for (const source of sources)
    for (const { object } of source.objects) {
      const identity = objectIdentity(refOf(object));
      const known = first.get(identity);
      if (known === undefined) first.set(identity, source);
      else if (known !== source) contested.set(identity, object);
    }
  return [...contested.values()];
}

function placementIdentity(placement: string): string {
  const [namespace = '', name = ''] = placement.split('/');
  return objectIdentity({ apiVersion: apiVersionOf(PLACEMENT), kind: PLACEMENT.kind, namespace, name });
}
