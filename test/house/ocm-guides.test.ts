import { readdirSync, readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';

const page = readFileSync('docs/ocm-guides.md', 'utf8');
const tests = readdirSync('test/e2e').filter((name) => /^guide-.*\.test\.ts$/.test(name));

describe('the page about the guides of OCM', () => {
  it('names each test of a guide, and no other', () => {
    const named = new Set([...page.matchAll(/`(guide-[a-z]+)`/g)].map(([, name]) => `${name}.test.ts`));
    expect([...named].sort()).toEqual(tests);
  });

  it('has a row for each section whose commands are listed, in the part of its guide', () => {
    const sections = Object.keys(load(readFileSync('test/e2e/guide-commands.yaml', 'utf8')) as object);
    const parts = { installation: 'Installation', scenario: 'User scenarios', article: 'Articles' };
    expect(sections.length).toBeGreaterThan(8);
    for (const section of sections) {
      const [, guide = '', name = ''] = /^(\w+) (\w+) - /.exec(section) ?? [];
      const title = parts[guide as keyof typeof parts];
      const [, part = ''] = page.split(`\n## ${title}\n`);
      const rows = (part.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
      const isNamed = (row: string): boolean => row.startsWith(`| ${name} `) || row.includes(`\`${name}\``);
      expect(
        rows.filter((row) => isNamed(row) && row.includes('runs: `guide-')),
        section,
      ).toHaveLength(1);
    }
  });
});
