/** An error that the code of Argo CD returns. The message is the text of Argo CD. */
export class GenerateError extends Error {
  override readonly name = 'GenerateError';
}

/**
 * A place where the code of Argo CD panics. Its controller tries again and sets no condition. The
 * message is the text of the panic.
 */
export class GoPanic extends Error {
  override readonly name = 'GoPanic';
}

/** Something that Berth does not render, because the result would be wrong. */
export class NotRendered extends Error {
  override readonly name = 'NotRendered';
}

/** Runs a step. Its errors get a prefix, as with `%w` in Go. Its panics do not. */
export function withPrefix<T>(prefix: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof GenerateError)
      throw new GenerateError(`${prefix}: ${error.message}`, { cause: error });
    throw error;
  }
}
