import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { namedRights, rights } from '../../../src/core/rbac/render-role.ts';
import text from '../../../src/core/rbac/rights.yaml';

const parts = Object.entries(load(text) as Record<string, readonly Record<string, readonly string[]>[]>);

describe('rights.yaml', () => {
  it.each(parts)('has a reason above each rule of %s, and names what it is for', (part, rules) => {
    const lines = rights(part);
    expect(load(lines.join('\n'))).toEqual(rules);
    expect(lines.filter((_, at) => lines[at + 1]?.startsWith('  - '))).toHaveLength(rules.length);
    for (const [at, line] of lines.entries())
      if (line.startsWith('  - ')) expect(lines[at - 1]).toMatch(/^ {2}# [a-z, -]+: .+\.$/);
    expect(lines.join('\n')).not.toContain('*');
  });

  it('names the objects of rules, or none', () => {
    const names = (given: readonly string[] | undefined): unknown =>
      (load(namedRights('announcement', given).join('\n')) as Record<string, unknown>[])[1]?.[
        'resourceNames'
      ];
    expect(names(['a', 'b$&'])).toEqual(['a', 'b$&']);
    expect(names(undefined)).toBeUndefined();
  });

  it('has no other part', () => {
    expect(() => rights('anything')).toThrow('anything: is no part of rights.yaml');
  });
});
