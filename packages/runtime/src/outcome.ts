/** What a rule found, or one sentence for the person whose input does not allow it. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: string };

export function done<T>(value: T): Outcome<T> {
  return { ok: true, value };
}

export function failed(error: string): { readonly ok: false; readonly error: string } {
  return { ok: false, error };
}

/**
 * Makes a result of every item, until one fails.
 * @returns the results in the order of the items, or the first failure
 */
export function eachDone<T, U>(items: readonly T[], make: (item: T) => Outcome<U>): Outcome<readonly U[]> {
  const made: U[] = [];
  for (const item of items) {
    const one = make(item);
    if (!one.ok) return one;
    made.push(one.value);
  }
  return done(made);
}
