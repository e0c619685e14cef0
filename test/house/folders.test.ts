import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * The folders of `src`: small, in no circle, and as CONTRIBUTING.md draws them. dependency-cruiser enforces the order of
 * the layers, but it does not see a circle of a folder and a folder in it.
 */
const MOST_FILES = 20;

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => `src/${file}`)
  .sort();
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

describe('the folders of src', () => {
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

interface Drawn {
  readonly names: readonly string[];
  /** Words in backticks: the folders in it. */
  readonly inner: readonly string[];
}

/** The lines of the drawing below `src/`, by their layer. */
function drawing(): ReadonlyMap<string, readonly Drawn[]> {
  const text = readFileSync('CONTRIBUTING.md', 'utf8').split('```\nsrc/\n')[1]?.split('```')[0] ?? '';
  const layers = new Map<string, Drawn[]>();
  let layer: Drawn[] = [];
  for (const line of text.split('\n')) {
    const [, indent = '', names = '', words = ''] = /^( +)((?:[\w-]+\/ ?)+)(.*)$/.exec(line) ?? [];
    const drawn = {
      names: names
        .split('/')
        .map((name) => name.trim())
        .filter((name) => name !== ''),
      inner: [...words.matchAll(/`([\w-]+)`/g)].map(([, word = '']) => word),
    };
    if (indent.length === 2) layers.set(drawn.names[0] ?? '', (layer = []));
    else if (indent.length === 4) layer.push(drawn);
  }
  return layers;
}

describe('the drawing in CONTRIBUTING.md', () => {
  const layers = drawing();

  it('has the layers in the order that the layers check enforces', () => {
    const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
      readonly forbidden: readonly { readonly name: string }[];
    };
    const rules = forbidden.flatMap(({ name }) => /^layer-(\w+)-imports-downward$/.exec(name)?.[1] ?? []);
    expect([...layers.keys()]).toEqual(rules);
    expect(foldersIn('src')).toEqual([...rules].sort());
  });

  // The hub's own folders are drawn in docs/embedded-hub-internals.md, which hub-folders.test.ts keeps true.
  it.each(['core', 'runtime', 'adapters', 'render', 'controllers', 'agent', 'app'])(
    'draws every folder of %s',
    (layer) => {
      const drawn = layers.get(layer) ?? [];
      expect(drawn.flatMap(({ names }) => names).sort()).toEqual(foldersIn(`src/${layer}`));
      for (const { names, inner } of drawn)
        if (names.length === 1)
          expect([...inner].sort(), names[0]).toEqual(foldersIn(`src/${layer}/${names[0] ?? ''}`));
    },
  );
});
