import fc from 'fast-check';
import yaml from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { readPlainBlock } from '../../src/adapters/yaml/block-reader.ts';
import { kubectlSchema } from '@berth/kube/yaml/kubectl-schema';

const RUNS = Number(process.env['BERTH_PROPERTY_RUNS'] ?? 3_000);
const SCHEMA = kubectlSchema();
const full = (text: string): { value: unknown } | { error: string } => {
  try {
    return { value: yaml.load(text, { schema: SCHEMA }) };
  } catch (error) {
    return { error: String(error) };
  }
};
/** Whatever the plain reader answers, the full parser answers too. */
const agree = (text: string): boolean => {
  const plain = readPlainBlock(text);
  if (plain === undefined) return false;
  expect(full(text), text).toEqual({ value: plain.value });
  return true;
};

const LINES = [
  'a: 1',
  'b: x y',
  'c:',
  '- d',
  '- e: 1',
  '- f:',
  '-',
  '- ',
  '- - g',
  'h: "q"',
  "i: 'q'",
  'j: |',
  'k: |-',
  'l: >',
  'm: []',
  'n: {}',
  'o: [a, b]',
  'p: a # c',
  'q: a#b',
  '# comment',
  '',
  ' ',
  'r: a: b',
  's: b:',
  't: "a" # c',
  'u: "a"#c',
  'v: *x',
  'w: &x 1',
  'x: !!str 1',
  'y: 1',
  'on: 1',
  '? z',
  'aa: -1',
  'bb: - 1',
  'cc: .5',
  'dd: ~',
  'ee: null',
  '---',
  '...',
  '--- x',
  '%YAML 1.1',
  'ff:x',
  'gg : 1',
  '"hh": 1',
  'ii: 0x1F',
  'jj: 1_0',
  'kk: http://a/b',
  'll: 12:30',
  'mm: [a, -]',
  'nn: [a b]',
  'oo: [a,b]',
  'pp: [-1, y]',
  'qq: "a\\n"',
  "rr: 'it''s'",
  'ss: |2',
  'tt:   ',
  'uu: a  ',
  '<<: x',
  'text',
  '__proto__: 1',
  'constructor: 1',
  'vv: <<',
  'ww: $x',
  'xx: 1e400',
  'yy: .inf',
  'zz: =',
  'a: 2',
  '- "x"',
  "- 'x' # c",
  '- [a]',
  '- |',
  '- # c',
  '-x',
  'key/with.dots-1: v',
];

describe('the plain block reader', () => {
  it('answers as the full parser on lines put together at random', () => {
    let read = 0;
    const line = fc
      .tuple(fc.constantFrom(0, 0, 0, 2, 2, 4, 4, 6, 1, 3), fc.constantFrom(...LINES))
      .map(([indent, text]) => ' '.repeat(indent) + text);
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 9 }), fc.boolean(), (lines, ended) => {
        if (agree(lines.join('\n') + (ended ? '\n' : ''))) read++;
      }),
      { numRuns: RUNS * 5 },
    );
    expect(read).toBeGreaterThan(RUNS / 50);
  });

  const scalar = fc.oneof(
    fc.constantFrom(
      'x',
      'a b',
      '1',
      'true',
      'yes',
      '',
      '1.0',
      'v1.2.3',
      '-',
      '- x',
      'a: b',
      'a #b',
      '# x',
      '"',
      "it's",
      '0777',
      'null',
      ' lead',
      'trail ',
      'two\nlines',
      '\n',
      'a\n\nb\n',
      '[x]',
      '{}',
      '*a',
      '&a',
      '100m',
      'http://x/y?z=1',
      'ünï',
    ),
    fc.string({ maxLength: 12 }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      scalar,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(
        fc.constantFrom('a', 'b', 'name', 'spec', 'x.y/z', 'on', 'k_1', '__proto__', '1'),
        tie('tree'),
        { maxKeys: 5 },
      ),
    ),
  }));

  it('answers as the full parser on documents as tools write them', () => {
    let read = 0;
    fc.assert(
      fc.property(tree, fc.constantFrom(-1, 2), fc.boolean(), (value, lineWidth, noArrayIndent) => {
        const text = yaml.dump({ root: value }, { lineWidth: lineWidth === 2 ? 80 : -1, noArrayIndent });
        if (agree(text)) read++;
      }),
      { numRuns: RUNS },
    );
    expect(read).toBeGreaterThan(RUNS / 4);
  });

  it('answers as the full parser on damaged documents', () => {
    fc.assert(
      fc.property(
        tree,
        fc.nat(),
        fc.constantFrom('', ' ', '\n', ':', '-', '#', '"', "'", '|', '\t', '  ', ': ', '\n- '),
        fc.nat(3),
        (value, at, put, cut) => {
          const text = yaml.dump({ root: value, other: [value] }, { lineWidth: -1 });
          const place = at % (text.length + 1);
          agree(text.slice(0, place) + put + text.slice(place + cut));
        },
      ),
      { numRuns: RUNS * 2 },
    );
  });
});
