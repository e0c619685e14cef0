import { encode } from '../../text/bytes.ts';

/** What the library that reads YAML says is wrong, and where. */
export interface Fault {
  readonly message: string;
  /** Where in the text. */
  readonly at: number;
}

/** go-yaml counts lines from 0 in its places, and names none where that is 0. */
function where(line: number): string {
  return line > 0 ? `line ${line}: ` : '';
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length - 1;
}

/** At its end the text has one line more, unless it ends with a line break. */
function endLine(text: string): number {
  return lineOf(text, text.length) + (text === '' || text.endsWith('\n') ? 0 : 1);
}

/** The place of the innermost bracket that is still open before a place; quotes are skipped. */
function openBracket(text: string, before: number): number {
  const open: number[] = [];
  for (const { 0: found, index } of text
    .slice(0, before)
    .matchAll(/"(?:[^"\\]|\\.)*"?|'[^']*'?|#.*|[[\]{}]/gs)) {
    if (found === '[' || found === '{') open.push(index);
    else if (found === ']' || found === '}') open.pop();
  }
  return open.at(-1) ?? -1;
}

function flowFault(text: string, at: number): string {
  // A bracket that is never closed is missed at the end of the text, wherever the library sees it.
  const isOpen = openBracket(text, text.length) >= 0;
  const problem = isOpen ? text.length : at + Math.max(text.slice(at).search(/\S/), 0);
  const problemLine = isOpen ? endLine(text) : lineOf(text, problem);
  if (isOpen && /[[{,:]\s*$/.test(text)) return `${where(problemLine)}did not find expected node content`;
  const bracket = Math.max(openBracket(text, problem), 0);
  const line = lineOf(text, bracket);
  return `${where(line > 0 ? line : problemLine)}did not find expected ',' or '${text[bracket] === '{' ? '}' : ']'}'`;
}

/**
 * A fault with the message of go-yaml, if it is known, otherwise with that of the library.
 * Positions only approximate those of go-yaml.
 */
export function yamlFault(text: string, { message, at }: Fault): string {
  const line = lineOf(text, at);
  // The scanner of go-yaml counts its lines from 1, where it names them.
  const scanned = where(line > 0 ? line + 1 : 0);
  if (/^Flow (sequence|map)/.test(message)) return flowFault(text, at);
  if (/^Missing closing/.test(message)) return `${scanned}found unexpected end of stream`;
  if (/reserved character|Tabs are not allowed/.test(message))
    return `${scanned}found character that cannot start any token`;
  if (/Nested mappings are not allowed/.test(message))
    return `${scanned}mapping values are not allowed in this context`;
  if (/All mapping items must start at the same column/.test(message))
    return `${where(line)}did not find expected key`;
  if (/Unexpected scalar at node end|All sequence items must start/.test(message))
    return `${where(line)}did not find expected ${/^\s*-\s/.test(text) ? "'-' indicator" : 'key'}`;
  return `line ${line + 1}: ${encode(message)}`;
}
