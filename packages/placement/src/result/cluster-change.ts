/** The clusters that a decision adds and removes, each list sorted by name. */
export interface ClusterChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Each list must name a cluster at most once. */
export function clusterChange(before: readonly string[], after: readonly string[]): ClusterChange {
  if (before.length > 0 && after.length > 0) {
    const { a, b } = differingParts(before, after);
    return { added: namesWithout(b, a), removed: namesWithout(a, b) };
  }
  return { added: namesWithout(after, before), removed: namesWithout(before, after) };
}

function namesWithout(names: readonly string[], others: readonly string[]): readonly string[] {
  if (others.length === 0) return isSorted(names) ? names : [...names].sort();
  if (names.length === 0) return [];
  const known = new Set(others);
  return names.filter((name) => !known.has(name)).sort();
}

/** Whether both lists contain the same clusters, in any order. */
export function sameClusters(before: readonly string[], after: readonly string[]): boolean {
  if (before === after) return true;
  if (before.length !== after.length) return false;
  const { a, b } = differingParts(before, after);
  if (a.length === 0) return true;
  const known = new Set(b);
  return a.every((name) => known.has(name));
}

/** The lists without equal names at both ends: mostly the order is the same, and no set of thousands of names is needed. */
function differingParts(
  a: readonly string[],
  b: readonly string[],
): { readonly a: readonly string[]; readonly b: readonly string[] } {
  const shorter = Math.min(a.length, b.length);
  let first = 0;
  while (first < shorter && a[first] === b[first]) first++;
  let last = 0;
  while (last < shorter - first && a[a.length - 1 - last] === b[b.length - 1 - last]) last++;
  return { a: a.slice(first, a.length - last), b: b.slice(first, b.length - last) };
}

/**
 * Whether the names are sorted. Most decisions are, so a first publication need not copy the names.
 */
function isSorted(names: readonly string[]): boolean {
  return names.every((name, at) => at === 0 || (names[at - 1] ?? '') <= name);
}
