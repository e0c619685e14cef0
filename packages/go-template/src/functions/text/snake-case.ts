import { decodeRune, encodeRune } from '../../text/bytes.ts';
import { isLetter, isSpace, isUpper, REPLACEMENT, toLowerRune } from '../../text/unicode.ts';

/**
 * The kinds of words of the Go package xstrings. A word is a run of characters of one kind, such as
 * numbers or connectors.
 */
type WordKind = 'none' | 'number' | 'upper' | 'alphabet' | 'connector' | 'punctuation' | 'other';

interface Word {
  readonly kind: WordKind;
  readonly text: string;
  readonly rest: string;
}

const PUNCTUATION = /^\p{P}$/u;
const NUMBER = /^\p{N}$/u;
const NONE: Word = { kind: 'none', text: '', rest: '' };

function isConnector(rune: number): boolean {
  return rune === 0x2d || rune === 0x5f || isSpace(rune);
}

function isPunctuation(rune: number): boolean {
  return PUNCTUATION.test(String.fromCodePoint(rune));
}

function isNumber(rune: number): boolean {
  return NUMBER.test(String.fromCodePoint(rune));
}

/** Whether a character is a letter of an alphabet. For xstrings, Chinese characters are not. */
function isAlphabet(rune: number): boolean {
  const chinese =
    (rune >= 0x4e00 && rune <= 0x9fcc) ||
    (rune >= 0x3400 && rune <= 0x4d85) ||
    (rune >= 0x20000 && rune <= 0x2b81d);
  return isLetter(rune) && !chinese;
}

function isLowerAlphabet(rune: number): boolean {
  return isAlphabet(rune) && !isUpper(rune);
}

/**
 * The next character that is valid UTF-8, and the end of its bytes. `previous` if there is none.
 */
function nextRune(text: string, at: number, previous: number): readonly [rune: number, end: number] {
  for (let end = at; end < text.length; ) {
    const { rune, width } = decodeRune(text, end);
    end += width;
    if (rune !== REPLACEMENT) return [rune, end];
  }
  return [previous, text.length];
}

/** The end of the characters from `at` on that the test accepts. */
function run(text: string, at: number, accepts: (rune: number) => boolean): number {
  let end = at;
  let previous = 0;
  while (end < text.length) {
    const [rune, next] = nextRune(text, end, previous);
    if (!accepts(rune)) break;
    previous = rune;
    end = next;
  }
  return end;
}

function nextWord(text: string): Word {
  if (text === '') return NONE;
  const [first, end] = nextRune(text, 0, REPLACEMENT);
  const word = (kind: WordKind, upTo: number): Word => ({
    kind,
    text: text.slice(0, upTo),
    rest: text.slice(upTo),
  });
  if (first === REPLACEMENT) return word('none', end);
  if (isConnector(first)) return word('connector', run(text, end, isConnector));
  if (isPunctuation(first)) return word('punctuation', run(text, end, isPunctuation));
  if (isUpper(first)) return word('upper', endOfUpper(text, end));
  if (isAlphabet(first)) return word('alphabet', run(text, end, isLowerAlphabet));
  if (isNumber(first)) return word('number', run(text, end, isNumber));
  const isOther = (rune: number): boolean =>
    !(isConnector(rune) || isAlphabet(rune) || isNumber(rune) || isPunctuation(rune));
  return word('other', run(text, end, isOther));
}

/**
 * The end of a run of capitals. `HTTPServer` is HTTP and Server: the last capital belongs to the
 * letters after it.
 */
function endOfUpper(text: string, at: number): number {
  if (at >= text.length) return at;
  const [second] = nextRune(text, at, 0);
  if (!isUpper(second)) return isAlphabet(second) ? run(text, at, isLowerAlphabet) : at;
  let [end, last] = [at, at];
  while (end < text.length) {
    const [rune, next] = nextRune(text, end, 0);
    if (!isUpper(rune)) return isAlphabet(rune) ? last : end;
    [last, end] = [end, next];
  }
  return end;
}

function lowerCase({ kind, text }: Pick<Word, 'kind' | 'text'>, connector: string): string {
  if (kind !== 'upper' && kind !== 'connector') return text;
  let result = '';
  for (let at = 0; at < text.length; ) {
    const { rune, width } = decodeRune(text, at);
    result += isConnector(rune) ? connector : encodeRune(isUpper(rune) ? toLowerRune(rune) : rune);
    at += width;
  }
  return result;
}

function isSeparable({ kind }: Word): boolean {
  return kind !== 'connector' && kind !== 'punctuation';
}

function continuesNumber({ kind }: Word): boolean {
  return kind === 'alphabet' || kind === 'number';
}

/**
 * The words in lower case with a connector between them (xstrings.ToSnakeCase and ToKebabCase).
 */
export function withConnector(bytes: string, connector: string): string {
  let result = '';
  let word = nextWord(bytes);
  while (word.rest !== '') {
    if (word.kind !== 'connector') result += lowerCase(word, connector);
    const previous = word;
    word = nextWord(word.rest);
    if (previous.kind === 'number') [result, word] = afterNumber(result, word, connector);
    else if (previous.kind === 'connector') result += lowerCase(previous, connector);
    else if (previous.kind !== 'punctuation') [result, word] = afterLetters(result, word, connector);
  }
  return result + lowerCase(word, connector);
}

type Step = [result: string, word: Word];

/**
 * Handles what follows a number. Lower-case letters and numbers belong to the number before them.
 */
function afterNumber(before: string, first: Word, connector: string): Step {
  let [result, word] = [before, first];
  while (continuesNumber(word)) {
    result += lowerCase(word, connector);
    word = nextWord(word.rest);
  }
  if (word.kind !== 'none' && isSeparable(word)) result += connector;
  return [result, word];
}

function afterLetters(before: string, word: Word, connector: string): Step {
  if (word.kind !== 'number') return [isSeparable(word) ? before + connector : before, word];
  if (word.rest === '') return [before, word];
  const next = nextWord(word.rest);
  if (next.kind === 'alphabet') return afterNumber(before + connector + word.text, next, connector);
  const result = before + word.text;
  return [isSeparable(next) ? result + connector : result, next];
}
