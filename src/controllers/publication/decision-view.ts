import type { ObjectChange, ObjectStore } from '@berth/kube/cache/object-store';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { placementOfPage } from '../../core/publish/pages/decision-page.ts';

/** The PlacementDecisions of each placement, as the watch shows them. */
export class DecisionView {
  readonly #store: ObjectStore;
  readonly #keysByPlacement = new Map<string, Set<string>>();

  constructor(store: ObjectStore) {
    this.#store = store;
    for (const object of store.list()) this.#index(object);
    store.onChange(({ before, after }) => {
      if (before !== undefined) this.#drop(before);
      if (after !== undefined) this.#index(after);
    });
  }

  /** @param placement `namespace/name` */
  pagesOf(placement: string): readonly KubeObject[] {
    const keys = this.#keysByPlacement.get(placement);
    if (keys === undefined) return [];
    return [...keys]
      .map((key) => this.#store.get(key))
      .filter((object): object is KubeObject => object !== undefined);
  }

  /** The page of this key (`namespace/name`), with any owner. */
  page(key: string): KubeObject | undefined {
    return this.#store.get(key);
  }

  #index(object: KubeObject): void {
    const placement = placementOfPage(object);
    if (placement === undefined) return;
    const keys = this.#keysByPlacement.get(placement) ?? new Set();
    keys.add(namespacedName(object.metadata));
    this.#keysByPlacement.set(placement, keys);
  }

  #drop(object: KubeObject): void {
    const placement = placementOfPage(object);
    if (placement === undefined) return;
    const keys = this.#keysByPlacement.get(placement);
    keys?.delete(namespacedName(object.metadata));
    if (keys?.size === 0) this.#keysByPlacement.delete(placement);
  }
}

/** The placements that a change of a page concerns: two if the page was moved to another placement. */
export function placementsOf({ before, after }: Pick<ObjectChange, 'before' | 'after'>): ReadonlySet<string> {
  const placements = [before, after].map((page) => (page === undefined ? undefined : placementOfPage(page)));
  return new Set(placements.filter((placement) => placement !== undefined));
}
