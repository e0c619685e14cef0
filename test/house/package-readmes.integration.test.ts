import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { format } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

/**
 * The README of each package, whose example compiles with the settings of the sources and prints what its comments
 * say: `// prints: TEXT`, at the end of the line that prints it or in a line of its own.
 */
const FOLDER = '.cache/readme-examples';
const SECTIONS = ['## Use', '## Tests', '## What it is not'];
/** Lines. A README is one page. */
const MAX_LINES = 80;

const packages = readdirSync('packages').sort();
const readme = (name: string): string => readFileSync(`packages/${name}/README.md`, 'utf8');
const exampleOf = (name: string): string => /```ts\n(.*?)```/s.exec(readme(name))?.[1] ?? '';
const fileOf = (name: string): string => resolve(FOLDER, `${name}.ts`);

beforeAll(() => {
  mkdirSync(FOLDER, { recursive: true });
  for (const name of packages) writeFileSync(fileOf(name), exampleOf(name));
});

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

function compilerOptions(): ts.CompilerOptions {
  const { config } = ts.readConfigFile('tsconfig.base.json', (file) => readFileSync(file, 'utf8')) as {
    readonly config: { readonly compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, process.cwd());
  return { ...options, noEmit: true, skipLibCheck: true };
}

/** What the examples do not say as TypeScript wants it. Only their own files are checked, not what they import. */
function problemsOfTypes(): readonly string[] {
  const program = ts.createProgram(packages.map(fileOf), compilerOptions());
  return packages.flatMap((name) => {
    const file = program.getSourceFile(fileOf(name));
    const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
    return found.map(
      ({ messageText, start }) =>
        `${name}: ${ts.flattenDiagnosticMessageText(messageText, ' ')} (in "${file?.text.slice(start).split('\n')[0] ?? ''}")`,
    );
  });
}

/** The lines that a program prints while it is imported. */
async function printedBy(name: string): Promise<readonly string[]> {
  const lines: string[] = [];
  const spy = vi
    .spyOn(console, 'log')
    .mockImplementation((...values: unknown[]) => void lines.push(format(...values)));
  try {
    await import(/* @vite-ignore */ fileOf(name));
  } finally {
    spy.mockRestore();
  }
  return lines;
}

it('the examples of all READMEs compile', () => {
  expect(problemsOfTypes()).toEqual([]);
});

describe.each(packages)('the README of %s', (name) => {
  it('has the name of the package, its sections, its command of tests, and is one page', () => {
    const lines = readme(name).split('\n');
    expect(lines[0]).toBe(`# @berth/${name}`);
    expect(lines.filter((line) => line.startsWith('## '))).toEqual(SECTIONS);
    expect(lines.length).toBeLessThanOrEqual(MAX_LINES);
    const { scripts } = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')) as {
      readonly scripts?: { readonly test?: string };
    };
    const hasTests = scripts?.test !== undefined;
    expect(readme(name).includes(`\`npm test -w packages/${name}\``)).toBe(hasTests);
  });

  it('has an example that prints what it says', async () => {
    const promised = [...exampleOf(name).matchAll(/\/\/ prints: (.*)/g)].map(([, text]) => text ?? '');
    expect(promised.length).toBeGreaterThan(0);
    expect(await printedBy(name)).toEqual(promised);
  });
});
