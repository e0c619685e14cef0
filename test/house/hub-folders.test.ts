import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';

const page = readFileSync('docs/embedded-hub-internals.md', 'utf8');
const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  readonly forbidden: readonly { readonly name: string }[];
};
const ordered = forbidden.flatMap(({ name }) => /^hub-(\w+)-imports-downward$/.exec(name)?.[1] ?? []);

describe('docs/embedded-hub-internals.md', () => {
  it('names files that exist', () => {
    const files = [...page.matchAll(/^ *│ {2}(\S+\.ts) /gm)].map(([, file]) => file ?? '');
    expect(files.length).toBeGreaterThan(0);
    // A reader follows a POST through no more than a dozen.
    expect(files.length).toBeLessThanOrEqual(12);
    for (const file of files) expect(existsSync(`packages/embedded-hub/src/${file}`), file).toBe(true);
  });

  it('lists the folders in the order that the layers check enforces', () => {
    const rows = [...page.matchAll(/^\| (`.*`) \|/gm)].flatMap(([, cell]) =>
      [...(cell ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name ?? ''),
    );
    expect(rows).toEqual(ordered);
  });

  it('knows every folder', () => {
    const folders = readdirSync('packages/embedded-hub/src', { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    );
    expect(folders.map(({ name }) => name).sort()).toEqual([...ordered].sort());
  });
});
