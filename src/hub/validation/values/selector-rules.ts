import { labelValue, qualifiedName } from '../../../core/model/selector/name-rules.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import { checkLabelMap } from './metadata-rules.ts';
import type { Place } from './place.ts';

/** A label selector. Source: apimachinery, pkg/apis/meta/v1/validation (ValidateLabelSelector). */
export function checkSelector(selector: JsonObject | undefined, at: Place): void {
  if (selector === undefined) return;
  checkLabelMap(selector, 'matchLabels', at);
  at.each(selector, 'matchExpressions', checkRequirement);
}

function checkRequirement(requirement: JsonObject, at: Place): void {
  const [operator, count] = [textAt(requirement, 'operator'), listAt(requirement, 'values').length];
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) at.at('values').required("must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    if (count > 0) at.at('values').forbidden(detail);
  } else at.at('operator').invalid(operator, 'not a valid selector operator');
  at.at('key').named(textAt(requirement, 'key'), qualifiedName);
  for (const [index, value] of textsAt(requirement, 'values').entries())
    at.at('values').at(index).named(value, labelValue);
}

export function isEmptySelector(selector: JsonObject | undefined): boolean {
  return (
    Object.keys(objectAt(selector, 'matchLabels') ?? {}).length === 0 &&
    listAt(selector, 'matchExpressions').length === 0
  );
}

/** Whether labels can be compared with a selector at all. An absent selector can be: it selects nothing. */
export function isCompilable(selector: JsonObject | undefined): boolean {
  const pairs = Object.entries(objectAt(selector, 'matchLabels') ?? {});
  const plain = pairs.every(
    ([key, value]) =>
      qualifiedName(key).length === 0 && typeof value === 'string' && labelValue(value).length === 0,
  );
  return plain && listAt(selector, 'matchExpressions').every((one) => isObject(one) && isRequirement(one));
}

function isRequirement(requirement: JsonObject): boolean {
  const [operator, values] = [textAt(requirement, 'operator'), textsAt(requirement, 'values')];
  if (qualifiedName(textAt(requirement, 'key')).length > 0) return false;
  if (operator === 'In' || operator === 'NotIn')
    return values.length > 0 && values.every((value) => labelValue(value).length === 0);
  return (operator === 'Exists' || operator === 'DoesNotExist') && values.length === 0;
}

/** Whether a compilable selector selects those labels. */
export function selects(selector: JsonObject, labels: JsonObject): boolean {
  const equal = Object.entries(objectAt(selector, 'matchLabels') ?? {}).every(
    ([key, value]) => getOwn(labels, key) === value,
  );
  return equal && listAt(selector, 'matchExpressions').every((one) => !isObject(one) || meets(one, labels));
}

function meets(requirement: JsonObject, labels: JsonObject): boolean {
  const value = getOwn(labels, textAt(requirement, 'key'));
  const isListed = typeof value === 'string' && textsAt(requirement, 'values').includes(value);
  switch (textAt(requirement, 'operator')) {
    case 'In':
      return isListed;
    case 'NotIn':
      return !isListed;
    case 'Exists':
      return value !== undefined;
    default:
      return value === undefined;
  }
}
