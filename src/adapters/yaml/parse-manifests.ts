import { isObject } from '@berth/runtime/json/json-value';
import { type FieldPath, formatFieldPath } from '@berth/kube/model/field-path';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, refOf } from '@berth/kube/model/object-ref';
import type { Problem } from '@berth/runtime/problem/problem';
import type { SourceLocation } from '@berth/runtime/problem/source-location';
import type { SourceObject } from '@berth/kube/model/source-object';
import { DocumentLocator } from './document-locator.ts';
import { DEFAULT_YAML_BUDGET, loadDocument, type YamlBudget } from './load-document.ts';
import { checkManifest, type ManifestFinding } from './manifest-check.ts';
import { type DocumentText, splitDocuments } from './split-documents.ts';
import type { ManifestPlace } from './locate-fields.ts';
import { type FileVersion, jsonProblem, syntaxProblems } from './syntax-problems.ts';

export interface ParsedManifest extends SourceObject {
  readonly place: ManifestPlace;
}

export interface ManifestFile {
  /** Path for messages. */
  readonly file: string;
  readonly text: string;
  readonly commit?: string | undefined;
  readonly budget?: YamlBudget;
}

export interface ParsedFile {
  /** Objects without errors, in the order of the file. */
  readonly manifests: readonly ParsedManifest[];
  readonly problems: readonly Problem[];
  /** Why kubectl refuses the content in a file named `.json`, although YAML may be written so. */
  readonly notJson?: readonly Problem[];
}

/** What a file has by its name: the content of one named `.json` is JSON, or is refused. */
export function asNamed(file: string, parsed: ParsedFile): ParsedFile {
  const { notJson, ...rest } = parsed;
  if (notJson === undefined || !file.endsWith('.json')) return rest;
  return { manifests: [], problems: notJson.map((one) => inFile(file, one)) };
}

function inFile(file: string, problem: Problem): Problem {
  const { location } = problem;
  return location === undefined ? problem : { ...problem, location: { ...location, file } };
}

interface Context {
  readonly at: FileVersion;
  readonly budget: YamlBudget;
  readonly manifests: ParsedManifest[];
  readonly problems: Problem[];
}

/**
 * Reads a YAML or JSON file of Kubernetes objects the way kubectl does. Each document, and each
 * entry of a List, is checked by itself; all problems are reported with line and column. It never
 * throws because of the text. See `asNamed` for what depends on the name of the file.
 */
export function parseManifests(input: ManifestFile): ParsedFile {
  const { file, text, commit, budget = DEFAULT_YAML_BUDGET } = input;
  const at = commit === undefined ? { file } : { file, commit };
  const context: Context = { at, budget, manifests: [], problems: [] };
  const refuse = (message: string): ParsedFile => ({
    manifests: [],
    problems: [{ severity: 'error', code: 'yaml.budget', message, location: { ...at, line: 1, column: 1 } }],
  });
  if (text.length > budget.fileBytes)
    return refuse(`file of ${text.length} characters, expected at most ${budget.fileBytes}`);
  const documents = splitDocuments(text);
  if (documents.length > budget.documents)
    return refuse(`file of ${documents.length} documents, expected at most ${budget.documents}`);
  for (const document of documents) readDocument(document, context);
  const { manifests, problems } = context;
  const notJson = manifests.length === 0 ? [] : documents.flatMap((one) => jsonProblem(one, at) ?? []);
  return notJson.length === 0 ? { manifests, problems } : { manifests, problems, notJson };
}

function readDocument(document: DocumentText, context: Context): void {
  const loaded = loadDocument(document.text, context.budget);
  if (!loaded.ok) {
    context.problems.push(...syntaxProblems(document, loaded, context.at));
    return;
  }
  if (loaded.value === null || loaded.value === undefined) return;
  readObject({ document, value: loaded.value, within: [] }, context);
}

interface Candidate {
  readonly document: DocumentText;
  readonly value: unknown;
  readonly within: FieldPath;
}

function readObject(candidate: Candidate, context: Context): void {
  const { value, document, within } = candidate;
  if (isList(value)) {
    value['items'].forEach((item, index) =>
      readObject({ document, value: item, within: [...within, 'items', index] }, context),
    );
    return;
  }
  const checked = checkManifest(value);
  if (checked.findings.length > 0) reportFindings(candidate, checked.findings, context);
  if (checked.object === undefined) return;
  const location = { ...context.at, ...positionOf(candidate) };
  context.manifests.push({
    object: checked.object,
    location,
    place: { document: document.index, within },
  });
}

/** `v1 List` and typed lists, which kubectl opens. */
function isList(value: unknown): value is { items: unknown[] } & Record<string, unknown> {
  return (
    isObject(value) &&
    typeof value['kind'] === 'string' &&
    value['kind'].endsWith('List') &&
    Array.isArray(value['items']) &&
    !(isObject(value['metadata']) && Object.hasOwn(value['metadata'], 'name'))
  );
}

/** The start of the object. The first line with content is found without a parser; entries of Lists need one. */
function positionOf({ document, within }: Candidate): { line: number; column: number } {
  if (within.length > 0) return shifted(document, new DocumentLocator(document.text).locate(within, 'value'));
  const content = /^(?:---[ \t]+)?(?![ \t]*(?:#|%|\r?$|---(?:\s|$)))[ \t]*(?=\S)/m.exec(document.text);
  if (content === null) return { line: document.startLine, column: 1 };
  const before = document.text.slice(0, content.index);
  return { line: document.startLine + before.split('\n').length - 1, column: content[0].length + 1 };
}

function shifted(
  document: DocumentText,
  at: { line: number; column: number },
): { line: number; column: number } {
  return { line: document.startLine + at.line - 1, column: at.column };
}

function reportFindings(candidate: Candidate, findings: readonly ManifestFinding[], context: Context): void {
  const { document, within, value } = candidate;
  const locator = new DocumentLocator(document.text);
  const name = objectName(value);
  for (const finding of findings) {
    const path = [...within, ...finding.path];
    const location: SourceLocation = {
      ...context.at,
      ...shifted(document, locator.locate(path, finding.at)),
    };
    const field = finding.path.length === 0 ? '' : `${formatFieldPath(finding.path)}: `;
    context.problems.push({
      severity: finding.severity,
      ...(finding.isObjectUsed && { isObjectUsed: true }),
      code: finding.code,
      message: `${field}${finding.message}`,
      ...(finding.hint === undefined ? {} : { hint: finding.hint }),
      location,
      ...(name === undefined ? {} : { object: name }),
    });
  }
}

/** `Placement team-a/web`, as far as the broken object contains it. */
function objectName(value: unknown): string | undefined {
  if (!isObject(value) || typeof value['kind'] !== 'string') return undefined;
  const metadata = value['metadata'];
  if (!isObject(metadata) || typeof metadata['name'] !== 'string') return value['kind'];
  const namespace = typeof metadata['namespace'] === 'string' ? metadata['namespace'] : undefined;
  const object = { ...value, metadata: { name: metadata['name'], namespace } } as unknown as KubeObject;
  return formatRef(refOf(object));
}
