import { describe, expect, it } from 'vitest';
import type { ManifestCondition } from '@berth/ocm/kind/manifest-work';
import { mergeManifestStatus } from '../../../src/rules/feedback/observed-status.ts';

const BEFORE = '2026-01-01T00:00:00Z';
const NOW = '2026-01-02T00:00:00Z';

const applied = (name: string, ordinal: number): ManifestCondition => ({
  resourceMeta: {
    ordinal,
    group: '',
    version: 'v1',
    kind: 'ConfigMap',
    resource: 'configmaps',
    namespace: 'app',
    name,
  },
  conditions: [{ type: 'Applied', status: 'True', reason: 'Done', message: '' }],
});

/** Known from before, with a mark that tells which it was. */
const known = (name: string, ordinal: number, mark: string): ManifestCondition => ({
  ...applied(name, ordinal),
  conditions: [
    { type: 'Applied', status: 'True', reason: 'Done', message: '', lastTransitionTime: BEFORE },
    { type: 'Mark', status: 'True', reason: mark, message: '', lastTransitionTime: BEFORE },
  ],
});

interface Case {
  readonly name: string;
  readonly applied: readonly ManifestCondition[];
  readonly before: readonly ManifestCondition[];
  /** Per applied manifest: the mark of what was known of it; undefined: taken as new. */
  readonly marks: readonly (string | undefined)[];
}

const cases: readonly Case[] = [
  { name: 'nothing known', applied: [applied('a', 0)], before: [], marks: [undefined] },
  { name: 'the same place', applied: [applied('a', 0)], before: [known('a', 0, 'a')], marks: ['a'] },
  {
    name: 'another place',
    applied: [applied('b', 0), applied('a', 1)],
    before: [known('a', 0, 'a')],
    marks: [undefined, 'a'],
  },
  {
    name: 'another resource at its place',
    applied: [applied('b', 0)],
    before: [known('a', 0, 'a')],
    marks: [undefined],
  },
  {
    name: 'listed twice, each at its place',
    applied: [applied('a', 0), applied('a', 1)],
    before: [known('a', 0, 'first'), known('a', 1, 'second')],
    marks: ['first', 'second'],
  },
  {
    name: 'listed twice before, and once at a third place: whose it was cannot be told',
    applied: [applied('b', 0), applied('c', 1), applied('a', 2)],
    before: [known('a', 0, 'first'), known('a', 1, 'second')],
    marks: [undefined, undefined, undefined],
  },
  { name: 'what left the spec', applied: [], before: [known('a', 0, 'a')], marks: [] },
];

describe('what was known of a manifest is kept', () => {
  it.each(cases)('$name', ({ applied, before, marks }) => {
    const merged = mergeManifestStatus(applied, before, NOW);
    expect(merged.map(({ resourceMeta }) => resourceMeta)).toEqual(
      applied.map(({ resourceMeta }) => resourceMeta),
    );
    const read = (type: string, at: number) =>
      merged[at]?.conditions?.find((condition) => condition.type === type);
    expect(merged.map((_, at) => read('Mark', at)?.reason)).toEqual(marks);
    expect(merged.map((_, at) => read('Applied', at)?.lastTransitionTime)).toEqual(
      marks.map((mark) => (mark === undefined ? NOW : BEFORE)),
    );
  });
});
