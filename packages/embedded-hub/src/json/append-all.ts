/**
 * Appends to a list. `list.push(...more)` hands every item over as an argument, which overflows the stack from about a hundred
 * thousand on; lists that come from a request can be that long.
 */
export function appendAll<T>(list: T[], more: readonly T[]): void {
  for (const item of more) list.push(item);
}
