import { describe, expect, it } from 'vitest';
import { readServedWaves, servedText, servedWaves } from '../../../../src/core/argocd/waves/served-waves.ts';
import { parseWaves, renderWaves, type WaveStates } from '../../../../src/core/argocd/waves/wave-state.ts';

const STATES: WaveStates = new Map([
  [
    'team-a/web',
    {
      clusters: new Map([
        ['c', { wave: 2, isServed: false }],
        ['b', { wave: 0, isServed: true }],
        ['a', { wave: 0, isServed: true }],
      ]),
      healthySinceMs: [1_785_585_600_123],
    },
  ],
  ['team-a/api', { clusters: new Map(), healthySinceMs: [] }],
]);
const TEXT =
  '{"team-a/api":[],"team-a/web":[{"served":["a","b"],"healthySince":"2026-08-01T12:00:00.123000Z"},{},{"held":["c"]}]}';

describe('what is written of waves', () => {
  it('is the same text for the same waves, and is read back', () => {
    expect(renderWaves(STATES)).toBe(TEXT);
    const read = parseWaves(TEXT);
    expect(read?.get('team-a/web')?.healthySinceMs).toEqual([1_785_585_600_123, undefined, undefined]);
    expect(read && renderWaves(read)).toBe(TEXT);
  });

  it.each([
    ['no JSON', '{'],
    ['a list', '[]'],
    ['null', 'null'],
    ['no list of waves', '{"team-a/web":{}}'],
    ['a wave that is a text', '{"team-a/web":["a"]}'],
    ['names that are numbers', '{"team-a/web":[{"served":[1]}]}'],
    ['one name instead of a list', '{"team-a/web":[{"held":"a"}]}'],
  ])('is nothing when it is %s', (_, text) => {
    expect(parseWaves(text)).toBeUndefined();
    expect(servedWaves(text)).toBeUndefined();
    expect(servedText({ 'berth.dev/waves': text })).toBe('');
  });

  it('counts a cluster as served that is both, and ignores a time that is none', () => {
    const read = parseWaves('{"p/p":[{"served":["a"],"held":["a","b"],"healthySince":"soon"}]}');
    expect(read?.get('p/p')).toEqual({
      clusters: new Map([
        ['a', { wave: 0, isServed: true }],
        ['b', { wave: 0, isServed: false }],
      ]),
      healthySinceMs: [undefined],
    });
  });

  it('has no more than an annotation may have, with room for others', () => {
    const fleet = (size: number): WaveStates =>
      new Map([
        [
          'team-a/web',
          {
            clusters: new Map(
              Array.from({ length: size }, (_, at) => [
                `cluster-${at}.eu.example.org`,
                { wave: 0, isServed: true },
              ]),
            ),
            healthySinceMs: [],
          },
        ],
      ]);
    expect(renderWaves(fleet(5_000))).toBeDefined();
    expect(renderWaves(fleet(10_000))).toBeUndefined();
  });

  it('changes an answer only by what is served', () => {
    const annotations = (text: string) => ({ 'berth.dev/waves': text });
    const [before, since, served] = [
      '{"p/p":[{"served":["a"]},{"held":["b"]}]}',
      '{"p/p":[{"served":["a"],"healthySince":"2026-08-01T12:00:00Z"},{"held":["b"]}]}',
      '{"p/p":[{"served":["a"]},{"served":["b"]}]}',
    ].map((text) => servedText(annotations(text)));
    expect(since).toBe(before);
    expect(served).not.toBe(before);
    expect(servedText(undefined)).toBe('');
  });
});

describe('the waves by which an ApplicationSet is answered', () => {
  const rule = { count: 3, soakMs: 0 };
  const asked = { applicationSet: 'web', applicationSetNamespace: undefined, placement: 'team-a/web', rule };
  const written = { namespace: 'argocd', rule, written: TEXT };
  const read = (
    candidates: Parameters<typeof readServedWaves>[1],
    over: Partial<typeof asked> | { readonly applicationSetNamespace: string } = {},
  ) => readServedWaves({ ...asked, ...over }, candidates, servedWaves);

  it('are those that are served', () => {
    expect(read([written])).toEqual({
      ok: true,
      served: new Map([
        ['a', 0],
        ['b', 0],
      ]),
    });
  });

  it('are those of its namespace, where two have the name', () => {
    const other = { ...written, namespace: 'team-b', written: '{"team-a/web":[{"served":["z"]}]}' };
    expect(read([written, other])).toMatchObject({ ok: false, isWrong: true });
    expect(read([written, other], { applicationSetNamespace: 'team-b' })).toEqual({
      ok: true,
      served: new Map([['z', 0]]),
    });
  });

  it.each([
    {
      name: 'it is not known',
      candidates: [],
      message: 'no ApplicationSet web that takes placement team-a/web in waves is known yet',
    },
    {
      name: 'nothing is written',
      candidates: [{ ...written, written: undefined }],
      message: 'the waves of placement team-a/web are not written on ApplicationSet web yet',
    },
    {
      name: 'somebody wrote something else',
      candidates: [{ ...written, written: 'x' }],
      message: 'not written',
    },
    {
      name: 'they are those of another placement',
      candidates: [{ ...written, written: '{}' }],
      message: 'not written',
    },
    {
      name: 'it asks for other waves than it did',
      candidates: [{ ...written, rule: { ...rule, count: 2 } }],
      message: 'the waves of ApplicationSet web were changed a moment ago',
    },
  ])('are none, which is an error, while $name', ({ candidates, message }) => {
    expect(read(candidates)).toMatchObject({
      ok: false,
      isWrong: false,
      message: expect.stringContaining(message) as string,
    });
  });
});
