import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RENDERED_VERSION, versionNotes } from '../src/version-notes.ts';

const notIn = { matchExpressions: [{ key: 'metadata.labels.env', operator: 'NotIn', values: ['dev'] }] };
const set = (spec: object) => ({ metadata: { name: 'a' }, spec });
const SELECTOR = set({ goTemplate: true, generators: [{ clusters: {}, selector: notIn }] });
const TPL = set({ goTemplate: true, generators: [], template: { metadata: { name: '{{ tpl .a . }}' } } });
const FIRST = 'Argo CD before 3.4';
const SECOND = 'Argo CD before 3.6 does not have the function tpl';
const THIRD = 'Argo CD before 3.6 drops';

describe('where an older version of Argo CD renders otherwise', () => {
  it.each([
    { name: 'a selector of labels, unknown', given: SELECTOR, version: undefined, want: [FIRST] },
    { name: 'a selector of labels, 3.3', given: SELECTOR, version: [3, 3] as const, want: [FIRST] },
    { name: 'a selector of labels, 2.14', given: SELECTOR, version: [2, 14] as const, want: [FIRST] },
    { name: 'a selector of labels, 3.4', given: SELECTOR, version: [3, 4] as const, want: [] },
    { name: 'a selector of labels, 4.0', given: SELECTOR, version: [4, 0] as const, want: [] },
    {
      name: 'a selector in a matrix',
      given: set({
        goTemplate: true,
        generators: [
          { matrix: { generators: [{ clusters: {}, selector: { matchLabels: { 'values.a': 'b' } } }] } },
        ],
      }),
      version: undefined,
      want: [FIRST],
    },
    {
      name: 'a selector without goTemplate',
      given: set({ generators: [{ clusters: {}, selector: notIn }] }),
      version: undefined,
      want: [],
    },
    {
      name: 'a selector of names',
      given: set({
        goTemplate: true,
        generators: [{ clusters: { selector: notIn }, selector: { matchLabels: { name: 'a' } } }],
      }),
      version: undefined,
      want: [],
    },
    { name: 'tpl, unknown', given: TPL, version: undefined, want: [SECOND] },
    { name: 'tpl, 3.6', given: TPL, version: [3, 6] as const, want: [] },
    { name: 'tpl, 3.5', given: TPL, version: [3, 5] as const, want: [SECOND] },
    {
      name: 'a folder without a filter, 3.5',
      given: set({ template: { spec: { source: { directory: { disableExtensionFilter: true } } } } }),
      version: [3, 5] as const,
      want: [THIRD],
    },
    { name: 'nothing special', given: set({ generators: 'none' }), version: undefined, want: [] },
  ])('$name', ({ given, version, want }) => {
    const notes = versionNotes(given, version);
    expect(notes).toHaveLength(want.length);
    want.forEach((start, at) => expect(notes[at]).toContain(start));
  });

  it('names the version that the recordings and their differences add up to', () => {
    const readme = readFileSync(
      join(import.meta.dirname, '../../../test/conformance/argocd/README.md'),
      'utf8',
    );
    expect(/What Argo CD (\d+\.\d+\.\d+) does otherwise/.exec(readme.replaceAll('\n', ' '))?.[1]).toBe(
      RENDERED_VERSION,
    );
  });
});
