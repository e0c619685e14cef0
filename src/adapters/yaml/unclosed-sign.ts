import type { Position } from './document-locator.ts';

/** A quote or bracket that is opened and not closed. */
export interface UnclosedSign extends Position {
  readonly sign: '"' | "'" | '{' | '[';
}

/** What may open a quote or a bracket stands at the start of a value; elsewhere it is a part of a text. */
const TOKEN = /(?<=^|[\s,[{:])(?:#.*|["'[{])|[\]},]/g;
const BLOCK_SCALAR = /(?:^|\s)[|>][-+\d]*\s*(?:#.*)?$/;
const CLOSING: Readonly<Record<string, RegExp>> = { '"': /(?<!\\)(?:\\\\)*"/g, "'": /'(?!')/g };

/**
 * The innermost quote or bracket that is open at a place, found without a parser, because the text cannot be parsed.
 * @param lines of the document, up to the place
 */
export function unclosedSign(lines: readonly string[]): UnclosedSign | undefined {
  const open: UnclosedSign[] = [];
  let blockIndent: number | undefined;
  for (const [index, text] of lines.entries()) {
    const indent = indentOf(text);
    if (blockIndent !== undefined && (text.trim() === '' || indent > blockIndent)) continue;
    blockIndent = undefined;
    scanLine(text, index + 1, open);
    if (open.length === 0 && BLOCK_SCALAR.test(text)) blockIndent = indent;
  }
  return open.at(-1);
}

function scanLine(text: string, line: number, open: UnclosedSign[]): void {
  let from = 0;
  for (;;) {
    const top = open.at(-1)?.sign;
    if (top === '"' || top === "'") {
      const end = endOfQuote(text, from, top);
      if (end === undefined) return;
      open.pop();
      from = end;
    }
    TOKEN.lastIndex = from;
    const found = TOKEN.exec(text);
    if (found === null || found[0].startsWith('#')) return;
    const [sign] = found[0] as UnclosedSign['sign'];
    from = found.index + 1;
    if ('"\'{['.includes(sign ?? '')) open.push({ sign: sign as UnclosedSign['sign'], line, column: from });
    else if ('}]'.includes(sign ?? '')) open.pop();
  }
}

/** The place after the sign that closes the quote. */
function endOfQuote(text: string, from: number, sign: '"' | "'"): number | undefined {
  const closing = new RegExp(CLOSING[sign] as RegExp);
  // Two single quotes inside of single quotes are one quote of the text.
  const rest = sign === "'" ? text.slice(from).replaceAll("''", '  ') : text.slice(from);
  const found = closing.exec(rest);
  return found === null ? undefined : from + found.index + found[0].length;
}

export function indentOf(line: string): number {
  return /^[ ]*/.exec(line)?.[0].length ?? 0;
}
