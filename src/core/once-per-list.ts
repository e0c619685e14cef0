/** The same computation of the same list is made once. A list that was computed on must not change. */
export function oncePerList<T, R>(compute: (list: readonly T[]) => R): (list: readonly T[]) => R {
  const known = new WeakMap<readonly T[], { readonly result: R }>();
  return (list) => {
    let found = known.get(list);
    if (found === undefined) known.set(list, (found = { result: compute(list) }));
    return found.result;
  };
}

/** Lists that equal the ones before them mostly. Equal lists are the same list, so that what was computed of it is found again. */
export class LastLists<T> {
  readonly #last = new Map<string, readonly T[]>();

  /** @returns the last list with this name, if it has the same elements in the same order */
  theSame(name: string, list: readonly T[]): readonly T[] {
    const last = this.#last.get(name);
    if (last?.length === list.length && list.every((one, at) => one === last[at])) return last;
    this.#last.set(name, list);
    return list;
  }
}
