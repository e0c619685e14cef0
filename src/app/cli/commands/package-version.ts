import { readFile } from 'node:fs/promises';
import { packageRoot } from '../../../runtime/package-root.ts';

/** `dist/build.json`, as seen from the built module. It does not exist when Berth runs from its sources. */
const BUILD = new URL('../../../../build.json', import.meta.url);

/** The version of this package; `unknown` if package.json is missing. */
export async function packageVersion(): Promise<string> {
  return (await readJson<{ version: string }>(new URL('package.json', packageRoot())))?.version ?? 'unknown';
}

/**
 * Id of the commit that was built, with `-dirty` if files differed from it. `unknown` if it was built without a clone, or runs from its
 * sources.
 */
export async function builtCommit(): Promise<string> {
  return (await readJson<{ commit: string }>(BUILD))?.commit ?? 'unknown';
}

async function readJson<T>(file: URL): Promise<T | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as T);
}
