import { BerthError, errorText } from './errors.ts';

export type TraceAttributes = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Why a part of a trace failed. `code`: of an error of this package. */
export interface TraceError {
  readonly code: string;
  readonly message: string;
}

interface Timed {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly error?: TraceError | undefined;
}

/** Something that was done, and the steps in which it was done. */
export interface FinishedTrace extends Timed {
  readonly attributes: TraceAttributes;
  readonly steps: readonly Timed[];
}

/** Takes a trace at once, and never throws. */
export type TraceSink = (trace: FinishedTrace) => void;

/** Something that is being done, one step after the other. The sink gets it when it ends. */
export class OpenTrace {
  readonly #sink: TraceSink;
  readonly #name: string;
  readonly #startMs: number;
  readonly #steps: Timed[] = [];
  #attributes: TraceAttributes;
  #current: { readonly name: string; readonly startMs: number } | undefined;

  constructor(
    sink: TraceSink,
    { name, startMs, attributes }: Pick<FinishedTrace, 'name' | 'startMs' | 'attributes'>,
  ) {
    this.#sink = sink;
    this.#name = name;
    this.#startMs = startMs;
    this.#attributes = attributes;
  }

  /** The step that is being done; undefined before the first. */
  get step(): string | undefined {
    return this.#current?.name;
  }

  add(attributes: TraceAttributes): void {
    this.#attributes = { ...this.#attributes, ...attributes };
  }

  /** Ends the step that is being done, and begins another one. */
  begin(name: string, atMs: number): void {
    this.#endStep(atMs);
    this.#current = { name, startMs: atMs };
  }

  /** @param failure the step that is being done failed with this */
  end(atMs: number, failure?: { readonly error: unknown }): void {
    const error = failure && traceError(failure.error);
    this.#endStep(atMs, error);
    const [name, startMs, attributes, steps] = [this.#name, this.#startMs, this.#attributes, this.#steps];
    this.#sink({ name, startMs, endMs: Math.max(startMs, atMs), attributes, steps, error });
  }

  #endStep(atMs: number, error?: TraceError): void {
    if (this.#current === undefined) return;
    const { name, startMs } = this.#current;
    // The clock may have been set back meanwhile.
    this.#steps.push({ name, startMs, endMs: Math.max(startMs, atMs), error });
    this.#current = undefined;
  }
}

function traceError(error: unknown): TraceError {
  return { code: error instanceof BerthError ? error.code : 'error', message: errorText(error) };
}
