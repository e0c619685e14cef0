import { readFileSync } from 'node:fs';
import picomatch from 'picomatch';
import { afterEach, expect, it, vi } from 'vitest';
import { sourceFiles, TESTS } from './source-files.ts';

interface Project {
  readonly test: {
    readonly name: string;
    readonly include: string[];
    readonly exclude?: string[];
    readonly retry?: number;
  };
}

afterEach(() => vi.unstubAllEnvs());

/** The projects of vitest.config.ts as they are with this environment. */
async function projects(env: Readonly<Record<string, string>> = {}): Promise<readonly Project[]> {
  for (const name of ['CI', 'BERTH_RETRY']) vi.stubEnv(name, env[name]);
  // With a query, because a module is evaluated once.
  const { href } = new URL(`../../vitest.config.ts?${new URLSearchParams(env).toString()}`, import.meta.url);
  const config = (await import(/* @vite-ignore */ href)) as {
    readonly default: { readonly test: { readonly projects: readonly Project[] } };
  };
  return config.default.test.projects;
}

it('each file of tests is in exactly one project', async () => {
  const files = sourceFiles(TESTS, '.test.ts');
  expect(files.length).toBeGreaterThan(500);
  const matchers = (await projects()).map(({ test: { name, include, exclude = [] } }) => {
    const isExcluded = picomatch(exclude);
    const isIncluded = picomatch(include);
    return { name, includes: (file: string) => isIncluded(file) && !isExcluded(file) };
  });
  const strays = files
    .map((file) => ({ file, in: matchers.filter(({ includes }) => includes(file)).map(({ name }) => name) }))
    .filter((one) => one.in.length !== 1);
  expect(strays).toEqual([]);
});

it('npm test runs all projects but those against real programs and clusters', async () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly scripts: { readonly test: string };
  };
  // With several filters Vitest runs what fits any of them.
  expect(scripts.test.match(/--project \S+/g)).toEqual(["--project '!interop*'"]);
  const names = (await projects()).map(({ test: { name } }) => name);
  expect(names.filter((name) => name.startsWith('interop'))).toEqual(['interop', 'interop-node']);
});

it.each([
  { name: 'on any machine', env: {}, most: 0 },
  { name: 'in CI', env: { CI: 'true' }, most: 0 },
  { name: 'in .ci/run', env: { CI: 'true', BERTH_RETRY: '1' }, most: 1 },
])('a test runs again $most times at most $name', async ({ env, most }) => {
  const retries = (await projects(env)).map(({ test }) => test.retry ?? 0);
  expect(Math.max(...retries)).toBe(most);
});
