import type { Problem } from '@berth/runtime/problem/problem';
import type { LoadedDocument } from './load-document.ts';
import { DocumentLocator } from './document-locator.ts';
import type { SyntaxFinding } from './document-locator.ts';
import { explainSyntax, unrenderedTemplate } from './explain-syntax.ts';
import type { DocumentText } from './split-documents.ts';
import { jsonError, looksLikeJson } from './strict-json.ts';

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
