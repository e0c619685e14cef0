import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SOURCES, sourceFiles, TESTS } from './source-files.ts';

/**
 * The folders of the sources: small, in no circle, and as CONTRIBUTING.md draws them. dependency-cruiser enforces the
 * order of the layers, but it does not see a circle of a folder and a folder in it.
 */
const MOST_FILES = 20;

const sources = [...sourceFiles(SOURCES, '.ts')].sort();
const folders = [...new Set(sources.flatMap((file) => ancestors(file)))].sort();

/** The folders that a file is in, from `src` down. */
function ancestors(file: string): readonly string[] {
  const parts = file.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

const known = new Set(sources);
const imports: readonly (readonly [string, string])[] = sources.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)]
    .map(([, target]) => normalize(`${dirname(file)}/${target ?? ''}`))
    .filter((target) => known.has(target))
    .map((target) => [file, target] as const),
);

/** What of `folder` a file is: `.` for its own files, else the name of the folder in it; undefined outside. */
function partOf(folder: string, file: string): string | undefined {
  if (!file.startsWith(`${folder}/`)) return undefined;
  const [first, ...rest] = file.slice(folder.length + 1).split('/');
  return rest.length === 0 ? '.' : first;
}

/** The parts of a folder that reach themselves by imports. */
function circlesIn(folder: string): readonly string[] {
  const uses = new Map<string, Set<string>>();
  for (const [file, target] of imports) {
    const [from, to] = [partOf(folder, file), partOf(folder, target)];
    if (from === undefined || to === undefined || from === to) continue;
    uses.set(from, (uses.get(from) ?? new Set()).add(to));
  }
  return [...uses.keys()].filter((start) => {
    const reached = new Set<string>();
    const open = [...(uses.get(start) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(...(uses.get(next) ?? []));
    }
    return reached.has(start);
  });
}

function foldersIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

describe('the folders of the sources', () => {
  it(`hold ${MOST_FILES} files at most`, () => {
    const sizes = folders.map((folder) => ({
      folder,
      files: sources.filter((file) => dirname(file) === folder).length,
    }));
    expect(sizes.filter(({ files }) => files > MOST_FILES)).toEqual([]);
  });

  it('are in no circle with their neighbours, their parents or their children', () => {
    expect(imports.length).toBeGreaterThan(sources.length);
    const circles = folders.map((folder) => ({ folder, circles: circlesIn(folder) }));
    expect(circles.filter(({ circles }) => circles.length > 0)).toEqual([]);
  });
});

/** Names of folders in the drawing, by the folder that they are in: `packages`, `src`, `src/core`. */
function drawing(): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync('CONTRIBUTING.md', 'utf8').split('```\npackages/')[1]?.split('```')[0] ?? '';
  const drawn = new Map<string, string[]>();
  let path = ['packages'];
  for (const line of text.split('\n').slice(1)) {
    const [, indent = '', names = ''] = /^( *)((?:[\w-]+\/ ?)+)/.exec(line) ?? [];
    const depth = indent.length / 2;
    const folder = path.slice(0, depth).join('/');
    const all = names.split('/').map((name) => name.trim());
    drawn.set(folder, [...(drawn.get(folder) ?? []), ...all.filter((name) => name !== '')]);
    path = [...path.slice(0, depth), all[0] ?? ''];
  }
  return drawn;
}

describe('the drawing in CONTRIBUTING.md', () => {
  const drawn = drawing();

  it('has the layers in the order that the layers check enforces', () => {
    const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
      readonly forbidden: readonly { readonly name: string }[];
    };
    const rules = forbidden.flatMap(({ name }) => /^layer-(\w+)-imports-downward$/.exec(name)?.[1] ?? []);
    expect(drawn.get('src')).toEqual(rules);
  });

  it.each(['packages', 'src', 'src/core', 'src/adapters', 'src/controllers', 'src/app'])(
    'draws every folder of %s',
    (folder) => {
      expect([...(drawn.get(folder) ?? [])].sort()).toEqual(foldersIn(folder));
    },
  );

  it('has each package below those that it imports', () => {
    const order = drawn.get('packages') ?? [];
    const upward = order.flatMap((name, at) => {
      const { dependencies, peerDependencies } = manifestIn(`packages/${name}`);
      const own = Object.keys({ ...dependencies, ...peerDependencies }).filter((dependency) =>
        dependency.startsWith('@berth/'),
      );
      return own.filter((dependency) => order.indexOf(dependency.slice('@berth/'.length)) >= at);
    });
    expect(upward).toEqual([]);
  });
});

interface Manifest {
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const manifestIn = (folder: string): Manifest =>
  JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Manifest;

it('the product has the dependencies of its packages, because it is published without them', () => {
  const { dependencies } = manifestIn('.');
  const missing = foldersIn('packages').flatMap((name) =>
    Object.entries(manifestIn(`packages/${name}`).dependencies)
      .filter(([dependency]) => !dependency.startsWith('@berth/'))
      .filter(([dependency, version]) => dependencies[dependency] !== version)
      .map(([dependency, version]) => `${name}: ${dependency} ${version}`),
  );
  expect(missing).toEqual([]);
});

describe('the exports of a package', () => {
  const users = sourceFiles([...SOURCES, ...TESTS], '.ts').map((file) => ({
    file,
    text: readFileSync(file, 'utf8'),
  }));

  it.each(foldersIn('packages'))('of %s are files that another package or the product imports', (name) => {
    const { exports } = manifestIn(`packages/${name}`);
    const unused = Object.entries(exports).filter(
      ([path, file]) =>
        !existsSync(`packages/${name}/${file}`) ||
        !users.some(({ text }) => text.includes(`'${join(`@berth/${name}`, path)}'`)),
    );
    expect(unused).toEqual([]);
  });
});
