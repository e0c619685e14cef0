import type { KubeObject } from '@berth/kube/model/object-meta';
import { apiVersionOf, PLACEMENT } from '@berth/kube/model/kinds';
import { oncePerList } from '@berth/runtime/lists/once-per-list';
import type { SourceObject } from '@berth/kube/model/source-object';
import { identityOf, objectIdentity } from '@berth/kube/model/object-ref';
import type { RemovalBudget } from '../../publish/judge/removal-budget.ts';

/** The objects of one source, and its limits for removals. */
export interface SourceDeclaration {
  /** Kinds that are applied besides those of OCM and namespaces. Undefined: unknown, so no other kind counts. */
  readonly kinds?: readonly string[] | undefined;
  readonly name: string;
  /** The position of the source in the settings. */
  readonly rank: number;
  readonly objects: readonly SourceObject[];
  readonly budget: RemovalBudget | undefined;
  /** Deletions within this time count as one toward the budget; undefined: the default. */
  readonly deletionWindowMs: number | undefined;
  /** Its last objects may be deleted from the hub without a release. */
  readonly allowEmpty: boolean;
  /** Berth applies the source, so objects that are removed from Git are deleted. */
  readonly applies: boolean;
  /** Berth takes the fields that other managers own. Absent: it leaves them. */
  readonly takesFields?: boolean | undefined;
}

export interface MergedSources {
  /** For an object in several sources, the value of its owner. */
  readonly objects: readonly SourceObject[];
  /**
   * The value of the source of the placement (`namespace/name`); undefined if it sets none, or if no source has the
   * placement.
   */
  readonly budgetOf: (placement: string) => RemovalBudget | undefined;
  /** The name of the source that an object is read from; undefined if none declares it. */
  readonly ownerOf: OwnerOf;
}

/** @param identity see `objectIdentity` */
export type OwnerOf = (identity: string) => string | undefined;

/**
 * The objects of several sources together. An object that several sources declare belongs to one, as in the controller:
 * to its current owner if that source still declares it, otherwise to the first source in the settings.
 * @param ownedBy the previous owner; undefined: none
 */
export function mergeSources(
  sources: readonly SourceDeclaration[],
  ownedBy: OwnerOf = () => undefined,
): MergedSources {
  const [only] = sources;
  if (only !== undefined && sources.length === 1) {
    const identities = identitiesOf(only.objects);
    // Otherwise it declares an object twice.
    if (identities.size === only.objects.length) return mergedAlone(only, identities);
  }
  const taken = new Map<string, { readonly source: SourceDeclaration; readonly object: SourceObject }>();
  for (const source of sources.toSorted((a, b) => a.rank - b.rank))
    for (const object of source.objects) {
      const identity = identityOf(object.object);
      if (!taken.has(identity) || ownedBy(identity) === source.name) taken.set(identity, { source, object });
    }
  return {
    objects: [...taken.values()].map(({ object }) => object),
    budgetOf: (placement) => taken.get(placementIdentity(placement))?.source.budget,
    ownerOf: (identity) => taken.get(identity)?.source.name,
  };
}

function mergedAlone(source: SourceDeclaration, identities: ReadonlySet<string>): MergedSources {
  return {
    objects: source.objects,
    budgetOf: (placement) => (identities.has(placementIdentity(placement)) ? source.budget : undefined),
    ownerOf: (identity) => (identities.has(identity) ? source.name : undefined),
  };
}

const identitiesOf = oncePerList(
  (objects: readonly SourceObject[]): ReadonlySet<string> =>
    new Set(objects.map(({ object }) => identityOf(object))),
);

/** The objects that more than one of the sources declares, each once. */
export function contestedObjects(sources: readonly SourceDeclaration[]): readonly KubeObject[] {
  if (sources.length < 2) return [];
  const first = new Map<string, SourceDeclaration>();
  const contested = new Map<string, KubeObject>();
  for (const source of sources)
    for (const { object } of source.objects) {
      const identity = identityOf(object);
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
