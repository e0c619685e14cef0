import type { z } from 'zod';
import { InputError } from '@berth/runtime/errors';
import { type FieldPath, formatFieldPath } from '@berth/kube/model/field-path';
import { makeFieldLocator } from './locate-fields.ts';
import { DEFAULT_YAML_BUDGET, loadDocument } from './load-document.ts';
import { splitDocuments } from './split-documents.ts';
import { syntaxProblems } from './syntax-problems.ts';

/** A configuration file, and how its problems are located. */
export interface ConfigFile {
  readonly file: string;
  readonly text: string;
  readonly subject: string;
  readonly code: string;
  /** Full commit id, if the file is from Git. */
  readonly commit?: string | undefined;
}

/**
 * Parses one YAML or JSON document with a schema.
 * @throws InputError with line and column of the first problem, and the number of further ones
 */
export function parseConfig<S extends z.ZodType>(config: ConfigFile, schema: S): z.infer<S> {
  const { file, text } = config;
  const [document, second] = splitDocuments(text);
  if (document === undefined || second !== undefined)
    throw wrong(
      config,
      `got ${second === undefined ? 'an empty file' : 'several documents'}, expected one mapping`,
    );
  const loaded = loadDocument(document.text, DEFAULT_YAML_BUDGET);
  if (!loaded.ok) {
    const [problem] = syntaxProblems(document, loaded, { file });
    throw wrong(config, problem?.message ?? 'is not YAML', problem?.location);
  }
  const parsed = schema.safeParse(loaded.value, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw locatedError(config, parsed.error.issues);
}

/** The error for a problem that a schema cannot detect, e.g. a duplicate name. */
export function configProblem(config: ConfigFile, path: FieldPath, message: string): InputError {
  return locatedError(config, [{ path: [...path], message }]);
}

type Issue = Pick<z.core.$ZodIssue, 'path' | 'message'> & {
  readonly code?: z.core.$ZodIssue['code'];
  readonly errors?: readonly (readonly Issue[])[];
  readonly expected?: string;
  readonly input?: unknown;
};

function locatedError(config: ConfigFile, issues: readonly Issue[]): InputError {
  const found = issues.map((issue) => closestIssue(issue));
  // An unknown key is reported before a missing one, since it is probably its misspelling.
  const first = found.find(({ code }) => code === 'unrecognized_keys') ?? found[0];
  const where = (first?.path ?? []) as FieldPath;
  const at = makeFieldLocator(config.text)({ document: 0, within: [] }, where);
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : '';
  const field = where.length === 0 ? '' : `${formatFieldPath(where)}: `;
  return wrong(
    config,
    `${field}${first === undefined ? 'is not what was expected' : problemOf(first)}${more}`,
    at,
  );
}

/** Of several alternatives, the one that matched furthest gives the message. */
function closestIssue(issue: Issue): Issue {
  const branches = (issue.errors ?? [])
    .map((branch) => branch.map(closestIssue))
    .filter((branch) => branch.length > 0);
  const [nearest] = branches.toSorted((a, b) => score(a) - score(b));
  const [inner] = nearest ?? [];
  return inner === undefined ? issue : { ...inner, path: [...issue.path, ...inner.path] };
}

/** Fewer and deeper errors mean a better match. */
function score(branch: readonly Issue[]): number {
  return branch.length - Math.max(...branch.map(({ path: place }) => place.length)) / 10;
}

function wrong(
  { file, subject, code, commit }: ConfigFile,
  problem: string,
  at?: { readonly line: number; readonly column: number },
): InputError {
  return new InputError(problem, {
    code,
    subject,
    location: {
      file,
      line: at?.line ?? 1,
      column: at?.column ?? 1,
      ...(commit === undefined ? {} : { commit }),
    },
  });
}

function problemOf({ code, expected, input, message }: Issue): string {
  if (code !== 'invalid_type') return lowerFirst(message);
  if (input === undefined) return `is missing, expected ${expected}`;
  const given = input === null ? 'nothing' : Array.isArray(input) ? 'a list' : typeof input;
  return `got ${given}, expected ${expected}`;
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
