/**
 * Checks that a value stays within `limitBytes` when all aliases are expanded, without expanding
 * them: each shared part is measured once.
 * @returns the problem, or undefined
 */
export function expandedSizeOf(value: unknown, limitBytes: number): string | undefined {
  const sizes = new Map<object, number>();
  const enclosing = new Set<object>();
  let cyclic = false;

  const measure = (node: unknown): number => {
    if (typeof node === 'string') return node.length + 2;
    if (typeof node !== 'object' || node === null) return 5;
    const known = sizes.get(node);
    if (known !== undefined) return known;
    if (enclosing.has(node)) {
      cyclic = true;
      return 0;
    }
    enclosing.add(node);
    let size = 2;
    for (const [key, child] of Object.entries(node)) {
      size += (Array.isArray(node) ? 1 : key.length + 4) + measure(child);
      // Beyond the limit the exact number does not matter, and sums must not overflow.
      if (size > limitBytes) size = limitBytes + 1;
    }
    enclosing.delete(node);
    sizes.set(node, size);
    return size;
  };

  const size = measure(value);
  if (cyclic) return 'an alias refers to a value that contains it, expected a value without cycles';
  return size > limitBytes ? `more than ${limitBytes} bytes once its aliases are written out` : undefined;
}
