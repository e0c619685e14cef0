import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SOURCES, sourceFiles } from './source-files.ts';

const MAX_PROSE = 100;
/** Pages that are older than this rule, and are not rewritten yet. */
const WITH_LONG_LINES: ReadonlySet<string> = new Set(['docs/performance.md']);
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync('packages').map((name) => `packages/${name}/README.md`),
  ...['docs', 'docs/adr'].flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`)),
]
  .filter((page) => page.endsWith('.md'))
  .map((page) => ({ page, text: readFileSync(page, 'utf8') }));

describe('pages', () => {
  it('are all listed in docs/README.md', () => {
    const list = readFileSync('docs/README.md', 'utf8');
    const missing = readdirSync('docs').filter(
      (name) => name.endsWith('.md') && name !== 'README.md' && !list.includes(`(${name})`),
    );
    expect(missing).toEqual([]);
  });

  it('link to files and headings that exist', () => {
    const broken = pages.flatMap(({ page, text }) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target]) => target ?? '')
        .filter((target) => !/^[a-z]+:/.test(target))
        .filter((target) => !isThere(page, target))
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('name source files and folders that exist', () => {
    // CONTRIBUTING also says where new files go.
    const described = pages.filter(({ page }) => page !== 'CONTRIBUTING.md');
    const missing = described.flatMap(({ page, text }) =>
      [...text.matchAll(/`((?:src|plugin|packages|test|examples|scripts)\/[\w./-]+)`/g)]
        .map(([, path]) => path ?? '')
        // The README of a package may also name its own files.
        .filter((path) => !existsSync(path) && !existsSync(join(dirname(page), path)))
        .map((path) => `${page}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('name code in the glossary that exists', () => {
    const glossary = readFileSync('docs/glossary.md', 'utf8').split('\n');
    const named = glossary
      .filter((line) => line.startsWith('| '))
      .flatMap((line) => [...(line.split('|').at(-2) ?? '').matchAll(/`([\w./-]+)`/g)])
      .map(([, name]) => name ?? '');
    const code = sourceFiles(SOURCES, '.ts')
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((name) => !code.includes(name) && !existsSync(name))).toEqual([]);
  });

  it(`have lines of prose of at most ${MAX_PROSE} characters`, () => {
    const held = pages.filter(({ page }) => !WITH_LONG_LINES.has(page));
    const long = held.flatMap(({ page, text }) =>
      proseLines(text)
        .filter(({ line }) => line.length > MAX_PROSE)
        .map(({ line, number }) => `${page}:${number}: ${line.length} characters`),
    );
    expect(long).toEqual([]);
  });
});

function isThere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(file)) return false;
  return anchor === undefined || anchorsOf(readFileSync(file, 'utf8')).has(anchor);
}

/** The anchors that GitHub makes of headings. */
function anchorsOf(text: string): ReadonlySet<string> {
  return new Set(
    proseLines(text)
      .filter(({ line }) => /^#{1,6} /.test(line))
      .map(({ line }) =>
        line
          .replace(/^#+ /, '')
          .toLowerCase()
          .replaceAll(/[^\w\- ]/g, '')
          .replaceAll(' ', '-'),
      ),
  );
}

/** Lines outside of code blocks and tables; the lines of a table cannot be broken. */
function proseLines(text: string): readonly { readonly line: string; readonly number: number }[] {
  let inCode = false;
  return text.split('\n').flatMap((line, index) => {
    if (/^\s*```/.test(line)) inCode = !inCode;
    return inCode || /^\s*(```|\|)/.test(line) ? [] : [{ line, number: index + 1 }];
  });
}
