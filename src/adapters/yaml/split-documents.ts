/** One document's text inside a file; `text` may start with its `---` line. */
export interface DocumentText {
  /** The index among the documents of the file, from 0. The locator uses the same index. */
  readonly index: number;
  readonly text: string;
  /** Line of the file on which `text` starts, from 1. */
  readonly startLine: number;
}

const BYTE_ORDER_MARK = '\ufeff';

/**
 * Splits a file as YAML defines it: at lines that start with `---` or end with `...`. Each document is then parsed
 * separately, so that a broken document does not hide the errors or objects of the others. As with kubectl, a file that
 * starts with a JSON object may hold several JSON values, and a byte order mark at the start of a document is skipped.
 */
export function splitDocuments(source: string): DocumentText[] {
  // In files that were joined, the mark of the second one is in the middle.
  const hasMarks = source.includes(BYTE_ORDER_MARK);
  const text = hasMarks ? source.replaceAll(MARKS_BEFORE_MARKER, '') : source;
  const documents: DocumentText[] = [];
  let start = 0;
  let startLine = 1;
  const push = (part: string, line: number): void => {
    if (/\S/.test(part)) documents.push({ index: documents.length, text: part, startLine: line });
  };
  const cut = (end: number): void => {
    const whole = text.slice(start, end);
    const part = hasMarks ? withoutLeadingMarks(whole) : whole;
    const values = documents.length === 0 && /^\s*\{/.test(part) ? findJsonStream(part) : undefined;
    if (values === undefined) push(part, startLine);
    else
      for (const value of values) {
        const line = part.lastIndexOf('\n', value.start) + 1;
        // The spaces keep the columns.
        const column = ' '.repeat(value.start - line);
        push(
          `${column}${part.slice(value.start, value.end)}`,
          startLine + countNewlines(part.slice(0, line)),
        );
      }
    startLine += countNewlines(whole);
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

const MARKS_BEFORE_MARKER = /^\ufeff+(?=%|---(?:[ \t\r\n]|$))/gm;
/** What may come before the content of a document: its marker, directives, comments and blank lines. */
const BEFORE_CONTENT = /^((?:(?:---)?[ \t]*(?:#[^\n]*)?\r?\n|%[^\n]*\n)*)\ufeff+/;

/** YAML and kubectl skip byte order marks at the start of a document, also of its lines before the content. */
function withoutLeadingMarks(part: string): string {
  let left = part;
  for (let found = BEFORE_CONTENT.exec(left); found !== null; found = BEFORE_CONTENT.exec(left))
    left = `${found[1] ?? ''}${left.slice(found[0].length)}`;
  return left;
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

/** A part of a text: from `start` up to, not including, `end`. */
interface TextRange {
  readonly start: number;
  readonly end: number;
}

/**
 * The values of a text that contains several JSON values one after the other, such as the output of `jq`. kubectl reads
 * such a file if it starts with an object. Undefined for a single value, and for any other text.
 */
function findJsonStream(text: string): readonly TextRange[] | undefined {
  const values: TextRange[] = [];
  for (let at = skipSpace(text, 0); at < text.length; ) {
    const end = text.startsWith('null', at) ? at + 'null'.length : endOfValue(text, at);
    if (end === undefined) return undefined;
    values.push({ start: at, end });
    at = skipSpace(text, end);
    // Another text, such as a flow mapping of YAML with a comment, is left whole for the YAML parser.
    if (at < text.length && !/^(?:[{[]|null\b)/.test(text.slice(at, at + 5))) return undefined;
  }
  return values.length > 1 && values.every((value) => isJson(text, value)) ? values : undefined;
}

/** The end of the object or list that starts here; undefined if there is none. */
function endOfValue(text: string, start: number): number | undefined {
  if (!/[{[]/.test(text[start] ?? '')) return undefined;
  const token = /"(?:[^"\\]|\\.)*"|[{[\]}]/gs;
  token.lastIndex = start;
  let depth = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (found[0] === '{' || found[0] === '[') depth += 1;
    else if ((found[0] === '}' || found[0] === ']') && --depth === 0) return token.lastIndex;
  }
  return undefined;
}

function skipSpace(text: string, from: number): number {
  const space = /\s*/y;
  space.lastIndex = from;
  space.exec(text);
  return space.lastIndex;
}

function isJson(text: string, { start, end }: TextRange): boolean {
  try {
    JSON.parse(text.slice(start, end));
    return true;
  } catch {
    return false;
  }
}
