/**
 * An error or panic of a Go function. The text is a byte string, like all text inside the engine.
 */
export class GoError extends Error {
  override readonly name = 'GoError';
}

/** A function or a value that the engine refuses, because the result would be wrong. */
export class Refusal extends GoError {}

/** text[low:high]. It fails with the panic of Go if the bounds do not fit. */
export function sliceText(text: string, low: number, high: number): string {
  checkBounds(low, high, { length: text.length, what: 'length' });
  return text.slice(low, high);
}

/** @throws GoError with the panic of Go if an expression such as list[low:high] is out of range */
export function checkBounds(
  low: number,
  high: number,
  { length, what }: { readonly length: number; readonly what: 'length' | 'capacity' },
): void {
  const out = 'runtime error: slice bounds out of range';
  if (high < 0) throw new GoError(`${out} [:${high}]`);
  if (high > length) throw new GoError(`${out} [:${high}] with ${what} ${length}`);
  if (low < 0) throw new GoError(`${out} [${low}:]`);
  if (low > high) throw new GoError(`${out} [${low}:${high}]`);
}
