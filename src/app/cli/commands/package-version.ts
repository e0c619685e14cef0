import { readFile } from 'node:fs/promises';
import { builtFrom, packageRoot } from '../../../adapters/program/package-root.ts';

/** The version of this package; `unknown` if package.json is missing. */
export async function packageVersion(): Promise<string> {
  const text = await readFile(new URL('package.json', packageRoot()), 'utf8').catch(() => undefined);
  return text === undefined ? 'unknown' : (JSON.parse(text) as { version: string }).version;
}

/** Id of the commit that was built; `unknown` without one, or if Berth runs from its sources. */
export function builtCommit(): string {
  return builtFrom()?.commit ?? 'unknown';
}
