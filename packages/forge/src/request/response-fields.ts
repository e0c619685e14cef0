import { TransientError } from '@berth/runtime/errors';

/** JSON of a forge, with typed access by path. A field that is missing or has another type is undefined. */
export class ResponseFields {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  at(...path: readonly (string | number)[]): unknown {
    let value = this.#value;
    for (const part of path) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
      value = (value as Record<string | number, unknown>)[part];
    }
    return value;
  }

  text(...path: readonly (string | number)[]): string | undefined {
    const value = this.at(...path);
    return typeof value === 'string' ? value : undefined;
  }

  number(...path: readonly (string | number)[]): number | undefined {
    const value = this.at(...path);
    return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
  }

  texts(...paths: readonly (readonly (string | number)[])[]): string[] {
    return paths.map((path) => this.text(...path)).filter((text) => text !== undefined);
  }

  /**
   * The elements of a list.
   * @throws TransientError when the value is not a list
   */
  list(subject: string): readonly ResponseFields[] {
    if (Array.isArray(this.#value)) return this.#value.map((item) => new ResponseFields(item));
    throw new TransientError('the forge answered with something that is not a list', {
      code: 'scm.answer',
      subject,
    });
  }
}
