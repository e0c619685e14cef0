import { labelValue, qualifiedName } from '../admit/name-rules.ts';
import type { JsonObject } from '../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, textAt, textsAt } from '../json/json-value.ts';
import type { Place } from './place.ts';
import { checkPodTemplate } from './pod/pod-rules.ts';
import { isEmptySelector } from './selector-rules.ts';

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

function selects(selector: JsonObject, labels: JsonObject): boolean {
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

/** Reports a template whose pods the workload would not find. An absent selector selects nothing, an empty one everything. */
export function matchesTemplate(spec: JsonObject, at: Place): void {
  const selector = objectAt(spec, 'selector');
  const template = objectAt(spec, 'template');
  const labels = objectAt(objectAt(template, 'metadata'), 'labels');
  if (selector !== undefined && (isEmptySelector(selector) || selects(selector, labels ?? {}))) return;
  const place = at.at('template').at('metadata').at('labels');
  place.invalid(labels, '`selector` does not match template `labels`');
}

/** A template of pods that a controller keeps running. Source: pkg/apis/apps/validation. */
export function checkOwnedTemplate(spec: JsonObject, kind: string, at: Place): void {
  matchesTemplate(spec, at);
  const template = objectAt(spec, 'template') ?? {};
  checkPodTemplate(template, at.at('template'));
  const pod = objectAt(template, 'spec');
  const place = at.at('template').at('spec');
  const policy = textAt(pod, 'restartPolicy') || 'Always';
  if (policy !== 'Always') place.at('restartPolicy').unsupported(policy, ['Always']);
  if (getOwn(pod ?? {}, 'activeDeadlineSeconds') !== undefined)
    place.at('activeDeadlineSeconds').forbidden(`activeDeadlineSeconds in ${kind} is not Supported`);
}
