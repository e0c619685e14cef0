/** Server-side apply for the fake: leaves are everything that is not a plain object; lists are atomic. */
export type Path = readonly string[];

export function leafPaths(value: unknown, prefix: Path = []): Path[] {
  if (!isPlainObject(value)) return [prefix];
  const entries = Object.entries(value);
  if (entries.length === 0) return [prefix];
  return entries.flatMap(([key, child]) => leafPaths(child, [...prefix, key]));
}

export function valueAt(root: unknown, path: Path): unknown {
  let at = root;
  for (const key of path) {
    if (!isPlainObject(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

export function setAt(root: Record<string, unknown>, path: Path, value: unknown): void {
  let at = root;
  for (const key of path.slice(0, -1)) {
    if (!isPlainObject(at[key])) at[key] = {};
    at = at[key] as Record<string, unknown>;
  }
  at[path.at(-1)!] = value;
}

/** Removes the leaf and every parent that becomes empty. */
export function removeAt(root: Record<string, unknown>, path: Path): void {
  const parent = path.length === 1 ? root : valueAt(root, path.slice(0, -1));
  if (!isPlainObject(parent)) return;
  delete parent[path.at(-1)!];
  if (path.length > 1 && Object.keys(parent).length === 0) removeAt(root, path.slice(0, -1));
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
