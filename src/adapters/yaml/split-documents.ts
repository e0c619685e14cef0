/** One document's text inside a file; `text` may start with its `---` line. */
export interface DocumentText {
  /** The index among the documents of the file, from 0. The locator uses the same index. */
  readonly index: number;
  readonly text: string;
  /** Line of the file on which `text` starts, from 1. */
  readonly startLine: number;
}

/**
 * Splits a YAML stream as YAML defines it: at lines that start with `---` or end with `...`. Each document is then
 * parsed separately, so that a broken document does not hide the errors or objects of the others.
 */
export function splitDocuments(source: string): DocumentText[] {
  const text = source.charCodeAt(0) === 0xfeff ? source.slice(1) : source;
  const documents: DocumentText[] = [];
  let start = 0;
  let startLine = 1;
  const cut = (end: number): void => {
    const part = text.slice(start, end);
    if (/\S/.test(part)) documents.push({ index: documents.length, text: part, startLine });
    startLine += countNewlines(part);
    start = end;
  };
  let lineStart = markerLine(text, 0);
  while (lineStart !== -1) {
    if (text.charCodeAt(lineStart) === 0x2e) cut(endOfLine(text, lineStart));
    else if (lineStart > start && !isDirectives(text.slice(start, lineStart))) cut(lineStart);
    lineStart = markerLine(text, endOfLine(text, lineStart));
  }
  cut(text.length);
  return documents;
}

/** Offset of the next line at or after `from` with a document marker; -1 if there is none. */
function markerLine(text: string, from: number): number {
  const marker = /^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm;
  marker.lastIndex = from;
  // With the m flag, `$` also matches inside the text. The lookahead then sees the end of the line or of the text.
  return marker.exec(text)?.index ?? -1;
}

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from);
  return newline === -1 ? text.length : newline + 1;
}

/** Contains only `%` directives, comments and blank lines, which belong to the next document. */
function isDirectives(part: string): boolean {
  return (
    part.includes('%') &&
    part.split('\n').every((line) => line.trim() === '' || line[0] === '%' || line[0] === '#')
  );
}

function countNewlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
