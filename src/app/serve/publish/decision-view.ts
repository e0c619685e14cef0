import type { ObjectChange, ObjectStore } from '../../../adapters/kube/object-store.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import { namespacedName } from '../../../core/model/object-ref.ts';
import { PLACEMENT_LABEL } from '../../../core/model/placement-decision.ts';
import { WrittenObjects } from './written-objects.ts';

/** The PlacementDecisions of each placement: as the watch tells, and ahead of it by what we wrote ourselves. */
export class DecisionView {
  readonly #written: WrittenObjects;
  readonly #keysByPlacement = new Map<string, Set<string>>();

  constructor(store: ObjectStore) {
    this.#written = new WrittenObjects(store);
    for (const object of store.list()) this.#index(object);
    store.onChange(({ before, after }) => {
      // A relabelled page stays in the index of its placement of before, and is passed over there.
      if (after !== undefined) this.#index(after);
      else if (before !== undefined) this.#drop(before);
    });
  }

  /** @param placement `namespace/name` */
  pagesOf(placement: string): readonly KubeObject[] {
    const keys = this.#keysByPlacement.get(placement) ?? new Set();
    return [...keys]
      .map((key) => this.#written.get(key))
      .filter((object): object is KubeObject => object !== undefined && placementOf(object) === placement);
  }

  isOwn(key: string, seen: KubeObject | undefined): boolean {
    return this.#written.isOwn(key, seen);
  }

  /** See WrittenObjects.made. */
  made(key: string, outcome: string): boolean {
    return this.#written.made(key, outcome);
  }

  /** Resolves when the watch has shown all that was written. */
  whenShown(): Promise<void> {
    return this.#written.whenShown();
  }

  exists(key: string): boolean {
    return this.#written.get(key) !== undefined;
  }

  wrote(before: KubeObject | undefined, after: KubeObject | undefined): void {
    this.#written.wrote(before, after);
    if (after !== undefined) this.#index(after);
  }

  forget(placement: string): void {
    for (const key of this.#keysByPlacement.get(placement) ?? []) this.#written.forget(key);
  }

  /** See WrittenObjects.forgetAll. */
  forgetAll(): void {
    this.#written.forgetAll();
  }

  #index(object: KubeObject): void {
    const placement = placementOf(object);
    if (placement === undefined) return;
    const keys = this.#keysByPlacement.get(placement) ?? new Set();
    keys.add(namespacedName(object.metadata));
    this.#keysByPlacement.set(placement, keys);
  }

  #drop(object: KubeObject): void {
    const placement = placementOf(object);
    if (placement === undefined) return;
    const keys = this.#keysByPlacement.get(placement);
    const key = namespacedName(object.metadata);
    // Created again by us and not yet seen: keep the key.
    if (this.#written.get(key) === undefined) keys?.delete(key);
    if (keys?.size === 0) this.#keysByPlacement.delete(placement);
  }
}

/** `namespace/name` of the placement that a PlacementDecision belongs to. */
export function placementOf(decision: KubeObject): string | undefined {
  const name = decision.metadata.labels?.[PLACEMENT_LABEL];
  return name === undefined ? undefined : `${decision.metadata.namespace ?? ''}/${name}`;
}

/** The placements whose pages a change is about: two where somebody took the page from one. */
export function placementsOf({ before, after }: Pick<ObjectChange, 'before' | 'after'>): ReadonlySet<string> {
  const placements = [before, after].map((page) => (page === undefined ? undefined : placementOf(page)));
  return new Set(placements.filter((placement) => placement !== undefined));
}
