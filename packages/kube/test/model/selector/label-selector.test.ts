import { describe, expect, it } from 'vitest';
import {
  compileLabelSelector,
  type LabelSelector,
  matchesLabels,
} from '../../../src/model/selector/label-selector-compile.ts';
import { labelKeyProblem, labelValueProblem } from '../../../src/model/selector/label-syntax.ts';

const expression = (key: string, operator: string, values?: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, values }],
});

describe('compiled label selectors match as in Kubernetes', () => {
  const cases: {
    name: string;
    selector: LabelSelector | undefined;
    labels: Record<string, string>;
    want: boolean;
  }[] = [
    { name: 'absent matches nothing', selector: undefined, labels: {}, want: false },
    { name: 'empty matches everything', selector: {}, labels: {}, want: true },
    {
      name: 'matchLabels equal',
      selector: { matchLabels: { a: 'b' } },
      labels: { a: 'b', c: 'd' },
      want: true,
    },
    {
      name: 'matchLabels other value',
      selector: { matchLabels: { a: 'b' } },
      labels: { a: 'c' },
      want: false,
    },
    {
      name: 'matchLabels empty value needs the key',
      selector: { matchLabels: { a: '' } },
      labels: {},
      want: false,
    },
    { name: 'In', selector: expression('a', 'In', ['x', 'y']), labels: { a: 'y' }, want: true },
    { name: 'In, key absent', selector: expression('a', 'In', ['x']), labels: {}, want: false },
    { name: 'NotIn', selector: expression('a', 'NotIn', ['x']), labels: { a: 'x' }, want: false },
    { name: 'NotIn, key absent', selector: expression('a', 'NotIn', ['x']), labels: {}, want: true },
    { name: 'Exists with empty value', selector: expression('a', 'Exists'), labels: { a: '' }, want: true },
    { name: 'DoesNotExist', selector: expression('a', 'DoesNotExist'), labels: { a: '' }, want: false },
    {
      name: 'inherited names are no labels',
      selector: expression('constructor', 'Exists'),
      labels: {},
      want: false,
    },
    {
      name: 'all parts must hold',
      selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] },
      labels: { a: 'b' },
      want: false,
    },
  ];
  it.each(cases)('$name', ({ selector, labels, want }) => {
    const compiled = compileLabelSelector(selector);
    expect(compiled.ok && matchesLabels(compiled.selector, labels)).toBe(want);
  });

  it('knows __proto__ as a plain key', () => {
    const labels = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    expect(compileLabelSelector(expression('__proto__', 'Exists'))).toMatchObject({ ok: false });
    expect(
      matchesLabels(
        { requirements: [{ key: '__proto__', operator: 'Exists', values: [] }], nothing: false },
        labels,
      ),
    ).toBe(true);
  });

  it.each([
    [expression('a', 'In', []), '"a", operator In'],
    [expression('a', 'NotIn'), '"a", operator NotIn'],
    [expression('a', 'Exists', ['x']), '"a", operator Exists'],
    [expression('a', 'Gt', ['1']), '"Gt"'],
    [expression('a', 'Bad'), '"Bad"'],
    [expression('-a', 'Exists'), '"-a"'],
    [expression('a/b/c', 'Exists'), '"a/b/c"'],
    [expression('A.b/c', 'Exists'), '"A.b/c"'],
    [expression('', 'Exists'), 'key ""'],
    [{ matchLabels: { a: 'b c' } }, '"b c"'],
    [{ matchLabels: { a: 'x'.repeat(64) } }, '63'],
  ] as [LabelSelector, string][])('refuses %j and names what is wrong', (selector, named) => {
    const compiled = compileLabelSelector(selector);
    expect(compiled.ok ? '' : compiled.error).toContain(named);
  });
});

describe('label syntax', () => {
  it.each(['a', 'a.b/c', 'A_b-c.d', '9', 'example.com/Name', 'x'.repeat(63)])('key %s', (key) => {
    expect(labelKeyProblem(key)).toBeUndefined();
  });
  it.each(['', '/a', 'a/', '-a', 'a-', 'ä', 'x'.repeat(64), `${'a'.repeat(254)}/b`, 'a b', 'a..b/c'])(
    'no key %s',
    (key) => {
      expect(labelKeyProblem(key)).toBeDefined();
    },
  );
  it('takes the empty value, refuses blanks', () => {
    expect(labelValueProblem('')).toBeUndefined();
    expect(labelValueProblem('a b')).toBeDefined();
  });
});
