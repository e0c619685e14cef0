/** Computes a result once for each list. The lists must not change. */
export function oncePerList<T, R>(compute: (list: readonly T[]) => R): (list: readonly T[]) => R {
  const known = new WeakMap<readonly T[], { readonly result: R }>();
  return (list) => {
    let found = known.get(list);
    if (found === undefined) known.set(list, (found = { result: compute(list) }));
    return found.result;
  };
}

/**
 * The last list of each name. It replaces a new list with the same elements, so that the results of `oncePerList` are
 * found again.
 */
export class LastLists<T> {
  readonly #last = new Map<string, readonly T[]>();

  /** @returns the last list with this name, if it has the same elements in the same order */
  reuse(name: string, list: readonly T[]): readonly T[] {
    const last = this.#last.get(name);
    if (last?.length === list.length && list.every((one, at) => one === last[at])) return last;
    this.#last.set(name, list);
    return list;
  }
}
