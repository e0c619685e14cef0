import { describe, expect, it } from 'vitest';
import {
  type SourceRound,
  syncTogether,
} from '../../../../src/controllers/sources/following/sync-together.ts';

const OUTCOME = { applied: 0, unchanged: 0, pruned: 0, problems: [], pruneHeld: undefined, unlisted: [] };

describe('sources at one commit', () => {
  const object = (kind: string, name: string) => ({
    object: { apiVersion: 'v1', kind, metadata: { name } },
    location: { file: 'a.yaml', line: 1, column: 1 },
  });
  /** @param waitsFor sources whose deletions must be judged before those of this one */
  const round = (
    did: string[],
    source: string,
    over: Partial<SourceRound> = {},
    waitsFor: string[] = [],
  ) => ({
    source,
    objects: [],
    apply: async ({ object: { kind } }: ReturnType<typeof object>) => void did.push(`${source} ${kind}`),
    prune: async (unjudged: ReadonlySet<string>) => {
      if (waitsFor.some((other) => unjudged.has(other))) return undefined;
      did.push(`judge ${source}`);
      return OUTCOME;
    },
    ...over,
  });

  it('are applied in one order of kinds, and judged when all is applied', async () => {
    const did: string[] = [];
    await syncTogether([
      round(did, 'a', { objects: [object('Placement', 'web'), object('Namespace', 'x')] }),
      round(did, 'b', { objects: [object('ManagedClusterSet', 'prod')] }),
    ]);
    expect(did).toEqual(['a Namespace', 'b ManagedClusterSet', 'a Placement', 'judge a', 'judge b']);
  });

  it.each([
    { waits: [['b'], [], []], want: ['b', 'c', 'a'] },
    { waits: [['b'], ['c'], []], want: ['c', 'b', 'a'] },
    // Those that wait for each other are judged as if each of them kept its objects.
    { waits: [['b'], ['a'], []], want: ['c', 'a', 'b'] },
    { waits: [['b'], ['c'], ['a']], want: ['a', 'b', 'c'] },
  ])('are judged after those that they wait for: $waits', async ({ waits, want }) => {
    const did: string[] = [];
    await syncTogether(['a', 'b', 'c'].map((source, at) => round(did, source, {}, waits[at])));
    expect(did).toEqual(want.map((source) => `judge ${source}`));
  });

  it('do not stop each other when one fails', async () => {
    const did: string[] = [];
    const error = new Error('no answer');
    const fails = () => Promise.reject(error);
    const ends = await syncTogether([
      round(did, 'a', { objects: [object('Namespace', 'x'), object('Placement', 'web')], apply: fails }),
      round(did, 'b', { prune: fails }, []),
      round(did, 'c', {}, ['a', 'b']),
    ]);
    expect(did).toEqual(['judge c']);
    expect([...ends]).toEqual([
      ['a', { error }],
      ['b', { error }],
      ['c', { outcome: OUTCOME }],
    ]);
  });
});
