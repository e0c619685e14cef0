/**
 * An error or panic of a Go function. The text is a byte string, like all text inside the engine.
 */
export class GoError extends Error {
  override readonly name = 'GoError';
}

/** A function or a value that the engine refuses, because the result would be wrong. */
export class Refusal extends GoError {}
