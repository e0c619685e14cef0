import { encodeRune, encodeRunes, isAscii, runesOf } from '../../text/bytes.ts';
import { quoteRune } from '../../text/quote.ts';
import { GoError } from '../../value/go-error.ts';
import { GoMap, MAP } from '../../value/go-map.ts';
import { type Any, BOOL, FLOAT64, LIST, STRING, valueOf } from '../../value/go-type.ts';
import { checkDepth, spend } from '../../value/work.ts';

/**
 * encoding/json's Unmarshal into an `interface {}`.
 * @throws GoError with Go's text
 */
export function decodeJson(bytes: string, toNumber: (text: string) => Any = toFloat): Any {
  spend(bytes.length);
  return new JsonReader(bytes, toNumber).whole();
}

function toFloat(text: string): Any {
  const number = Number(text);
  if (!Number.isFinite(number))
    throw new GoError(`json: cannot unmarshal number ${text} into Go value of type float64`);
  return valueOf(FLOAT64, number);
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const WORDS: Readonly<Record<string, Any>> = { t: valueOf(BOOL, true), f: valueOf(BOOL, false), n: null };
const SPELLED: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };

class JsonReader {
  readonly #bytes: string;
  #at = 0;

  readonly #toNumber: (text: string) => Any;

  constructor(bytes: string, toNumber: (text: string) => Any) {
    this.#bytes = bytes;
    this.#toNumber = toNumber;
  }

  whole(): Any {
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#bytes.length) this.#fail('after top-level value');
    return value;
  }

  #fail(where: string): never {
    const char = this.#bytes[this.#at];
    if (char === undefined) throw new GoError('unexpected end of JSON input');
    // Go treats the byte as a character.
    const shown =
      char === "'" ? `'\\''` : char === '"' ? `'"'` : quoteRune(encodeRune(char.charCodeAt(0)), false);
    throw new GoError(`invalid character ${shown} ${where}`);
  }

  #space(): void {
    while (/[ \t\r\n]/.test(this.#bytes[this.#at] ?? '')) this.#at++;
  }

  #value(depth: number): Any {
    checkDepth(depth);
    this.#space();
    const char = this.#bytes[this.#at];
    switch (char) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#list(depth);
      case '"':
        return valueOf(STRING, this.#string());
      case 't':
      case 'f':
      case 'n':
        return this.#word(char);
      default:
        if (char !== undefined && /[-0-9]/.test(char)) return this.#number();
        return this.#fail('looking for beginning of value');
    }
  }

  #word(first: 't' | 'f' | 'n'): Any {
    const word = SPELLED[first] ?? '';
    for (const [index, letter] of [...word].entries()) {
      if (this.#bytes[this.#at] !== letter)
        this.#fail(`in literal ${word} (expecting ${quoteRune(letter, false)})`);
      if (index < word.length) this.#at++;
    }
    return WORDS[first] ?? null;
  }

  #digits(where: string): void {
    if (!/\d/.test(this.#bytes[this.#at] ?? '')) this.#fail(where);
    while (/\d/.test(this.#bytes[this.#at] ?? '')) this.#at++;
  }

  #number(): Any {
    const start = this.#at;
    if (this.#bytes[this.#at] === '-') this.#at++;
    if (this.#bytes[this.#at] === '0') this.#at++;
    else this.#digits('in numeric literal');
    if (this.#bytes[this.#at] === '.') {
      this.#at++;
      this.#digits('after decimal point in numeric literal');
    }
    if (/[eE]/.test(this.#bytes[this.#at] ?? '')) {
      this.#at++;
      if (/[-+]/.test(this.#bytes[this.#at] ?? '')) this.#at++;
      this.#digits('in exponent of numeric literal');
    }
    return this.#toNumber(this.#bytes.slice(start, this.#at));
  }

  #list(depth: number): Any {
    const list: Any[] = [];
    this.#at++;
    this.#space();
    if (this.#bytes[this.#at] === ']') {
      this.#at++;
      return valueOf(LIST, list);
    }
    for (;;) {
      list.push(this.#value(depth + 1));
      this.#space();
      const char = this.#bytes[this.#at];
      if (char !== ',' && char !== ']') this.#fail('after array element');
      this.#at++;
      if (char === ']') return valueOf(LIST, list);
    }
  }

  #object(depth: number): Any {
    const entries = new Map<string, Any>();
    this.#at++;
    this.#space();
    if (this.#bytes[this.#at] === '}') {
      this.#at++;
      return valueOf(MAP, new GoMap<Any>());
    }
    for (;;) {
      this.#space();
      if (this.#bytes[this.#at] !== '"') this.#fail('looking for beginning of object key string');
      const key = this.#string();
      this.#space();
      if (this.#bytes[this.#at] !== ':') this.#fail('after object key');
      this.#at++;
      entries.set(key, this.#value(depth + 1));
      this.#space();
      const char = this.#bytes[this.#at];
      if (char !== ',' && char !== '}') this.#fail('after object key:value pair');
      this.#at++;
      if (char === '}') return valueOf(MAP, GoMap.of(entries));
    }
  }

  #string(): string {
    let text = '';
    this.#at++;
    for (;;) {
      const char = this.#bytes[this.#at];
      if (char === undefined || char < ' ') this.#fail('in string literal');
      this.#at++;
      if (char === '"') return toValidUtf8(text);
      text += char === '\\' ? this.#escape() : char;
    }
  }

  #escape(): string {
    const char = this.#bytes[this.#at];
    if (char === 'u') return this.#unicode();
    if (char === undefined || !'"\\/bfnrt'.includes(char)) return this.#fail('in string escape code');
    this.#at++;
    return ESCAPES[char] ?? char;
  }

  #unicode(): string {
    const first = this.#fourDigits();
    if (first < 0xd800 || first > 0xdfff) return encodeRune(first);
    const second = /^\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(this.#bytes.slice(this.#at, this.#at + 6))?.[1];
    if (first > 0xdbff || second === undefined) return encodeRune(0xfffd);
    this.#at += 6;
    return encodeRune(0x10000 + ((first - 0xd800) << 10) + (Number.parseInt(second, 16) - 0xdc00));
  }

  #fourDigits(): number {
    this.#at++;
    const start = this.#at;
    for (; this.#at < start + 4; this.#at++)
      if (!/[0-9a-fA-F]/.test(this.#bytes[this.#at] ?? '')) this.#fail('in \\u hexadecimal character escape');
    return Number.parseInt(this.#bytes.slice(start, this.#at), 16);
  }
}

/** A byte string with U+FFFD for each byte that is not UTF-8. */
function toValidUtf8(bytes: string): string {
  return isAscii(bytes) ? bytes : encodeRunes(runesOf(bytes));
}
