import { expect, it } from 'vitest';
import type { ParsedFile } from '../../../../src/adapters/yaml/parse-manifests.ts';
import { InMemoryParsedFiles } from '../../../../src/controllers/previews/bounded/in-memory-parsed-files.ts';

const parsed = (): ParsedFile => ({ manifests: [], problems: [] });
const file = (path: string, id: string) => ({ path, id });

/** @returns what was held of the files, by path, and the paths of those that were not */
async function read(files: InMemoryParsedFiles, ...wanted: readonly { path: string; id: string }[]) {
  const held = new Map<string, ParsedFile>();
  const left = await files.read(wanted, ({ path }, found) => held.set(path, found));
  return { held, left: left.map(({ path }) => path) };
}

it('holds versions of a path apart, and paths with the same content', async () => {
  const files = new InMemoryParsedFiles();
  const [old, now, copy] = [parsed(), parsed(), parsed()];
  files.add(file('a', '1'), old);
  files.add(file('a', '2'), now);
  files.add(file('b', '1'), copy);
  expect((await read(files, file('a', '1'))).held.get('a')).toBe(old);
  expect((await read(files, file('a', '2'))).held.get('a')).toBe(now);
  const both = await read(files, file('b', '1'), file('c', '1'), file('a', '3'));
  expect(both.held.get('b')).toBe(copy);
  expect(both.left).toEqual(['c', 'a']);
});

it('forgets what neither this plan nor the last one read', async () => {
  const files = new InMemoryParsedFiles();
  files.add(file('a', '1'), parsed());
  files.add(file('b', '1'), parsed());
  files.beginPlan();
  expect((await read(files, file('a', '1'))).left).toEqual([]);
  files.beginPlan();
  expect((await read(files, file('a', '1'), file('b', '1'))).left).toEqual(['b']);
});
