import { beforeEach, describe, expect, it } from 'vitest';
import { SharedCommits } from '../../../../src/controllers/sources/progress/commit-barrier.ts';
import type { SourceContent } from '../../../../src/controllers/sources/manifests/source-content.ts';

const url = 'https://git.example.org/fleet.git';
const main = { type: 'branch', name: 'main' } as const;

describe('sources of one repository', () => {
  let happened: string[];
  let shared: SharedCommits;
  beforeEach(() => {
    happened = [];
    shared = new SharedCommits(
      [
        { name: 'fleet', url, ref: main },
        { name: 'apps', url, ref: main },
        { name: 'next', url, ref: { type: 'branch', name: 'next' } },
        { name: 'other', url: 'https://git.example.org/other.git', ref: main },
      ],
      {
        onExpected: (source) => happened.push(`${source} is expected`),
        onMissed: (source) => happened.push(`${source} missed it`),
      },
    );
  });
  const read = (source: string, commit: string) => {
    const content = { commit: { id: commit } } as SourceContent;
    shared.handle({ kind: 'read', source, content });
  };
  const take = (source: string, ...kinds: readonly ('fetching' | 'followed' | 'failed')[]) => {
    for (const kind of kinds) shared.handle({ kind, source });
  };

  it('are expected to read the commit that the first of them read', () => {
    read('fleet', 'a');
    expect(happened).toEqual(['apps is expected']);
    read('apps', 'a');
    take('apps', 'fetching', 'followed');
    read('fleet', 'b');
    expect(happened).toEqual(['apps is expected', 'apps is expected']);
  });

  it('are expected to catch up with a newer commit', () => {
    read('fleet', 'a');
    read('apps', 'b');
    expect(happened).toEqual(['apps is expected', 'fleet is expected']);
  });

  it.each(['followed', 'failed'] as const)(
    'are expected no longer when they looked and did not read it (%s)',
    (end) => {
      take('apps', 'fetching');
      read('fleet', 'a');
      // This look began before the commit was known.
      take('apps', end);
      expect(happened).toEqual(['apps is expected']);
      take('apps', 'fetching', end);
      expect(happened).toEqual(['apps is expected', 'apps missed it']);
    },
  );

  it('expect nothing of sources of other repositories and refs', () => {
    read('other', 'a');
    read('next', 'a');
    expect(happened).toEqual([]);
  });
});
