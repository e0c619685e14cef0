import { existsSync, readFileSync } from 'node:fs';

/** What `npm run build` knows of itself: `dist/build.json`, which scripts/build.mjs writes. */
export interface Build {
  readonly version: string;
  /** The commit that was built, 12 digits; with `-dirty` if its files had changed. Undefined outside of a git checkout. */
  readonly commit?: string | undefined;
  /** Digest of the code that parses files. */
  readonly parser: string;
}

const SOURCES = import.meta.url.endsWith('.ts');
let build: Build | undefined;

/** The folder with package.json, dist and examples. */
export function packageRoot(): URL {
  let folder = new URL('./', import.meta.url);
  while (!existsSync(new URL('package.json', folder)) && folder.pathname !== '/')
    folder = new URL('../', folder);
  return folder;
}

/** Undefined if Berth runs from its sources. */
export function builtFrom(): Build | undefined {
  if (SOURCES) return undefined;
  return (build ??= JSON.parse(readFileSync(new URL('dist/build.json', packageRoot()), 'utf8')) as Build);
}

/**
 * A program of the build that runs in a process or thread of its own. scripts/build.mjs lists them.
 * @param name its source without the ending, such as `src/app/cli/main`
 * @returns undefined if Berth runs from its sources
 */
export function builtProgram(name: string): URL | undefined {
  return SOURCES ? undefined : new URL(`dist/${name}.js`, packageRoot());
}
