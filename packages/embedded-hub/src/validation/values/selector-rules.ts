import {
  compileLabelSelector,
  matchesLabels,
  type SelectorCompilation,
} from '@berth/kube/model/selector/label-selector-compile';
import type { LabelMap } from '@berth/kube/model/selector/label-selector-requirement';
import { labelValue, qualifiedName } from '@berth/kube/model/selector/name-rules';
import type { JsonObject } from '../../json/json-value.ts';
import { listAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import { checkLabelMap } from './metadata-rules.ts';
import type { FieldReporter } from './field-reporter.ts';

/** A label selector. Source: apimachinery, pkg/apis/meta/v1/validation (ValidateLabelSelector). */
export function checkSelector(selector: JsonObject | undefined, at: FieldReporter): void {
  if (selector === undefined) return;
  checkLabelMap(selector, 'matchLabels', at);
  at.each(selector, 'matchExpressions', checkRequirement);
}

function checkRequirement(requirement: JsonObject, at: FieldReporter): void {
  const [operator, count] = [textAt(requirement, 'operator'), listAt(requirement, 'values').length];
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) at.at('values').required("must be specified when `operator` is 'In' or 'NotIn'");
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    if (count > 0) at.at('values').forbidden(detail);
  } else at.at('operator').invalid(operator, 'not a valid selector operator');
  at.at('key').validName(textAt(requirement, 'key'), qualifiedName);
  for (const [index, value] of textsAt(requirement, 'values').entries())
    at.at('values').at(index).validName(value, labelValue);
}

/** Whether the selector has no requirement, so that it selects everything. */
export function isEmptySelector(selector: JsonObject | undefined): boolean {
  return (
    Object.keys(objectAt(selector, 'matchLabels') ?? {}).length === 0 &&
    listAt(selector, 'matchExpressions').length === 0
  );
}

/** Whether a selector is valid. An absent selector is valid and selects nothing. */
export function isCompilable(selector: JsonObject | undefined): boolean {
  return compile(selector).ok;
}

/** Whether a selector selects the labels; an invalid selector selects nothing. */
export function selects(selector: JsonObject, labels: JsonObject): boolean {
  const compiled = compile(selector);
  return compiled.ok && matchesLabels(compiled.selector, labels as LabelMap);
}

/** The schema has already checked the types. */
function compile(selector: JsonObject | undefined): SelectorCompilation {
  return compileLabelSelector(selector);
}
