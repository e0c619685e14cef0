import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

/** "Where do I find X" in CONTRIBUTING.md: spines and tests that exist, and each test enters its spine. */
const IMPORT = /(?:from|import\()\s*'((?:\.|@berth\/)[^']+)'/g;

interface Row {
  readonly behaviour: string;
  readonly spine: string;
  readonly test: string;
}

const section =
  readFileSync('CONTRIBUTING.md', 'utf8').split('## Where do I find X')[1]?.split('\n## ')[0] ?? '';
const rows: readonly Row[] = [...section.matchAll(/^\| ([^|]+) \| `([^`|]+)` \| `([^`|]+)` \|$/gm)].map(
  ([, behaviour = '', spine = '', test = '']) => ({ behaviour, spine, test }),
);

const targets = new Map<string, readonly string[]>();

/** The files of the repository that a file imports, as paths from its root. */
function importsOf(file: string): readonly string[] {
  const known = targets.get(file);
  if (known !== undefined) return known;
  const found = [...readFileSync(file, 'utf8').matchAll(IMPORT)]
    .map(([, target = '']) => (target.startsWith('.') ? join(dirname(file), target) : exportOf(target)))
    .filter((target) => target.endsWith('.ts') && existsSync(target));
  targets.set(file, found);
  return found;
}

/** `@berth/kube/model/kinds` → `packages/kube/src/model/kinds.ts` */
function exportOf(target: string): string {
  const [, name = '', ...path] = target.split('/');
  const { exports } = JSON.parse(readFileSync(`packages/${name}/package.json`, 'utf8')) as {
    readonly exports: Readonly<Record<string, string>>;
  };
  return join('packages', name, exports[['.', ...path].join('/')] ?? 'missing');
}

function isReached(from: string, wanted: string): boolean {
  const seen = new Set([from]);
  for (const file of seen) for (const target of importsOf(file)) seen.add(target);
  return seen.has(wanted);
}

it('has a row for each of at least twenty behaviours, and no row that the other checks do not read', () => {
  const lines = section.split('\n').filter((line) => line.startsWith('|') && line.includes('`'));
  expect(rows.length).toBeGreaterThanOrEqual(20);
  expect(rows.length).toBe(lines.filter((line) => /`(?:src|packages|plugin)\//.test(line)).length);
  expect(new Set(rows.map(({ spine }) => spine)).size).toBe(rows.length);
});

it.each(rows)('$behaviour: both files exist, and the test enters the spine', ({ spine, test }) => {
  expect([spine, test].filter((file) => !existsSync(file))).toEqual([]);
  expect(spine).toMatch(/^(?:src|plugin|packages\/[\w-]+\/src)\/.*(?<!\.test)\.ts$/);
  expect(test).toMatch(/\.test\.ts$/);
  expect(isReached(test, spine)).toBe(true);
});
