import type { JsonValue } from '../params/params.ts';

/** A field that Argo CD keeps as JSON text (`RawExtension`, `JSON`). */
export class RawJson {
  readonly value: JsonValue;
  /** Written by Go's encoder, which sorts keys and escapes `<`, `>` and `&`; else the text is as the user gave it. */
  readonly rewritten: boolean;

  constructor(value: JsonValue, rewritten = false) {
    this.value = value;
    this.rewritten = rewritten;
  }
}
