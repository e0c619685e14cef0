/** An error that Argo CD's code returns; the message is Argo CD's text. */
export class GenerateError extends Error {
  override readonly name = 'GenerateError';
}

/** Argo CD's code panics here: its controller tries again, and sets no condition. The message is the text of the panic. */
export class GoPanic extends Error {
  override readonly name = 'GoPanic';
}

/** Something that Berth does not render, since it could only render it wrong. */
export class NotRendered extends Error {
  override readonly name = 'NotRendered';
}

/** Runs a step; its errors, not its panics, get a prefix as Go's `%w` gives. */
export function withPrefix<T>(prefix: string, step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof GenerateError)
      throw new GenerateError(`${prefix}: ${error.message}`, { cause: error });
    throw error;
  }
}
