import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ObjectKey } from '@berth/kube/model/kube-api';
import { errorText, InputError } from '@berth/runtime/errors';
import { closestName } from '@berth/runtime/text/closest-name';
import { configProblem, parseConfig } from '../../adapters/yaml/parse-config.ts';
import { type Settings, settingsSchema, type SourceSettings } from './source-settings.ts';

/**
 * Reads the settings file; paths in it are relative to its folder and made absolute. InputError
 * with line and column of the first problem, and the number of further ones.
 */
export async function readAllSettings(file: string): Promise<Settings> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new InputError(`cannot be read: ${errorText(cause)}`, {
      code: 'settings.file',
      subject: file,
      cause,
    });
  });
  const config = { file, text, subject: 'Settings', code: 'settings.file' };
  const { sources, ...rest } = parseConfig(config, settingsSchema);
  const names = new Map<string, number>();
  sources.forEach(({ name }, index) => {
    if (names.has(name))
      throw configProblem(config, ['sources', index, 'name'], `got a second source with the name ${name}`);
    names.set(name, index);
  });
  const folder = path.dirname(path.resolve(file));
  return { ...rest, sources: sources.map((source) => withAbsoluteFiles(source, folder)) };
}

/** The sources of the settings file. Errors are those of `readAllSettings`. */
export async function readSettings(file: string): Promise<readonly SourceSettings[]> {
  return (await readAllSettings(file)).sources;
}

/** Converts fields whose names end in `File`, at any depth. */
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

/** The Secrets on the hub with the credentials of the sources. */
export function secretsOf(sources: readonly SourceSettings[]): readonly ObjectKey[] {
  return sources
    .flatMap(({ credentials, commitStatus, preview }) => [
      credentials,
      commitStatus?.credentials,
      preview?.credentials,
    ])
    .flatMap((settings) => (settings !== undefined && 'secretRef' in settings ? [settings.secretRef] : []));
}

/**
 * The named sources of a settings file, in its order. Without names, those of `unnamed`: all sources, or the only one.
 * @throws InputError for an unknown name, and if one must be chosen
 */
export function selectSources(
  all: readonly SourceSettings[],
  names: readonly string[],
  unnamed: 'all' | 'only',
): readonly SourceSettings[] {
  if (names.length > 0) return chosenNames(all, names);
  if (unnamed === 'only' && all.length > 1)
    throw refused(
      `got none, expected the source that the files belong to: ${all.map(({ name }) => name).join(' or ')}`,
      'it may be repeated if several sources use one repository',
    );
  return all;
}

/**
 * The sources with these names, in their own order.
 * @throws InputError for an unknown name
 */
export function chosenNames<T extends { readonly name: string }>(
  all: readonly T[],
  names: readonly string[],
): readonly T[] {
  const known = all.map(({ name }) => name);
  const wrong = names.find((name) => !known.includes(name));
  if (wrong === undefined) return all.filter(({ name }) => names.includes(name));
  const near = closestName(wrong, known);
  throw refused(
    `got ${JSON.stringify(wrong)}, expected ${known.join(' or ')}`,
    near && `did you mean ${near}?`,
  );
}

function refused(problem: string, hint: string | undefined): InputError {
  return new InputError(problem, { code: 'cli.option', subject: '--source', hint });
}
