import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { z } from 'zod';
import { DEFAULT_YAML_BUDGET } from '../../adapters/yaml/budget.ts';
import { makeFieldLocator } from '../../adapters/yaml/locate-fields.ts';
import { loadDocument } from '../../adapters/yaml/load-document.ts';
import { splitDocuments } from '../../adapters/yaml/split-documents.ts';
import { syntaxProblems } from '../../adapters/yaml/syntax-problems.ts';
import { InputError, errorText } from '../../core/errors.ts';
import { formatFieldPath } from '../../core/model/field-path.ts';
import type { FieldPath } from '../../core/model/field-path.ts';
import { settingsSchema } from './source-settings.ts';
import type { SourceSettings } from './source-settings.ts';

/**
 * Reads the settings file; files that it names are made absolute, relative to its own folder. InputError with line and column for the
 * first thing that is wrong, naming how many more there are.
 */
export async function readSettings(file: string): Promise<readonly SourceSettings[]> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new InputError(`cannot be read: ${errorText(cause)}`, {
      code: 'settings.file',
      subject: file,
      cause,
    });
  });
  const [document, second] = splitDocuments(text);
  if (document === undefined || second !== undefined)
    throw wrong(
      file,
      `got ${second === undefined ? 'an empty file' : 'several documents'}, expected one mapping`,
    );
  const loaded = loadDocument(document.text, DEFAULT_YAML_BUDGET);
  if (!loaded.ok) {
    const [problem] = syntaxProblems(document, loaded, { file });
    throw wrong(file, problem?.message ?? 'is no YAML', problem?.location);
  }
  const parsed = settingsSchema.safeParse(loaded.value, { reportInput: true });
  if (!parsed.success) throw located(file, text, parsed.error.issues);
  const names = new Map<string, number>();
  parsed.data.sources.forEach(({ name }, index) => {
    if (names.has(name))
      throw located(file, text, [
        { path: ['sources', index, 'name'], message: `got a second source named ${name}` },
      ]);
    names.set(name, index);
  });
  return parsed.data.sources.map((source) => withAbsoluteFiles(source, path.dirname(path.resolve(file))));
}

type Issue = Pick<z.core.$ZodIssue, 'path' | 'message'> & {
  readonly code?: z.core.$ZodIssue['code'];
  readonly errors?: readonly (readonly Issue[])[];
  readonly expected?: string;
  readonly input?: unknown;
};

function located(file: string, text: string, issues: readonly Issue[]): InputError {
  const found = issues.map((issue) => closest(issue));
  // A key that is not known explains why another is missing, not the other way round.
  const first = found.find(({ code }) => code === 'unrecognized_keys') ?? found[0];
  const where = (first?.path ?? []) as FieldPath;
  const at = makeFieldLocator(text)({ document: 0, within: [] }, where);
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : '';
  const field = where.length === 0 ? '' : `${formatFieldPath(where)}: `;
  return wrong(
    file,
    `${field}${first === undefined ? 'is not what was expected' : problemOf(first)}${more}`,
    at,
  );
}

/** Of alternatives the one that came furthest says what was meant. */
function closest(issue: Issue): Issue {
  const branches = (issue.errors ?? [])
    .map((branch) => branch.map(closest))
    .filter((branch) => branch.length > 0);
  const [nearest] = branches.toSorted((a, b) => score(a) - score(b));
  const [inner] = nearest ?? [];
  return inner === undefined ? issue : { ...inner, path: [...issue.path, ...inner.path] };
}

/** Fewer, and deeper, complaints are nearer. */
function score(branch: readonly Issue[]): number {
  return branch.length - Math.max(...branch.map(({ path: place }) => place.length)) / 10;
}

function wrong(
  file: string,
  problem: string,
  at?: { readonly line: number; readonly column: number },
): InputError {
  return new InputError(problem, {
    code: 'settings.file',
    subject: 'Settings',
    location: { file, line: at?.line ?? 1, column: at?.column ?? 1 },
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

/** Fields that end in `File`, at any depth. */
function withAbsoluteFiles<T>(value: T, folder: string): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => withAbsoluteFiles(item, folder)) as T;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, unknown]) => [
      key,
      key.endsWith('File') && typeof item === 'string'
        ? path.resolve(folder, item)
        : withAbsoluteFiles(item, folder),
    ]),
  ) as T;
}
