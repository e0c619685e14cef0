import { celProblemText } from '@berth/kube-cel/value/cel-problem';
import type { CelProgram } from '@berth/kube-cel/compile-cel';
import { compileValidation } from '@berth/kube-cel/validation-cel';
import type { FieldPath } from '../schema/field-path.ts';
import { child, pathText } from '../schema/field-path.ts';
import { invalidValue, required, unsupportedValue } from '../schema/field-problems.ts';
import type { JsonObject } from '../json/json-value.ts';
import { getOwn, isObject, listAt, textAt } from '../json/json-value.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { chargeWork } from '../json/work-budget.ts';
import { undefinedField } from './rule-fields.ts';

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

const STEPS_PER_RULE = 200;
const STEPS_PER_CHARACTER = 8;

/**
 * Problems of the `x-kubernetes-validations` at one place of a schema. Each rule is compiled here,
 * so that few can fail later.
 * @param uncorrelated the enclosing list whose items cannot be matched with those before an update,
 * if there is one
 */
export function ruleProblems(
  schema: JsonObject,
  path: FieldPath,
  uncorrelated: FieldPath | undefined,
): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const [index, rule] of listAt(schema, 'x-kubernetes-validations').entries()) {
    const place = child(child(path, 'x-kubernetes-validations'), index);
    if (isObject(rule)) checkRule(rule, { schema, place, uncorrelated }, problems);
  }
  return problems;
}

interface RulePlace {
  readonly schema: JsonObject;
  readonly place: FieldPath;
  readonly uncorrelated: FieldPath | undefined;
}

function checkRule(rule: JsonObject, at: RulePlace, problems: FieldProblem[]): void {
  const { schema, place, uncorrelated } = at;
  const names = { self: schema, oldSelf: rule['optionalOldSelf'] === true ? undefined : schema };
  const text = textAt(rule, 'rule');
  if (text.trim() === '') problems.push(required(child(place, 'rule'), 'rule is not specified'));
  const program = compiled(text, 'bool', { place: child(place, 'rule'), names, problems });
  compiled(textAt(rule, 'messageExpression'), 'string', {
    place: child(place, 'messageExpression'),
    names,
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

interface ExpressionPlace {
  readonly place: FieldPath;
  readonly names: Parameters<typeof undefinedField>[1];
  readonly problems: FieldProblem[];
}

function compiled(
  expression: string,
  type: 'bool' | 'string',
  { place, names, problems }: ExpressionPlace,
): CelProgram | undefined {
  if (expression.trim() === '') return undefined;
  chargeWork(STEPS_PER_RULE + expression.length * STEPS_PER_CHARACTER);
  const found = compileValidation(expression);
  const fault = found.ok ? undefinedField(expression, names) : found.problem;
  if (fault !== undefined) problems.push(invalidValue(place, expression, celProblemText(fault)));
  if (!found.ok || fault !== undefined) return undefined;
  const { program } = found;
  if (program.type.name === type || program.type.name === 'dyn') return program;
  problems.push(invalidValue(place, expression, `compilation failed: must evaluate to a ${type}`));
  return undefined;
}
