import type { CelProgram } from '../../core/cel/compile-cel.ts';
import { compileValidation } from '../../core/cel/validation-cel.ts';
import type { FieldPath } from '../admit/field-path.ts';
import { child, pathText } from '../admit/field-path.ts';
import { invalidValue, required, unsupportedValue } from '../admit/field-problems.ts';
import type { JsonObject } from '../json/json-value.ts';
import { getOwn, isObject, listAt, textAt } from '../json/json-value.ts';
import type { FieldProblem } from '../status/status-errors.ts';

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/**
 * What is wrong with the `x-kubernetes-validations` of one place of a schema. Compiled here once, so that little can fail later.
 * @param uncorrelated the list above whose items cannot be told from those before an update, if there is one
 */
export function ruleProblems(
  schema: JsonObject,
  path: FieldPath,
  uncorrelated: FieldPath | undefined,
): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [index, rule] of listAt(schema, 'x-kubernetes-validations').entries())
    if (isObject(rule))
      checkRule(
        rule,
        { place: child(child(path, 'x-kubernetes-validations'), index), uncorrelated },
        problems,
      );
  return problems;
}

interface RulePlace {
  readonly place: FieldPath;
  readonly uncorrelated: FieldPath | undefined;
}

function checkRule(rule: JsonObject, { place, uncorrelated }: RulePlace, problems: FieldProblem[]): void {
  const text = textAt(rule, 'rule');
  if (text.trim() === '') problems.push(required(child(place, 'rule'), 'rule is not specified'));
  const program = compiled(text, 'bool', { place: child(place, 'rule'), problems });
  compiled(textAt(rule, 'messageExpression'), 'string', {
    place: child(place, 'messageExpression'),
    problems,
  });
  const reason = textAt(rule, 'reason');
  if (reason !== '' && !REASONS.includes(reason))
    problems.push(unsupportedValue(child(place, 'reason'), reason, REASONS));
  const message = textAt(rule, 'message');
  if (/[\n\r]/.test(message))
    problems.push(invalidValue(child(place, 'message'), message, 'message must not contain line breaks'));
  if (program === undefined) return;
  const transition = program.usedVariables.has('oldSelf');
  const optional = getOwn(rule, 'optionalOldSelf');
  if (transition && uncorrelated !== undefined) {
    const within = pathText(uncorrelated);
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${within}`;
    problems.push(invalidValue(child(place, 'rule'), text, detail));
  } else if (!transition && optional !== undefined) {
    const detail = 'may not be set if oldSelf is not used in rule';
    problems.push(invalidValue(child(place, 'optionalOldSelf'), optional, detail));
  }
}

function compiled(
  expression: string,
  type: 'bool' | 'string',
  where: { readonly place: FieldPath; readonly problems: FieldProblem[] },
): CelProgram | undefined {
  if (expression.trim() === '') return undefined;
  const found = compileValidation(expression);
  const problem = !found.ok
    ? `compilation failed: ${found.problem.message}`
    : found.program.type.name === type || found.program.type.name === 'dyn'
      ? undefined
      : `compilation failed: must evaluate to a ${type}`;
  if (problem !== undefined) where.problems.push(invalidValue(where.place, expression, problem));
  return found.ok && problem === undefined ? found.program : undefined;
}
