import { expect, it } from 'vitest';
import { InputError } from '@berth/runtime/errors';
import { errorProblem } from '../../../src/core/sources/describe-problem.ts';

const details = { code: 'rules.expression', subject: 'Rule few' };
const commit = 'ab'.repeat(20);
const location = { file: '.berth/rules.yaml', line: 3, column: 9 };

it.each([
  { name: 'with a place', given: { ...details, location }, want: { location } },
  {
    name: 'with a place of a commit',
    given: { ...details, location: { ...location, commit } },
    want: { location: { ...location, commit } },
  },
  { name: 'without a place', given: details, want: {} },
  { name: 'with a hint', given: { ...details, location, hint: 'look' }, want: { location, hint: 'look' } },
])('an error $name is a problem that says its place once', ({ given, want }) => {
  expect(errorProblem(new InputError('expected a bool (a.yaml:1:1)', given))).toEqual({
    severity: 'error',
    code: 'rules.expression',
    message: 'Rule few: expected a bool (a.yaml:1:1)',
    ...want,
  });
});
