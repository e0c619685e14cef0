import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, objectAt, textAt } from '../../json/json-value.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { checkPodTemplate } from '../pod/pod-rules.ts';
import { isEmptySelector, selects } from '../values/selector-rules.ts';

/**
 * Reports a pod template whose labels the selector does not match. An absent selector matches
 * nothing, an empty one everything.
 */
export function checkTemplateLabels(spec: JsonObject, at: FieldReporter): void {
  const selector = objectAt(spec, 'selector');
  const template = objectAt(spec, 'template');
  const labels = objectAt(objectAt(template, 'metadata'), 'labels');
  if (selector !== undefined && (isEmptySelector(selector) || selects(selector, labels ?? {}))) return;
  const place = at.at('template').at('metadata').at('labels');
  place.invalid(labels, '`selector` does not match template `labels`');
}

/** The pod template of a controller. Source: pkg/apis/apps/validation. */
export function checkOwnedTemplate(spec: JsonObject, kind: string, at: FieldReporter): void {
  checkTemplateLabels(spec, at);
  const template = objectAt(spec, 'template') ?? {};
  checkPodTemplate(template, at.at('template'));
  checkAlwaysRunning(spec, kind, at);
}

/**
 * The pod template of a workload that runs forever.
 * @param kind the kind of the workload, in the message
 */
export function checkAlwaysRunning(spec: JsonObject, kind: string, at: FieldReporter): void {
  const pod = objectAt(objectAt(spec, 'template'), 'spec');
  const place = at.at('template').at('spec');
  const policy = textAt(pod, 'restartPolicy') || 'Always';
  if (policy !== 'Always') place.at('restartPolicy').unsupported(policy, ['Always']);
  if (getOwn(pod ?? {}, 'activeDeadlineSeconds') !== undefined)
    place.at('activeDeadlineSeconds').forbidden(`activeDeadlineSeconds in ${kind} is not Supported`);
}
