import type { Problem } from '@berth/runtime/problem/problem';
import type { LoadedDocument } from './load-document.ts';
import { DocumentLocator, type SyntaxFinding } from './document-locator.ts';
import { explainSyntax, unrenderedTemplate } from './explain-syntax.ts';
import type { DocumentText } from './split-documents.ts';

export interface FileVersion {
  readonly file: string;
  readonly commit?: string | undefined;
}

interface FoundError {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string | undefined;
}

type Failure = Extract<LoadedDocument, { ok: false }>;

/** Characters. A longer text is not parsed a second time to locate all errors: that is slow, and one error is enough. */
const MAX_LOCATED_LENGTH = 256 * 1024;

/** Only the first errors are reported, since later ones are mostly consequences of them. */
const MAX_SYNTAX_ERRORS = 3;

/** All errors of a document that could not be parsed, each at its own position if it can be found. */
export function syntaxProblems(document: DocumentText, failure: Failure, at: FileVersion): Problem[] {
  const toProblem = (code: string, finding: FoundError): Problem =>
    problemIn(document, { ...finding, code }, at);
  if (failure.kind === 'key') {
    const { code, ...error } = unrenderedTemplate(document.text) ?? { ...failure, code: 'yaml.syntax' };
    return [toProblem(code, error)];
  }
  if (failure.kind !== 'syntax') return [toProblem(`yaml.${failure.kind}`, failure)];
  const json = jsonProblem(document, at);
  if (json !== undefined) return [json];
  const located = document.text.length <= MAX_LOCATED_LENGTH ? locateErrors(document.text) : [];
  const findings = located.length > 0 ? located : [{ ...failure, code: 'UNLOCATED' }];
  const errors = explainSyntax(document.text, findings);
  const duplicates = errors.filter(({ code }) => code === 'yaml.duplicate-key');
  const broken = errors.filter(({ code }) => code !== 'yaml.duplicate-key');
  const [firstLeftOut] = broken.slice(MAX_SYNTAX_ERRORS);
  return [
    ...[...duplicates, ...broken.slice(0, MAX_SYNTAX_ERRORS)].map((error) => toProblem(error.code, error)),
    ...(firstLeftOut === undefined
      ? []
      : [
          toProblem('yaml.syntax', {
            line: firstLeftOut.line,
            column: firstLeftOut.column,
            message: `from here on ${broken.length - MAX_SYNTAX_ERRORS} more, most likely consequences of the errors above`,
          }),
        ]),
  ];
}

/** Why a document that is written like JSON is none; undefined for JSON and for YAML. */
export function jsonProblem(document: DocumentText, at: FileVersion): Problem | undefined {
  const error = looksLikeJson(document.text) ? jsonError(document.text) : undefined;
  return error && problemIn(document, { ...error, code: 'yaml.json' }, at);
}

/** @param error with a line of the document */
function problemIn(
  { startLine }: DocumentText,
  { code, message, hint, line, column }: FoundError & { readonly code: string },
  at: FileVersion,
): Problem {
  return {
    ...{ severity: 'error', code, message },
    ...(hint === undefined ? {} : { hint }),
    location: { ...at, line: startLine + line - 1, column },
  };
}

function locateErrors(text: string): SyntaxFinding[] {
  try {
    return new DocumentLocator(text).errors();
  } catch (error) {
    // Deep nesting exhausts the stack of the second parser. The first one has already reported where it stopped.
    if (error instanceof RangeError) return [];
    throw error;
  }
}

/** A text in the style of JSON, as opposed to a flow mapping of YAML. */
function looksLikeJson(text: string): boolean {
  return /^\s*\{\s*(?:["'}]|\/[/*]|#)/.test(text);
}

/** The first place at which a text is not JSON (RFC 8259), as kubectl reads it; undefined if it is JSON. */
function jsonError(text: string): FoundError | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    // The message of the engine does not always say where.
  }
  const { at, expected } = firstMismatch(text);
  const lines = text.slice(0, at).split('\n');
  const place = { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
  return { ...place, ...wordsFor(text, at, expected) };
}

const SPACE = /[ \t\r\n]*/y;
const SCALAR =
  /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)\b/y;

type Expected = 'value' | 'key' | 'key or }' | 'value or ]' | ':' | ', or }' | ', or ]' | 'the end';

/** Reads token by token. `open`: the brackets around the token. */
function firstMismatch(text: string): { readonly at: number; readonly expected: Expected } {
  const open: ('{' | '[')[] = [];
  const afterValue = (): Expected =>
    open.length === 0 ? 'the end' : open.at(-1) === '{' ? ', or }' : ', or ]';
  let expected: Expected = 'value';
  for (let at = endOf(SPACE, text, 0) ?? 0; at < text.length; at = endOf(SPACE, text, at) ?? at) {
    const sign = text.charAt(at);
    const next: { readonly end: number; readonly expected: Expected } | undefined = step(sign, at);
    if (next === undefined) return { at, expected };
    ({ end: at, expected } = next);
  }
  return { at: text.length, expected };

  function step(sign: string, at: number): { end: number; expected: Expected } | undefined {
    const end = at + 1;
    if (expected === ':') return sign === ':' ? { end, expected: 'value' } : undefined;
    const isClosing = (sign === '}' || sign === ']') && expected.endsWith(` ${sign}`);
    if (isClosing) {
      open.pop();
      return { end, expected: afterValue() };
    }
    if (expected.startsWith(',')) {
      if (sign !== ',') return undefined;
      return { end, expected: open.at(-1) === '{' ? 'key' : 'value' };
    }
    // kubectl reads several values, one after the other.
    if (expected === 'the end' && sign !== '{') return undefined;
    if (/^value|^the end/.test(expected) && (sign === '{' || sign === '[')) {
      open.push(sign);
      return { end, expected: sign === '{' ? 'key or }' : 'value or ]' };
    }
    const isKey = expected.startsWith('key');
    const scalarEnd = isKey && sign !== '"' ? undefined : endOf(SCALAR, text, at);
    return scalarEnd === undefined ? undefined : { end: scalarEnd, expected: isKey ? ':' : afterValue() };
  }
}

function endOf(pattern: RegExp, text: string, from: number): number | undefined {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

const WORDS: Readonly<Record<Expected, string>> = {
  value: 'a value',
  key: 'a key in double quotes',
  'key or }': 'a key in double quotes, or }',
  'value or ]': 'a value, or ]',
  ':': 'a colon',
  ', or }': 'a comma, or }',
  ', or ]': 'a comma, or ]',
  'the end': 'the end of the text',
};

function wordsFor(text: string, at: number, expected: Expected): Pick<FoundError, 'message' | 'hint'> {
  const rest = text.slice(at);
  const got = rest === '' ? 'the end of the text' : JSON.stringify([...rest][0]);
  return { message: `is no JSON: got ${got}, expected ${WORDS[expected]}`, hint: hintFor(rest, expected) };
}

function hintFor(rest: string, expected: Expected): string | undefined {
  if (/^(?:\/[/*]|#)/.test(rest))
    return 'remove the comment: JSON has none. A file named .yaml may have them after #';
  if (/^[}\]]/.test(rest) && (expected === 'key' || expected === 'value'))
    return 'remove the comma before it: JSON has none after the last entry';
  if (rest.startsWith("'")) return 'put text in double quotes: JSON has no single quotes';
  if (/^[A-Za-z_]/.test(rest) && expected.startsWith('key')) return 'put the key in double quotes';
  if (rest.startsWith('"') && expected.startsWith(',')) return 'put a comma before this entry';
  return rest === '' ? 'close what is open: a bracket or a quote' : undefined;
}
