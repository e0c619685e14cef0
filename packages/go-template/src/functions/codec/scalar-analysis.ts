import { decodeRune } from '../../text/bytes.ts';

/** The styles in which a text can be written (yaml_emitter_analyze_scalar). */
export interface ScalarAnalysis {
  readonly multiline: boolean;
  readonly plain: boolean;
  readonly singleQuoted: boolean;
  readonly block: boolean;
}

/**
 * Whether YAML can write a character without an escape. Characters of four bytes need one, because
 * the emitter does not know them.
 */
export function isPrintable(rune: number, width: number): boolean {
  if (width === 1) return rune === 0x0a || (rune >= 0x20 && rune <= 0x7e);
  return width < 4 && rune >= 0xa0 && rune !== 0xfeff && rune !== 0xfffe && rune !== 0xffff;
}

export function isBreak(rune: number): boolean {
  return rune === 0x0a || rune === 0x0d || rune === 0x85 || rune === 0x2028 || rune === 0x2029;
}

function isBlank(bytes: string, at: number): boolean {
  return bytes[at] === ' ' || bytes[at] === '\t';
}

/** Whether a character at this place would have a special meaning in a block. */
function isIndicator(bytes: string, at: number, precededBySpace: boolean): boolean {
  const char = bytes[at] ?? '';
  const followedBySpace = at + 1 >= bytes.length || isBlank(bytes, at + 1);
  if (char === ':') return followedBySpace;
  if (at === 0) return '#,[]{}&*!|>\'"%@`'.includes(char) || ('?-'.includes(char) && followedBySpace);
  return char === '#' && precededBySpace;
}

export function analyzeScalar(bytes: string): ScalarAnalysis {
  if (bytes === '') return { multiline: false, plain: true, singleQuoted: true, block: false };
  let indicators = /^(---|\.\.\.)/.test(bytes);
  const found = { breaks: false, special: false, breakSpace: false, spaceBreak: false };
  let [precededBySpace, previous] = [true, ''];
  for (let at = 0; at < bytes.length; ) {
    const { rune, width } = decodeRune(bytes, at);
    indicators ||= isIndicator(bytes, at, precededBySpace);
    found.special ||= !isPrintable(rune, width);
    const kind = rune === 0x20 ? 'space' : isBreak(rune) ? 'break' : '';
    found.breaks ||= kind === 'break';
    found.breakSpace ||= kind === 'space' && previous === 'break';
    found.spaceBreak ||= kind === 'break' && previous === 'space';
    precededBySpace = isBlank(bytes, at) || kind === 'break' || rune === 0;
    previous = kind;
    at += width;
  }
  const edges = /^[ \n\r]|[ \n\r]$|^(\xc2\x85|\xe2\x80[\xa8\xa9])|(\xc2\x85|\xe2\x80[\xa8\xa9])$/.test(bytes);
  const odd = found.spaceBreak || found.special;
  return {
    multiline: found.breaks,
    plain: !(edges || found.breakSpace || odd || found.breaks || indicators),
    singleQuoted: !(found.breakSpace || odd),
    block: !(bytes.endsWith(' ') || odd),
  };
}
