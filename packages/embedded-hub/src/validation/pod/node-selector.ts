import { dnsSubdomain, labelValue, qualifiedName } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../../json/json-value.ts';
import { listAt, textAt, textsAt } from '../../json/json-value.ts';
import type { FieldReporter } from '../values/field-reporter.ts';

const NOT_VALID = 'not a valid selector operator';

/** Source: pkg/apis/core/validation (ValidateNodeSelector). */
export function checkNodeSelector(selector: JsonObject, at: FieldReporter): void {
  if (listAt(selector, 'nodeSelectorTerms').length === 0)
    at.at('nodeSelectorTerms').required('must have at least one node selector term');
  at.each(selector, 'nodeSelectorTerms', (term, place) => checkNodeTerm(term, true, place));
}

/**
 * @param checksValues false for preferences, which may name values that are not valid label values
 */
export function checkNodeTerm(term: JsonObject, checksValues: boolean, at: FieldReporter): void {
  at.each(term, 'matchExpressions', (requirement, place) => {
    checkOperator(requirement, place);
    place.at('key').validName(textAt(requirement, 'key'), qualifiedName);
    if (!checksValues) return;
    for (const [index, value] of textsAt(requirement, 'values').entries())
      place.at('values').at(index).validName(value, labelValue);
  });
  at.each(term, 'matchFields', checkField);
}

function checkOperator(requirement: JsonObject, at: FieldReporter): void {
  const [operator, count] = [textAt(requirement, 'operator'), listAt(requirement, 'values').length];
  const values = at.at('values');
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) values.required("must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (count !== 1) values.required("must be specified single value when `operator` is 'Lt' or 'Gt'");
  } else at.at('operator').invalid(operator, NOT_VALID);
}

function checkField(requirement: JsonObject, at: FieldReporter): void {
  const [operator, key] = [textAt(requirement, 'operator'), textAt(requirement, 'key')];
  if (operator !== 'In' && operator !== 'NotIn') at.at('operator').invalid(operator, NOT_VALID);
  else if (listAt(requirement, 'values').length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    at.at('values').required(detail);
  }
  if (key !== 'metadata.name') {
    at.at('key').invalid(key, 'not a valid field selector key');
    return;
  }
  for (const [index, value] of textsAt(requirement, 'values').entries())
    at.at('values').at(index).validName(value, dnsSubdomain);
}
