/**
 * The first of `count` sorted indexes that is not before the value, by binary search.
 * @param isBefore whether the item at the index is before the value
 */
export function lowerBound(count: number, isBefore: (place: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The index of a number in an ascending list; undefined if it is not in the list. */
export function findSorted(list: Uint32Array, wanted: number): number | undefined {
  const place = lowerBound(list.length, (at) => (list[at] as number) < wanted);
  return list[place] === wanted ? place : undefined;
}
