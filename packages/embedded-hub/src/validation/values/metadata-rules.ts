import {
  compileLabelSelector,
  matchesLabels,
  type SelectorCompilation,
} from '@berth/kube/model/selector/label-selector-compile';
import type { LabelMap } from '@berth/kube/model/selector/label-selector-requirement';
import { dnsSubdomain, pathSegment, labelValue, qualifiedName } from '@berth/kube/model/selector/name-rules';
import { type JsonObject, listAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import { child } from '../../schema/field-path.ts';
import {
  checkAnnotations,
  checkLabels,
  validateChangedMetadata,
  validateNames,
  validateNewMetadata,
} from '../../schema/validate-metadata.ts';
import type { FieldReporter, KindRules } from './field-reporter.ts';

/**
 * Metadata of a built-in object. On update the API server validates it up to four times, and
 * reports each problem each time.
 */
export function checkMetadata(
  rules: KindRules | undefined,
  object: JsonObject,
  at: FieldReporter,
  old: JsonObject | undefined,
): void {
  if (old === undefined) {
    validateNewMetadata(object, rules?.name ?? dnsSubdomain, at.problems);
    checkFinalizerNames(rules, object, at);
    return;
  }
  checkChanged(rules, object, at);
}

function checkChanged(rules: KindRules | undefined, object: JsonObject, at: FieldReporter): void {
  const { problems } = at;
  const known = problems.length;
  validateNewMetadata(object, pathSegment, problems);
  // A repeated check finds nothing new, except for the names, which follow another rule.
  const clean = problems.length === known;
  const asNew = clean ? validateNames : validateNewMetadata;
  const checks = rules?.metadataChecks ?? 3;
  const name = rules?.name ?? dnsSubdomain;
  if (!clean) validateChangedMetadata(object, problems);
  if (checks === 2) return;
  if (checks !== 'new') {
    if (checks === 'new twice') asNew(object, name, problems);
    else if (!clean) validateChangedMetadata(object, problems);
    checkFinalizerNames(rules, object, at);
  }
  if (checks === 3) return;
  asNew(object, name, problems);
  checkFinalizerNames(rules, object, at);
}

const STANDARD_FINALIZERS = new Set(['kubernetes', 'orphan', 'foregroundDeletion']);

/** Source: pkg/apis/core/validation (validateKubeFinalizerName). */
function checkFinalizerNames(rules: KindRules | undefined, object: JsonObject, at: FieldReporter): void {
  if (rules?.anyFinalizer === true) return;
  const finalizers = listAt(objectAt(object, 'metadata'), 'finalizers');
  for (const [index, finalizer] of finalizers.entries()) {
    if (typeof finalizer !== 'string' || finalizer.includes('/') || STANDARD_FINALIZERS.has(finalizer))
      continue;
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    at.at('metadata').at('finalizers').at(index).invalid(finalizer, detail);
  }
}

/**
 * Labels and annotations in the metadata of a template.
 * @param at the field that problems are reported at
 */
export function checkTemplateMetadata(template: JsonObject, at: FieldReporter): void {
  const metadata = objectAt(template, 'metadata');
  checkLabelMap(metadata, 'labels', at);
  const annotations = objectAt(metadata, 'annotations');
  if (annotations !== undefined) checkAnnotations(annotations, child(at.path, 'annotations'), at.problems);
}

/** The labels in a field of an object. */
export function checkLabelMap(owner: JsonObject | undefined, key: string, at: FieldReporter): void {
  const labels = objectAt(owner, key);
  if (labels !== undefined) checkLabels(labels, child(at.path, key), at.problems);
}

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
