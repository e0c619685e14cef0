import type { JsonObject } from '../../json/json-value.ts';
import { getOwn, listAt, objectAt, textAt } from '../../json/json-value.ts';
import type { KindRules } from '../values/kind-rules.ts';
import { checkTemplateMetadata } from '../values/metadata-rules.ts';
import type { FieldReporter } from '../values/field-reporter.ts';
import { checkPodSpec } from './pod-spec.ts';
import { checkImageText, checkPodChange } from './pod-update.ts';

/** Source: pkg/apis/core/validation (ValidatePodCreate, ValidatePodUpdate). */
export const POD_RULES: KindRules = {
  metadataChecks: 4,
  validate: (pod, at, old) => {
    const spec = objectAt(pod, 'spec') ?? {};
    const place = at.at('spec');
    checkPodAnnotations(pod, at.at('metadata').at('annotations'));
    checkPodSpec(spec, textAt(objectAt(pod, 'metadata'), 'name'), place);
    for (const list of ['containers', 'initContainers'])
      place.each(spec, list, (container, at) => checkImageText(container, at.at('image')));
    if (old !== undefined) checkPodChange(spec, objectAt(old, 'spec') ?? {}, place);
    else checkNewPod(spec, place);
  },
};

function checkNewPod(spec: JsonObject, at: FieldReporter): void {
  if (listAt(spec, 'ephemeralContainers').length > 0)
    at.at('ephemeralContainers').forbidden('cannot be set on create');
  if (textAt(spec, 'nodeName') !== '' && listAt(spec, 'schedulingGates').length > 0)
    at.at('nodeName').forbidden('cannot be set until all schedulingGates have been cleared');
}

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

function checkPodAnnotations(owner: JsonObject, at: FieldReporter): void {
  const cost = getOwn(objectAt(objectAt(owner, 'metadata'), 'annotations') ?? {}, DELETION_COST);
  if (typeof cost !== 'string') return;
  const isInt32 = /^-?(0|[1-9]\d*)$/.test(cost) && Math.abs(Number(cost)) < 2 ** 31;
  if (!isInt32) at.entry(DELETION_COST).invalid(cost, 'must be a 32bit integer');
}

/** A pod template. Source: pkg/apis/core/validation (ValidatePodTemplateSpec). */
export function checkPodTemplate(template: JsonObject, at: FieldReporter): void {
  checkTemplateMetadata(template, at);
  checkPodAnnotations(template, at.at('annotations'));
  const spec = objectAt(template, 'spec') ?? {};
  checkPodSpec(spec, undefined, at.at('spec'));
  if (listAt(spec, 'ephemeralContainers').length > 0)
    at.at('spec').at('ephemeralContainers').forbidden('ephemeral containers not allowed in pod template');
}

/** Source: pkg/apis/core/validation (ValidatePodTemplate). */
export const POD_TEMPLATE_RULES: KindRules = {
  validate: (owner, at) => checkPodTemplate(objectAt(owner, 'template') ?? {}, at.at('template')),
};
