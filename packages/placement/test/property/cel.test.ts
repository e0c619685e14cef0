import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileClusterCel } from '../../src/filter/cluster-cel.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { evaluateCel } from '../filter/cel-values.ts';

const TOKENS = [
  'x',
  'y',
  'managedCluster',
  '.',
  '.?',
  '[',
  ']',
  '[?',
  '(',
  ')',
  '{',
  '}',
  ',',
  ':',
  '?',
  '+',
  '-',
  '*',
  '/',
  '%',
  '!',
  '==',
  '!=',
  '<',
  '>=',
  '&&',
  '||',
  ' in ',
  '1',
  '0u',
  '1.5',
  '"a"',
  "'é😀'",
  'r"[a"',
  'b"\\x00"',
  'true',
  'null',
  'map',
  'filter',
  'all',
  'exists',
  'has',
  'size',
  'matches',
  'format',
  'scores',
  'parseJSON',
  'quantity',
  'semver',
  'duration',
  'timestamp',
  'ip',
  'cidr',
  'url',
  'type',
  'dyn',
  'int',
  'string',
  'optional',
  'none',
  'of',
  'orValue',
  '__proto__',
  'constructor',
  '\n',
  '//',
  '`',
  '\\',
  '@',
];
const CLUSTER = { metadata: { name: 'c1', labels: { a: 'b' } } } as unknown as ManagedCluster;

/** Well-formed expressions of ints, with their value by exact arithmetic; undefined: overflow or division by zero. */
const arithmetic: fc.Arbitrary<{ text: string; value: bigint | undefined }> = fc.letrec<{
  expression: { text: string; value: bigint | undefined };
}>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small' },
    fc.bigInt({ min: 0n, max: 2n ** 62n }).map((value) => ({ text: String(value), value })),
    fc
      .tuple(tie('expression'), fc.constantFrom('+', '-', '*', '/', '%'), tie('expression'))
      .map(([a, operator, b]) => ({
        text: `(${a.text} ${operator} ${b.text})`,
        value: apply(a.value, operator, b.value),
      })),
  ),
})).expression;

function apply(a: bigint | undefined, operator: string, b: bigint | undefined): bigint | undefined {
  if (a === undefined || b === undefined) return undefined;
  if ((operator === '/' || operator === '%') && b === 0n) return undefined;
  const value =
    operator === '+'
      ? a + b
      : operator === '-'
        ? a - b
        : operator === '*'
          ? a * b
          : operator === '/'
            ? a / b
            : a % b;
  return value >= -(2n ** 63n) && value < 2n ** 63n ? value : undefined;
}

describe('CEL', () => {
  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...TOKENS), { maxLength: 14 }), (tokens) => {
        const compiled = compileClusterCel(tokens.join(''));
        if (compiled.ok) compiled.program.evaluate(CLUSTER, () => undefined);
        else expect(compiled.problem.line).toBeGreaterThan(0);
      }),
      { numRuns: 20_000 },
    );
  });

  it('never throws on any JSON', () => {
    const expressions = [
      'x.a.b == y',
      'x == y',
      'x.map(i, i.a)',
      'x + y',
      '"%s".format([x])',
      'type(x) == type(y)',
      'x in y',
      'x < y',
      'x.?a.?b.orValue(y) == 1',
      'dyn(x).sum() > 0',
      'x.exists(i, i == y)',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...expressions), fc.jsonValue(), fc.jsonValue(), (expression, x, y) => {
        evaluateCel(expression, { x, y });
      }),
      { numRuns: 5_000 },
    );
  });

  it('computes ints exactly or fails', () => {
    fc.assert(
      fc.property(arithmetic, ({ text, value }) => {
        if (value === undefined)
          expect(evaluateCel(text)).toMatch(/^error: (integer overflow|division by zero)$/);
        else expect(evaluateCel(text)).toBe(value);
      }),
      { numRuns: 5_000 },
    );
  });

  it('compares JSON values as JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (x) => {
        expect(evaluateCel('x == y', { x, y: structuredClone(x) })).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
