/** A parser or handler that reads what a stranger sends. */
export interface FuzzTarget {
  /** Valid inputs to start from. */
  readonly seeds: readonly Uint8Array[];
  /** Words of the input language, inserted as they are. */
  readonly dictionary: readonly string[];
  /**
   * Handles one input and names its outcome in a few words, e.g. `422 Invalid`. Inputs with an outcome that is new are
   * kept and changed further. It must not keep state: the same input has the same outcome.
   * @throws when a promise of the target is broken
   */
  run(input: Uint8Array): string | Promise<string>;
}

const encoder = new TextEncoder();
export const bytesOf = (text: string): Uint8Array => encoder.encode(text);

/** An outcome without its variable parts, so that one kind of answer counts as one outcome. */
export function outcomeOf(code: number | string, message: string): string {
  return `${code} ${message
    .slice(0, 400)
    .replace(/"(?:[^"\\]|\\.)*"|`[^`]*`|'[^']*'/g, '"…"')
    .replace(/[0-9]+/g, '0')
    .replace(/[^\x20-\x7e]+/g, '')
    .slice(0, 80)}`;
}
