import type { Problem } from '@berth/runtime/problem/problem';
import type { LoadedDocument } from './load-document.ts';
import { DocumentLocator } from './document-locator.ts';
import type { SyntaxFinding } from './document-locator.ts';
import type { DocumentText } from './split-documents.ts';

type Failure = Extract<LoadedDocument, { ok: false }>;

/** Characters. A longer text is not parsed a second time to locate all errors: that is slow, and one error is enough. */
const MAX_LOCATED_LENGTH = 256 * 1024;

/** Only the first errors are reported, since later ones are mostly consequences of them. */
const MAX_SYNTAX_ERRORS = 3;

const HINTS: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'indent with spaces, YAML forbids tabs there',
  BAD_INDENT: 'align the line with its neighbours, and indent what belongs to a key deeper than the key',
  DUPLICATE_KEY: 'remove one of the two: tools disagree on which one counts',
  BLOCK_AS_IMPLICIT_KEY: 'put text that contains ": " or starts a list in quotes',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line and be followed by ": "',
  MISSING_CHAR: 'a quote or bracket opened here, or above, is not closed',
};

/** All errors of a document that could not be parsed, each at its own position if it can be found. */
export function syntaxProblems(
  document: DocumentText,
  failure: Failure,
  at: { readonly file: string; readonly commit?: string | undefined },
): Problem[] {
  const toProblem = (
    code: string,
    finding: { line: number; column: number; message: string },
    hint?: string,
  ) => ({
    severity: 'error' as const,
    code,
    message: finding.message,
    ...(hint === undefined ? {} : { hint }),
    location: { ...at, line: document.startLine + finding.line - 1, column: finding.column },
  });
  if (failure.kind !== 'syntax') return [toProblem(`yaml.${failure.kind}`, failure)];
  const findings = document.text.length <= MAX_LOCATED_LENGTH ? locateErrors(document.text) : [];
  if (findings.length === 0) return [toProblem('yaml.syntax', failure)];
  const duplicates = findings.filter(({ code }) => code === 'DUPLICATE_KEY');
  const broken = findings.filter(({ code }) => code !== 'DUPLICATE_KEY');
  const [firstLeftOut] = broken.slice(MAX_SYNTAX_ERRORS);
  return [
    ...duplicates.map((finding) => toProblem('yaml.duplicate-key', finding, HINTS[finding.code])),
    ...broken
      .slice(0, MAX_SYNTAX_ERRORS)
      .map((finding) => toProblem('yaml.syntax', finding, HINTS[finding.code])),
    ...(firstLeftOut === undefined
      ? []
      : [
          toProblem('yaml.syntax', {
            ...firstLeftOut,
            message: `from here on ${broken.length - MAX_SYNTAX_ERRORS} more, most likely consequences of the errors above`,
          }),
        ]),
  ];
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
