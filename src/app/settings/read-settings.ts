import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { configProblem, parseConfig } from '../../adapters/yaml/parse-config.ts';
import { InputError, errorText } from '@berth/runtime/errors';
import { settingsSchema } from './source-settings.ts';
import type { Settings, SourceSettings } from './source-settings.ts';

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
