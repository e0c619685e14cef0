import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const root = new URL('../../', import.meta.url);
const text = readFileSync(new URL('docs/threat-model.md', root), 'utf8');
const rows = text.split('\n').filter((line) => line.startsWith('| ') && line.split('|').length === 6);
const named = new Set(
  rows.flatMap((row) => [...(row.split('|')[4] ?? '').matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '')),
);
const subjects = readdirSync(new URL('test/security/', root))
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => file.replace(/\.test\.ts$/, ''));

it('names only tests that exist', () => {
  expect(named.size).toBeGreaterThan(20);
  const missing = [...named].filter(
    (name) =>
      !subjects.includes(name) &&
      !existsSync(new URL(name, root)) &&
      !existsSync(new URL(`test/security/${name}`, root)),
  );
  expect(missing).toEqual([]);
});

it('has a row for every file of attacks', () => {
  expect(subjects.filter((subject) => !named.has(subject))).toEqual([]);
});
