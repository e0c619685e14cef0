import type { YamlCursor } from './yaml-cursor.ts';
import { scannerError } from './yaml-error.ts';

/** What happens to the final line breaks: `+` keeps all, '' keeps one, `-` keeps none. */
type Chomping = '+' | '' | '-';

interface Header {
  readonly chomping: Chomping;
  /** The indentation; 0 if the first line determines it. */
  readonly increment: number;
}

/**
 * Reads a text in the form `|` or `>`. If the last line ends at the end of the input without a line
 * break, none is added.
 * @param parent the indentation around it; -1 for none
 * @returns a byte string
 */
export function scanBlockScalar(cursor: YamlCursor, isLiteral: boolean, parent: number): string {
  cursor.skip();
  const { chomping, increment } = header(cursor);
  endHeader(cursor);
  let value = '';
  let lastBreak = '';
  let wasBlank = false;
  const known = increment === 0 ? 0 : Math.max(parent, 0) + increment;
  const first = skipIndentation(cursor, known, parent);
  const { indent } = first;
  let { breaks } = first;
  while (cursor.column === indent && !cursor.isEnd()) {
    const isBlank = cursor.isBlank();
    const isFolded = !isLiteral && !wasBlank && !isBlank && lastBreak === '\n';
    value += isFolded ? (breaks === '' ? ' ' : '') : lastBreak;
    value += breaks;
    wasBlank = isBlank;
    value += cursor.readWhile(() => !cursor.isBreakOrEnd());
    lastBreak = cursor.readBreak();
    ({ breaks } = skipIndentation(cursor, indent, parent));
  }
  if (chomping !== '-') value += lastBreak;
  return chomping === '+' ? value + breaks : value;
}

/** `2`, `-`, `2-` or `-2` after the indicator. */
function header(cursor: YamlCursor): Header {
  const before = chompingOf(cursor);
  const increment = incrementOf(cursor);
  return { chomping: before === '' && increment > 0 ? chompingOf(cursor) : before, increment };
}

function chompingOf(cursor: YamlCursor): Chomping {
  if (!cursor.is('+') && !cursor.is('-')) return '';
  const chomping = cursor.is('+') ? '+' : '-';
  cursor.skip();
  return chomping;
}

function incrementOf(cursor: YamlCursor): number {
  if (!cursor.isDigit()) return 0;
  const increment = Number(cursor.ahead(1));
  if (increment === 0) throw scannerError('found an indentation indicator equal to 0', cursor.line);
  cursor.skip();
  return increment;
}

function endHeader(cursor: YamlCursor): void {
  cursor.skipBlanks();
  cursor.skipComment();
  if (!cursor.isBreakOrEnd()) throw scannerError('did not find expected comment or line break', cursor.line);
  cursor.readBreak();
}

/**
 * Skips indentation and empty lines.
 * @param known the indentation; 0 if the first line with text determines it
 */
function skipIndentation(
  cursor: YamlCursor,
  known: number,
  parent: number,
): { readonly indent: number; readonly breaks: string } {
  let breaks = '';
  let deepest = 0;
  const isInside = (): boolean => known === 0 || cursor.column < known;
  for (;;) {
    while (isInside() && cursor.is(' ')) cursor.skip();
    deepest = Math.max(deepest, cursor.column);
    if (isInside() && cursor.is('\t'))
      throw scannerError('found a tab character where an indentation space is expected', cursor.line);
    if (!cursor.isBreak()) break;
    breaks += cursor.readBreak();
  }
  return { indent: known === 0 ? Math.max(deepest, parent + 1, 1) : known, breaks };
}
