import { expect, it } from 'vitest';
import { describeProblem, excerptOf, problemText } from '../../../src/core/sources/describe-problem.ts';

const FILE = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n\nspec:\n\tx: 1\n';

it.each([
  ['the lines around', FILE, 3, ['2 kind: ConfigMap', '3 metadata:', '4   name: a']],
  ['no blank lines beside it', FILE, 6, ['6 spec:', '7 \tx: 1']],
  ['the first line', FILE, 1, ['1 apiVersion: v1', '2 kind: ConfigMap']],
  ['nothing beyond the end', FILE, 90, []],
  ['nothing of a file with a Secret', `${FILE}---\nkind: Secret\n`, 3, []],
  ['nothing of a JSON file with a Secret', '{\n "kind": "Secret",\n "data": {}\n}', 3, []],
  ['a part of a long line', `a: ${'x'.repeat(500)}`, 1, [`1 a: ${'x'.repeat(117)}`]],
])('shows %s', (_name, text, line, want) => {
  expect(excerptOf(text, { line }).map((one) => `${one.line} ${one.text}`)).toEqual(want);
});

it('marks the place below its line, in as many columns as the numbers need', () => {
  const location = { file: 'a.yaml', line: 10, column: 3 };
  const excerpt = [
    { line: 9, text: 'spec:' },
    { line: 10, text: '  x: 1' },
  ];
  expect(
    describeProblem({ severity: 'error', code: 'x', message: 'is wrong', location, excerpt }).excerpt,
  ).toEqual(['   9 | spec:', '> 10 |   x: 1', '     |   ^']);
});

it('is one line with place, object and hint', () => {
  const location = { file: 'a.yaml', line: 4, column: 3 };
  const problem = { severity: 'error', code: 'x', message: 'is wrong', hint: 'remove it' } as const;
  expect(problemText({ ...problem, location, object: 'Placement shop/web' })).toBe(
    'a.yaml:4:3: Placement shop/web: is wrong (remove it)',
  );
  expect(problemText(problem)).toBe('is wrong (remove it)');
});
