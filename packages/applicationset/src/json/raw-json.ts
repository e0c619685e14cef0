import { JsonText } from '@berth/go-template/values';
import { goJsonText } from './go-json-text.ts';
import type { JsonValue } from './json-value.ts';

/** A field that Argo CD keeps as JSON text (`RawExtension`, `JSON`). */
export class RawJson extends JsonText {
  readonly value: JsonValue;
  /**
   * True if the encoder of Go wrote the text, which sorts keys and escapes `<`, `>` and `&`. False
   * if the text is as the user wrote it.
   */
  readonly rewritten: boolean;

  constructor(value: JsonValue, rewritten = false) {
    super();
    this.value = value;
    this.rewritten = rewritten;
  }

  get text(): string {
    return goJsonText(this.value, this.rewritten);
  }
}
