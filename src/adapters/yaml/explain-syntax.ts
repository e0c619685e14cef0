import type { Position, SyntaxFinding } from './document-locator.ts';

/** A syntax error as its author would describe it. */
export interface ExplainedError extends Position {
  readonly code: 'yaml.syntax' | 'yaml.duplicate-key' | 'yaml.template' | 'yaml.merge-conflict';
  readonly message: string;
  readonly hint?: string | undefined;
}

interface Place extends SyntaxFinding {
  /** The line of the error, and those of the document. */
  readonly text: string;
  readonly lines: readonly string[];
}

type Explanation = Pick<ExplainedError, 'message' | 'hint'> & Partial<Position>;

/** What a parser says of a document: codes of the `yaml` package, or none. */
export function explainSyntax(documentText: string, findings: readonly SyntaxFinding[]): ExplainedError[] {
  const lines = documentText.split(/\r?\n/);
  const whole = mergeConflict(lines) ?? template(lines, findings);
  if (whole !== undefined) return [whole];
  const explained = findings.map((finding): ExplainedError => {
    const { line, column, code } = finding;
    const place = { ...finding, text: lines[line - 1] ?? '', lines };
    const said = EXPLANATIONS[code]?.(place) ?? { message: finding.message };
    return { code: code === 'DUPLICATE_KEY' ? 'yaml.duplicate-key' : 'yaml.syntax', line, column, ...said };
  });
  // A second error on the same line is only a consequence of the first.
  return explained.filter(({ line }, at) => explained.findIndex((other) => other.line === line) === at);
}

/** `=======` alone may be a text. */
function mergeConflict(lines: readonly string[]): ExplainedError | undefined {
  const [first, last] = [/^<{7}(?: |$)/, /^>{7}(?: |$)/].map((marker) =>
    lines.findIndex((line) => marker.test(line)),
  ) as [number, number];
  if (first < 0 && last < 0) return undefined;
  return {
    code: 'yaml.merge-conflict',
    ...{ line: (first < 0 ? last : first) + 1, column: 1 },
    message: 'got the marker of a merge conflict, expected a file whose conflicts are resolved',
    hint: 'keep one side, and delete the lines that start with <<<<<<<, ======= and >>>>>>>',
  };
}

/** A template has a field or an action in the place of a value or of a line. */
const ACTION = /(?:^[ \t]*(?:-[ \t]+)?|:[ \t]+|\s)(\{\{[^}]*(?:\}\})?)/;

/** A template whose error is at an action. Others, such as an action inside of a text, are no error. */
function template(lines: readonly string[], findings: readonly Position[]): ExplainedError | undefined {
  const [line] = findings.map((one) => one.line).filter((one) => ACTION.test(lines[one - 1] ?? ''));
  return line === undefined ? undefined : templateAt(lines, line);
}

/** What to say of an action in this line. */
function templateAt(lines: readonly string[], line: number): ExplainedError {
  const text = lines[line - 1] ?? '';
  const [, action = '{{ … }}'] = ACTION.exec(text) ?? [];
  return {
    code: 'yaml.template',
    ...{ line, column: Math.max(text.indexOf(action), 0) + 1 },
    message: `got ${action}, which is an action of a template that was not rendered`,
    hint: 'commit the rendered file, for example of helm template; text that contains {{ belongs in quotes',
  };
}

/** The first action of a document that parsers take for a mapping. */
export function unrenderedTemplate(documentText: string): ExplainedError | undefined {
  const lines = documentText.split(/\r?\n/);
  const line = lines.findIndex((text) => ACTION.test(text));
  return line < 0 ? undefined : templateAt(lines, line + 1);
}

const KEY_WITH_VALUE = /^\s*(?:- +)*[^\s#'"][^:#]*:[ ]+[^\s|>#]/;

const EXPLANATIONS: Readonly<Record<string, (place: Place) => Explanation>> = {
  TAB_AS_INDENT: () => ({
    message: 'got a tab in the indentation, expected spaces',
    hint: 'indent with spaces: YAML forbids tabs there',
  }),
  BLOCK_AS_IMPLICIT_KEY: (place) => deeperLine(place) ?? colonInText(place),
  BAD_INDENT: (place) => unclosed(place) ?? deeperThanAbove(place) ?? strayIndent(place),
  DUPLICATE_KEY: ({ text, column, message }) => {
    const key = /^[^\s:]+/.exec(text.slice(column - 1))?.[0];
    return {
      message: key === undefined ? message : `got the key ${key} a second time`,
      hint: 'remove one of the two: tools disagree on which one counts',
    };
  },
  MULTILINE_IMPLICIT_KEY: keyWithoutColon,
  MISSING_CHAR: (place) => {
    const open = unclosed(place);
    if (open !== undefined && place.message.startsWith('Missing closing')) return open;
    if (/^\s*(?:- +)?[^\s:]+$/.test(place.text)) return keyWithoutColon(place);
    const isInList = unclosedSign([...place.lines.slice(0, place.line - 1), before(place)]) !== undefined;
    return isInList
      ? { message: 'got two entries without a comma between them', hint: 'put a comma before this entry' }
      : (open ?? { message: place.message });
  },
  UNEXPECTED_TOKEN: (place) => listOnLine(place) ?? textAfterQuote(place),
  BAD_SCALAR_START: ({ text, column }) => ({
    message: `got ${text.charAt(column - 1)} at the start of a text without quotes`,
    hint: 'put text that begins with @, ` or % in quotes',
  }),
  BAD_DQ_ESCAPE: ({ message }) => ({
    message,
    hint: 'inside double quotes write a backslash as \\\\, or put the text in single quotes',
  }),
  // What only the first parser finds, such as an alias without its anchor.
  UNLOCATED: ({ text, message }) => {
    const [lead, alias] = /^.*?[:-]\s+(?=(\*\S+))/.exec(text) ?? [];
    if (lead === undefined || alias === undefined) return { message };
    return {
      column: lead.length + 1,
      message: `got ${alias}, which repeats what &${alias.slice(1)} names, and nothing has this name`,
      hint: 'put text that begins with * in quotes',
    };
  },
};

/** The part of its line that is before the error. */
function before({ text, column }: Place): string {
  return text.slice(0, column - 1);
}

/** The next line is indented deeper than a line that has a value: no text contains a colon. */
function deeperLine({ line, text, column, lines }: Place): Explanation | undefined {
  if (/:[ ]|^- /.test(text.slice(column - 1))) return undefined;
  const next = lines.findIndex((other, at) => at >= line && CONTENT.test(other));
  return deeperThan(text, lines, next);
}

function deeperThanAbove({ line, lines }: Place): Explanation | undefined {
  const above = lines.slice(0, line - 1).findLast((other) => CONTENT.test(other));
  return above === undefined ? undefined : deeperThan(above, lines, line - 1);
}

const CONTENT = /^\s*[^\s#]/;

/** @param at index of the lower line */
function deeperThan(above: string, lines: readonly string[], at: number): Explanation | undefined {
  const got = indentOf(lines[at] ?? '');
  const expected = /^\s*(?:- +)*/.exec(above)?.[0].length ?? 0;
  if (!KEY_WITH_VALUE.test(above) || got <= expected) return undefined;
  return {
    ...{ line: at + 1, column: got + 1 },
    message: `is indented deeper than the line above it, which has a value already: got ${spaces(got)}`,
    hint: `indent it like the line above, with ${spaces(expected)}`,
  };
}

function colonInText(place: Place): Explanation {
  return (
    listOnLine(place) ?? {
      message: 'got ": " inside of a text',
      hint: 'put text that contains ": " in quotes',
    }
  );
}

function listOnLine({ text, column }: Place): Explanation | undefined {
  if (!text.slice(column - 1).startsWith('- ')) return undefined;
  return { message: 'got a list on the line of its key', hint: 'put the list on the lines below the key' };
}

const CLOSING = { '"': '"', "'": "'", '{': '}', '[': ']' } as const;

function unclosed({ lines, line, ...place }: Place): Explanation | undefined {
  const open = unclosedSign([...lines.slice(0, line - 1), before({ lines, line, ...place })]);
  if (open === undefined) return undefined;
  const what = open.sign === '{' || open.sign === '[' ? 'bracket' : 'quote';
  return {
    ...{ line: open.line, column: open.column },
    message: `opens a ${what} ${open.sign} that is not closed`,
    hint: `close it with ${CLOSING[open.sign]}`,
  };
}

/** The indentations that a line may have: those of the lines that it is below. */
function strayIndent({ lines, line, text }: Place): Explanation {
  const indents: number[] = [];
  for (const above of lines.slice(0, line - 1).toReversed())
    if (CONTENT.test(above) && !above.startsWith('---') && indentOf(above) < (indents[0] ?? Infinity))
      indents.unshift(indentOf(above));
  const expected = indents.join(' or ') || '0';
  return {
    message: `is indented like no line above it: got ${spaces(indentOf(text))}, expected ${expected}`,
    hint: 'align the line with its neighbours, and indent what belongs to a key deeper than the key',
    ...{ line, column: indentOf(text) + 1 },
  };
}

function textAfterQuote({ text, message }: Place): Explanation {
  const [, sign] = /[:-]\s+(?=(['"]))(?:'[^']*'|"[^"]*")[^\s,}\]]/.exec(text) ?? [];
  if (sign === undefined) return { message };
  return {
    message: 'got text after the closing quote',
    hint:
      sign === "'"
        ? "inside single quotes write a quote as two (''), or put the text in double quotes"
        : 'inside double quotes write a quote as \\", or put the text in single quotes',
  };
}

function spaces(count: number): string {
  return count === 1 ? '1 space' : `${count} spaces`;
}

function keyWithoutColon({ text }: Place): Explanation {
  const [, key, value] = /^\s*(?:- +)*([\w./-]+):(\S.*)$/.exec(text) ?? [];
  return key === undefined || value === undefined
    ? { message: 'got a line without a key', hint: 'write a key, a colon and a space before the value' }
    : { message: 'got no space after the colon', hint: `write "${key}: ${value}"` };
}

/** A quote or bracket that is opened and not closed. */
interface UnclosedSign extends Position {
  readonly sign: '"' | "'" | '{' | '[';
}

/** What may open a quote or a bracket stands at the start of a value; elsewhere it is a part of a text. */
const TOKEN = /(?<=^|[\s,[{:])(?:#.*|["'[{])|[\]},]/g;
const BLOCK_SCALAR = /(?:^|\s)[|>][-+\d]*\s*(?:#.*)?$/;
const CLOSING_SIGN: Readonly<Record<string, RegExp>> = { '"': /(?<!\\)(?:\\\\)*"/g, "'": /'(?!')/g };

/**
 * The innermost quote or bracket that is open at a place, found without a parser, because the text cannot be parsed.
 * @param lines of the document, up to the place
 */
function unclosedSign(lines: readonly string[]): UnclosedSign | undefined {
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
  const closing = new RegExp(CLOSING_SIGN[sign] as RegExp);
  // Two single quotes inside of single quotes are one quote of the text.
  const rest = sign === "'" ? text.slice(from).replaceAll("''", '  ') : text.slice(from);
  const found = closing.exec(rest);
  return found === null ? undefined : from + found.index + found[0].length;
}

function indentOf(line: string): number {
  return /^[ ]*/.exec(line)?.[0].length ?? 0;
}
