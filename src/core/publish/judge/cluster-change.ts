/** The clusters that a decision adds and removes, each list sorted by name. */
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
 * Whether both lists contain the same clusters, in any order. Mostly the order is the same too, so
 * equal names at both ends are compared first, without a set.
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

/**
 * Whether the names are sorted. Most decisions are, so a first publication need not copy the names.
 */
function isSorted(names: readonly string[]): boolean {
  return names.every((name, at) => at === 0 || (names[at - 1] ?? '') <= name);
}
