/** What a Go function returns as its error, or panics with. The text is a byte string, as all text inside of the engine. */
export class GoError extends Error {
  override readonly name = 'GoError';
}

/** A function or a value that the engine does not render, since it could only render it wrong. */
export class Refusal extends GoError {}
