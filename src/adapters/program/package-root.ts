import { existsSync, readFileSync } from 'node:fs';

/** What `npm run build` knows of itself: `dist/build.json`. */
export interface Build {
  /** Id of the commit that was built, with `-dirty` if files differed from it; `unknown` if it was built without a clone. */
  readonly commit: string;
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
