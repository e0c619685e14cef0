import type { Difference } from '../webhooks/allowed-differences.ts';
import type { StepResult } from '../webhooks/scenario.ts';

/** What the hub finds wrong with the one expression of a policy. */
function badExpression(expression: string, problem: string): Pick<StepResult, 'body'> {
  const field = 'spec.validations[0].expression';
  const message = `Invalid value: ${JSON.stringify(expression)}: compilation failed: ERROR: ${problem}`;
  const [group, kind] = ['admissionregistration.k8s.io', 'ValidatingAdmissionPolicy'];
  return {
    body: {
      apiVersion: 'v1',
      code: 422,
      details: { causes: [{ field, message, reason: 'FieldValueInvalid' }], group, kind, name: 'bad' },
      kind: 'Status',
      message: `${kind}.${group} "bad" is invalid: ${field}: ${message}`,
      metadata: {},
      reason: 'Invalid',
      status: 'Failure',
    },
  };
}

const TWO = 'nobody.x == 1 && nothing.y == 2';

/** By scenario and number of the step. */
export const ALLOWED_POLICY_DIFFERENCES: Readonly<Record<string, Readonly<Record<number, Difference>>>> = {
  'policy: refused: a syntax error': {
    0: {
      why: 'The sentence about a mistake of syntax is that of the parser, cel-js; the place is the same.',
      answer: badExpression(
        'object.',
        '<input>:1:8: Syntax error: Expected IDENTIFIER, got EOF\n | object.\n | .......^',
      ),
    },
  },
  'policy: refused: two mistakes': {
    0: {
      why: 'The first mistake of an expression ends its compilation here.',
      answer: badExpression(
        TWO,
        `<input>:1:1: undeclared reference to 'nobody' (in container '')\n | ${TWO}\n | ^`,
      ),
    },
  },
};
