import { closingQuote } from './json-string.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

export interface JsonShape {
  /** An upper bound of the number of values. */
  readonly values: number;
  /** Keys of all objects. */
  readonly keys: number;
  /** Deepest nesting of objects and lists. */
  readonly depth: number;
}

/**
 * The size of the value of a JSON text, without parsing it: the engine's parser cannot be
 * interrupted, and takes fifty times as long for three megabytes of brackets as for three megabytes
 * of text. It never fails; for a text that is not JSON the result is arbitrary.
 */
export function jsonShape(text: string): JsonShape {
  let values = 1;
  let keys = 0;
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = closingQuote(text, at);
        if (at < 0) return { values, keys, depth: deepest };
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        values += 1;
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        break;
      case COLON:
        keys += 1;
        break;
      default:
    }
  }
  return { values, keys, depth: deepest };
}
