import { isUtf8 } from 'node:buffer';
import yaml from 'js-yaml';
import { DocumentLocator, type Position } from '../../../adapters/yaml/document-locator.ts';
import { errorText } from '@berth/runtime/errors';

/** The files and folders that a kustomization, or the configuration of one of its generators or transformers, refers to. */
export interface KustomizationText {
  /** Entries that refer to files or folders to build from. */
  readonly references: readonly string[];
  /** Those of the references that configure generators, transformers or validators. */
  readonly configurations: readonly string[];
  /** Words of a text that cannot be parsed, or of unknown fields; its bases are among them. */
  readonly words: readonly string[];
  /** An address that kustomize would fetch; undefined if there is none. */
  readonly remote: string | undefined;
  /** Why the text cannot be read; undefined if it can. */
  readonly unreadable: Unreadable | undefined;
}

interface Unreadable {
  readonly why: string;
  /** Where in the file, from 1. */
  readonly line: number;
  readonly column: number;
}

/** Fields of a kustomization that refer to configurations to build from. */
const CONFIGURATION_FIELDS = ['generators', 'transformers', 'validators'];
const BUILDING_FIELDS = ['resources', 'bases', 'components', 'crds', 'configurations'];
/** Fields that name no bases. Other fields are misspelt, or newer than this list. */
const OTHER_FIELDS: ReadonlySet<string> = new Set([
  'apiversion',
  'buildmetadata',
  'commonannotations',
  'commonlabels',
  'configmapgenerator',
  'generatoroptions',
  'helmchartinflationgenerator',
  'helmcharts',
  'helmglobals',
  'images',
  'imagetags',
  'inventory',
  'kind',
  'labels',
  'metadata',
  'nameprefix',
  'namespace',
  'namesuffix',
  'openapi',
  'patches',
  'patchesjson6902',
  'patchesstrategicmerge',
  'replacements',
  'replicas',
  'secretgenerator',
  'sortoptions',
  'vars',
]);
/**
 * Fields whose values kustomize does not open, so that they may contain URLs. kustomize rejects
 * charts anyway.
 */
const TEXT_FIELDS = new Set([
  'annotations',
  'commonannotations',
  'commonlabels',
  'helmchartinflationgenerator',
  'helmcharts',
  'labels',
  'literals',
  'metadata',
  'patch',
]);
/** kustomize fetches a resource that starts like this; a `key=` prefix renames the file. */
const REMOTE = /^(?:[^=]*=)?\s*https?:/i;
/**
 * These are line breaks in YAML 1.1, which kustomize reads, but not for other readers. After one of them a comment ends
 * and a field may start.
 */
const OLD_LINE_BREAK = /[\u0085\u2028\u2029]/;
/** Kustomizations that people write are at most a tenth of this size. */
const MAX_CHARS = 1024 ** 2;

/**
 * Parses one file of a kustomization as kustomize would, as far as Berth needs it. Everything that kustomize might
 * interpret differently (duplicate keys, several documents, merge keys, other tags, other line breaks) makes the file
 * unreadable, so that nothing can be hidden in it.
 */
export function parseKustomization(content: Buffer | undefined): KustomizationText {
  const nothing = { references: [], configurations: [], words: [], remote: undefined, unreadable: undefined };
  const parsed = load(content, (text) => [yaml.load(text, { schema: yaml.CORE_SCHEMA })]);
  if ('unreadable' in parsed) return { ...nothing, ...parsed, words: wordsOf(content?.toString('utf8')) };
  const [fields] = parsed.documents;
  if (typeof fields !== 'object' || fields === null) return { ...nothing, words: wordsIn([fields]) };
  const listed = (names: readonly string[]): string[] =>
    Object.entries(fields as Readonly<Record<string, unknown>>)
      .filter(([name]) => names.includes(folded(name)))
      .flatMap(([, list]) => (Array.isArray(list) ? (list as unknown[]) : []))
      .filter((entry): entry is string => typeof entry === 'string');
  const configurations = listed(CONFIGURATION_FIELDS);
  const inPlace = configurations.filter((entry) => entry.includes('\n'));
  const inFiles = configurations.filter((entry) => !entry.includes('\n'));
  const found = [
    scan([fields]),
    ...inPlace.map((text) => withoutPlace(scanConfiguration(Buffer.from(text)))),
  ];
  return {
    ...nothing,
    references: [...listed(BUILDING_FIELDS), ...inFiles],
    configurations: inFiles,
    words: wordsIn(oddValues(fields)),
    remote: found.find(({ remote }) => remote !== undefined)?.remote,
    unreadable: found.find(({ unreadable }) => unreadable !== undefined)?.unreadable,
  };
}

/** Parses a file that configures a generator, transformer or validator. */
export function scanConfiguration(
  content: Buffer | undefined,
): Pick<KustomizationText, 'remote' | 'unreadable'> {
  const parsed = load(content, (text) => yaml.loadAll(text, undefined, { schema: yaml.CORE_SCHEMA }));
  return 'unreadable' in parsed ? { remote: undefined, ...parsed } : scan(parsed.documents);
}

/** The lines of a configuration are not those of the kustomization, at which its problems are reported. */
export function withoutPlace(
  found: Pick<KustomizationText, 'remote' | 'unreadable'>,
): Pick<KustomizationText, 'remote' | 'unreadable'> {
  return found.unreadable === undefined ? found : { ...found, ...unreadable(found.unreadable.why) };
}

/** Case folding as in Go's encoding/json, where the long s equals s. */
function folded(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** Words of unknown fields, and of base fields that are not lists of strings. */
function oddValues(fields: object): readonly unknown[] {
  const isList = (value: unknown): boolean =>
    value === null || (Array.isArray(value) && value.every((entry) => typeof entry === 'string'));
  const isTaken = (name: string, value: unknown): boolean =>
    [...BUILDING_FIELDS, ...CONFIGURATION_FIELDS].includes(name) ? isList(value) : OTHER_FIELDS.has(name);
  return Object.entries(fields).flatMap(([name, value]: [string, unknown]) =>
    isTaken(folded(name), value) ? [] : [value],
  );
}

function wordsIn(values: readonly unknown[]): string[] {
  const texts: string[] = [];
  const seen = new Set<unknown>();
  const open = [...values];
  while (open.length > 0) {
    const value = open.pop();
    if (seen.has(value)) continue;
    seen.add(value);
    if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) open.push(inner);
    else texts.push(String(value));
  }
  return wordsOf(texts.join('\n'));
}

function wordsOf(text = ''): string[] {
  return [...new Set(text.split(/[\s"',[\]{}]+/))].filter((word) => word !== '');
}

function load(
  content: Buffer | undefined,
  parse: (text: string) => readonly unknown[],
): { readonly documents: readonly unknown[] } | { readonly unreadable: Unreadable } {
  if (content === undefined) return { documents: [] };
  if (!isUtf8(content)) return unreadable('got bytes that are not UTF-8');
  const text = content.toString('utf8');
  if (text.length > MAX_CHARS) return unreadable(`got more than ${MAX_CHARS} characters`);
  if (OLD_LINE_BREAK.test(text))
    return unreadable('got a line break of YAML 1.1 (U+0085, U+2028 or U+2029), expected plain ones');
  try {
    return { documents: parse(text) };
  } catch (error) {
    if (!(error instanceof yaml.YAMLException)) return unreadable(errorText(error));
    const [found] = new DocumentLocator(text).errors();
    const mark = error.mark as yaml.Mark | undefined;
    return unreadable(error.reason, found ?? { line: (mark?.line ?? 0) + 1, column: 1 });
  }
}

function unreadable(
  why: string,
  { line, column }: Position = { line: 1, column: 1 },
): { readonly unreadable: Unreadable } {
  return { unreadable: { why, line, column } };
}

/** Visits each value once, even if aliases repeat it. */
function scan(values: readonly unknown[]): Pick<KustomizationText, 'remote' | 'unreadable'> {
  const seen = new Set<unknown>();
  const open = [...values];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value === 'string' && REMOTE.test(value)) return { remote: value, unreadable: undefined };
    if (typeof value !== 'object' || value === null || seen.has(value)) continue;
    seen.add(value);
    for (const [name, inner] of Object.entries(value)) {
      if (name === '<<')
        return { remote: undefined, ...unreadable('got a merge key (<<), expected plain fields') };
      if (!TEXT_FIELDS.has(name.toLowerCase())) open.push(inner);
    }
  }
  return { remote: undefined, unreadable: undefined };
}
