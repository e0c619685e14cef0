import { describe, expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { noteHeld, readPruneMemory, pruneInputFromMemory } from '../../../src/core/sync/prune-memory.ts';

const NOW = { nowMs: 1_000_000, windowMs: 600_000 };
const deletion = (atMs: number) => ({ atMs, hashes: ['0123456789'], unnamed: 0 });
const source = (name: string, annotations: Readonly<Record<string, string>> = {}) => ({
  object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, annotations } } satisfies KubeObject,
});

describe('what the parent of an ApplySet remembers', () => {
  it.each([
    { name: 'nothing', given: {}, want: { earlier: [], isHeld: false, lastRelease: undefined } },
    {
      name: 'deletions, as long as they count',
      given: {
        'berth.dev/recent-deletions': '400000:0123456789;400001:0123456789',
        'berth.dev/held-token': '',
      },
      want: { earlier: [deletion(400_001)], isHeld: false },
    },
    {
      name: 'all of them while something is held',
      given: { 'berth.dev/recent-deletions': '1:0123456789;400001:0123456789', 'berth.dev/held-token': 'aa' },
      want: { earlier: [deletion(1), deletion(400_001)], isHeld: true },
    },
    {
      name: 'releases',
      given: { 'berth.dev/spent-tokens': 'aa,bb', 'berth.dev/release': 'bb', 'berth.dev/released-by': 'Ada' },
      want: {
        releases: { spent: ['aa', 'bb'], objects: new Set() },
        lastRelease: { code: 'bb', by: 'Ada' },
      },
    },
  ])('is read: $name', ({ given, want }) => {
    expect(readPruneMemory(given, NOW)).toMatchObject({ ...want, ...NOW });
  });

  it('has a hold because of losses as it was written', () => {
    const holders = ['0123456789', 'abcdef0123'];
    const read = (annotations: Readonly<Record<string, string>>) =>
      readPruneMemory(annotations, NOW).heldLosses;
    expect(read(noteHeld('aa', 'why', holders))).toEqual({ code: 'aa', message: 'why', holders });
    expect(read(noteHeld('aa', 'why', []))).toEqual({ code: 'aa', message: 'why', holders: [] });
    expect(read(noteHeld('aa', 'why', undefined))).toBeUndefined();
    expect(read(noteHeld('', '', undefined))).toBeUndefined();
    // There are too many to be written.
    const many = Array.from({ length: 1_001 }, (_, at) => String(at).padStart(10, '0'));
    expect(read(noteHeld('aa', 'why', many))).toMatchObject({ code: 'aa', holders: [] });
    // Another hold is the current one.
    expect(read({ ...noteHeld('aa', 'why', holders), 'berth.dev/held-token': 'bb' })).toBeUndefined();
  });

  it('is judged by together with what is in Git', () => {
    const memory = readPruneMemory(
      {
        'berth.dev/release': 'bb',
        'berth.dev/recent-deletions': '900000*3',
        'berth.dev/recent-losses': '900000:abcdef0123:2;1:abcdef0123:7',
      },
      NOW,
    );
    const objects = [source('a'), source('b', { 'berth.dev/release': 'cc dd' })];
    const { wanted, ...input } = pruneInputFromMemory(objects, memory, ['x']);
    expect(input).toEqual({
      releasedCodes: ['bb', 'cc', 'dd'],
      releases: memory.releases,
      earlierLosses: {
        losses: [{ atMs: 900_000, holder: 'abcdef0123', count: 2, causes: [] }],
        windowMs: 600_000,
      },
      earlier: {
        deletions: [{ atMs: 900_000, hashes: [], unnamed: 3 }],
        windowMs: 600_000,
        elsewhere: ['x'],
      },
    });
    // In `default`, or in no namespace where the kind has none.
    expect([...wanted].map((identity) => (JSON.parse(identity) as string[]).slice(2))).toEqual([
      ['', 'a'],
      ['default', 'a'],
      ['', 'b'],
      ['default', 'b'],
    ]);
  });
});
