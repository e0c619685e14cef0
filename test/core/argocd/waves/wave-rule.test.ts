import { describe, expect, it } from 'vitest';
import { decisionUses } from '../../../../src/core/argocd/refresh/decision-use.ts';
import { readWaveRule, waveUses } from '../../../../src/core/argocd/waves/wave-rule.ts';

describe('the parameters waves and soak', () => {
  it.each([
    { name: 'are not needed', parameters: {}, want: undefined },
    { name: 'number', parameters: { waves: 3 }, want: { count: 3, soakMs: undefined } },
    { name: 'text', parameters: { waves: ' 3 ' }, want: { count: 3, soakMs: undefined } },
    {
      name: 'with a soak time',
      parameters: { waves: '2', soak: '1h30m' },
      want: { count: 2, soakMs: 5_400_000 },
    },
    { name: 'healthy is enough', parameters: { waves: '2', soak: '0' }, want: { count: 2, soakMs: 0 } },
  ])('$name', ({ parameters, want }) => {
    expect(readWaveRule(parameters)).toEqual({ ok: true, rule: want });
  });

  it.each([
    ['no number', { waves: 'many' }, 'waves must be a whole number from 1 to 50, got "many"'],
    ['none', { waves: 0 }, 'waves must be a whole number from 1 to 50, got 0'],
    ['too many', { waves: 51 }, 'waves must be'],
    ['half a wave', { waves: '1.5' }, 'waves must be'],
    ['a list', { waves: [3] }, 'waves must be'],
    ['empty', { waves: '' }, 'waves must be'],
    ['a placeholder', { waves: '{{ .waves }}' }, 'waves must be'],
    ['a number of what?', { waves: 2, soak: 10 }, 'soak must be a duration such as 10m, got 10'],
    ['back in time', { waves: 2, soak: '-5m' }, 'soak must be a duration'],
    ['soak alone', { soak: '5m' }, 'soak has no effect without input.parameters.waves'],
  ])('are refused: %s', (_, parameters, message) => {
    expect(readWaveRule(parameters)).toMatchObject({
      ok: false,
      message: expect.stringContaining(message) as string,
    });
  });
});

const plugin = (parameters: object, configMap = 'berth') => ({
  plugin: { configMapRef: { name: configMap }, input: { parameters } },
});
const web = { placement: 'team-a/web', waves: '3', soak: '10m' };

describe('the placements that an ApplicationSet takes in waves', () => {
  const usesOf = (...generators: readonly object[]) => {
    const { rules, refused } = waveUses(decisionUses({ generators }), new Set(['berth']));
    return { rules: Object.fromEntries(rules), refused: Object.fromEntries(refused) };
  };
  const rule = { count: 3, soakMs: 600_000 };
  it.each([
    { name: 'one', generators: [plugin(web)], want: { rules: { 'team-a/web': rule }, refused: {} } },
    {
      name: 'inside a matrix, with a namespace of its own',
      generators: [
        {
          matrix: {
            generators: [
              plugin({ ...web, placement: 'web', namespace: 'team-a' }),
              { list: { elements: [] } },
            ],
          },
        },
      ],
      want: { rules: { 'team-a/web': rule }, refused: {} },
    },
    { name: 'those of other plugins', generators: [plugin(web, 'other')], want: { rules: {}, refused: {} } },
    {
      name: 'those without waves',
      generators: [plugin({ placement: 'team-a/web' })],
      want: { rules: {}, refused: {} },
    },
    {
      name: 'two that say the same',
      generators: [plugin(web), plugin({ ...web, group: 'canary' })],
      want: { rules: { 'team-a/web': rule }, refused: {} },
    },
    {
      name: 'two that differ: neither',
      generators: [plugin(web), plugin({ ...web, waves: 2 })],
      want: {
        rules: {},
        refused: { 'team-a/web': 'two generators of the ApplicationSet ask for different waves of it' },
      },
    },
    {
      name: 'a placement that only Argo CD knows',
      generators: [plugin({ ...web, placement: 'team-a/{{ .name }}' })],
      want: {
        rules: {},
        refused: {
          'team-a/{{ .name }}': 'waves need the name of the placement as it is, without a placeholder',
        },
      },
    },
    {
      name: 'a wrong number',
      generators: [plugin({ ...web, waves: 'x' })],
      want: {
        rules: {},
        refused: { 'team-a/web': 'input.parameters.waves must be a whole number from 1 to 50, got "x"' },
      },
    },
  ])('$name', ({ generators, want }) => {
    expect(usesOf(...generators)).toEqual(want);
  });
});
