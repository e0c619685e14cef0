/** The clusters that a decision adds and removes, each in the order of names. */
export interface ClusterChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Each list must name a cluster at most once. */
export function clusterChange(before: readonly string[], after: readonly string[]): ClusterChange {
  return { added: namesWithout(after, before), removed: namesWithout(before, after) };
}

function namesWithout(names: readonly string[], others: readonly string[]): readonly string[] {
  if (others.length === 0) return isSorted(names) ? names : [...names].sort();
  if (names.length === 0) return [];
  const known = new Set(others);
  return names.filter((name) => !known.has(name)).sort();
}

/**
 * Whether both lists have the same clusters, in any order. Common parts at both ends are skipped,
 * because the order is mostly the same.
 */
export function sameClusters(a: readonly string[], b: readonly string[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  let [first, end] = [0, a.length];
  while (first < end && a[first] === b[first]) first++;
  while (end > first && a[end - 1] === b[end - 1]) end--;
  if (first === end) return true;
  const known = new Set(b.slice(first, end));
  return a.slice(first, end).every((name) => known.has(name));
}

/** As most decisions are: a first publication copies no names. */
function isSorted(names: readonly string[]): boolean {
  return names.every((name, at) => at === 0 || (names[at - 1] ?? '') <= name);
}
