import type { Value } from '../value/go-type.ts';

/** The variables of a template that is running: a stack, the newest last. */
export class Scope {
  readonly #variables: { readonly name: string; value: Value | undefined }[];

  constructor(dollar: Value | undefined) {
    this.#variables = [{ name: '$', value: dollar }];
  }

  get size(): number {
    return this.#variables.length;
  }

  /** Removes the variables that were added after the stack had this size. */
  cutTo(size: number): void {
    this.#variables.length = size;
  }

  push(name: string, value: Value | undefined): void {
    this.#variables.push({ name, value });
  }

  /** @returns whether the variable exists */
  assign(name: string, value: Value | undefined): boolean {
    const variable = this.#variables.findLast((known) => known.name === name);
    if (variable !== undefined) variable.value = value;
    return variable !== undefined;
  }

  /** Sets the variable that is `fromTop` from the end: 1 is the last. */
  setTop(fromTop: number, value: Value | undefined): void {
    const variable = this.#variables.at(-fromTop);
    if (variable !== undefined) variable.value = value;
  }

  find(name: string): { readonly value: Value | undefined } | undefined {
    return this.#variables.findLast((known) => known.name === name);
  }
}
