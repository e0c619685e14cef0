/**
 * A JSON merge patch (RFC 7386): null removes, objects merge, everything else replaces. What is
 * undefined in the patch changes nothing. The inputs are not changed.
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isMapping(patch)) return patch;
  // A map, because a key may be `__proto__`.
  const merged = new Map(isMapping(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch))
    if (value === null) merged.delete(key);
    else if (value !== undefined) merged.set(key, mergePatch(merged.get(key), value));
  return Object.fromEntries(merged);
}

function isMapping(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
