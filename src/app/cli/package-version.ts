import { readFile } from 'node:fs/promises';

/** The package.json next to the sources when run from source, above `dist` when built. */
export async function packageVersion(): Promise<string> {
  for (const up of ['../../../package.json', '../../../../package.json']) {
    const text = await readFile(new URL(up, import.meta.url), 'utf8').catch(() => undefined);
    if (text !== undefined) return (JSON.parse(text) as { version: string }).version;
  }
  return 'unknown';
}
