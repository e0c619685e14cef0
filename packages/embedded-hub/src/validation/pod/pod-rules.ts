import {
  type JsonObject,
  getOwn,
  listAt,
  objectAt,
  textAt,
  type JsonValue,
  deepEqual,
  isObject,
  numberAt,
} from '../../json/json-value.ts';
import type { FieldReporter, KindRules } from '../values/field-reporter.ts';
import { checkTemplateMetadata, isEmptySelector, selects } from '../values/metadata-rules.ts';
import { semanticEqual } from '../values/semantic-equal.ts';
import { checkPodSpec } from './pod-spec.ts';

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

const UPDATABLE =
  '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

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

/**
 * Which fields of an existing pod may change. Source: pkg/apis/core/validation (ValidatePodUpdate).
 */
function checkPodChange(spec: JsonObject, old: JsonObject, at: FieldReporter): void {
  for (const list of ['containers', 'initContainers']) {
    if (listAt(spec, list).length !== listAt(old, list).length) {
      at.at(list).forbidden('pod updates may not add or remove containers');
      return;
    }
    at.each(spec, list, (container, place) => {
      if (textAt(container, 'image') === '') place.at('image').required();
      checkImageText(container, place.at('image'));
    });
  }
  if (!checkDeadline(spec, old, at.at('activeDeadlineSeconds'))) return;
  checkTolerations(spec, old, at.at('tolerations'));
  checkNewGates(spec, old, at.at('schedulingGates'));
  const gated = listAt(old, 'schedulingGates').length > 0;
  if (gated) checkNarrowed(spec, old, at);
  if (!semanticEqual(fixedPart(spec, gated), fixedPart(old, gated)))
    at.forbidden(`pod updates may not change fields other than ${UPDATABLE}`);
}

function checkImageText(container: JsonObject, at: FieldReporter): void {
  const image = textAt(container, 'image');
  if (image.trim() !== image) at.invalid(image, 'must not have leading or trailing whitespace');
}

/** @returns false if the remaining fields are not checked */
function checkDeadline(spec: JsonObject, old: JsonObject, at: FieldReporter): boolean {
  const [now, before] = [numberAt(spec, 'activeDeadlineSeconds'), numberAt(old, 'activeDeadlineSeconds')];
  if (now === undefined) {
    if (before !== undefined) at.invalid(null, 'must not update from a positive integer to nil value');
    return true;
  }
  const max = 2 ** 31 - 1;
  if (now < 0 || now > max) at.inRange(now, 0, max);
  else if (before !== undefined && before < now)
    at.invalid(now, 'must be less than or equal to previous value');
  else return true;
  return false;
}

function checkTolerations(spec: JsonObject, old: JsonObject, at: FieldReporter): void {
  const plain = (toleration: JsonValue): JsonValue => {
    if (!isObject(toleration)) return toleration;
    const { tolerationSeconds: _seconds, ...rest } = toleration;
    return rest;
  };
  const now = listAt(spec, 'tolerations').map(plain);
  const kept = listAt(old, 'tolerations').every((one) => now.some((other) => deepEqual(plain(one), other)));
  if (!kept) at.forbidden('existing toleration can not be modified except its tolerationSeconds');
}

function checkNewGates(spec: JsonObject, old: JsonObject, at: FieldReporter): void {
  const known = new Set(listAt(old, 'schedulingGates').map((gate) => (isObject(gate) ? gate['name'] : '')));
  for (const [index, gate] of listAt(spec, 'schedulingGates').entries()) {
    const name = isObject(gate) ? textAt(gate, 'name') : '';
    if (known.has(name)) continue;
    const detail = `only deletion is allowed, but found new scheduling gate '${name}'`;
    at.at(index).at('name').forbidden(detail);
  }
}

/** Node affinity of a gated pod may only become narrower. */
function checkNarrowed(spec: JsonObject, old: JsonObject, at: FieldReporter): void {
  const selector = objectAt(spec, 'nodeSelector') ?? {};
  const kept = Object.entries(objectAt(old, 'nodeSelector') ?? {}).every(
    ([key, value]) => getOwn(selector, key) === value,
  );
  if (!kept) {
    const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
    at.at('nodeSelector').invalid(getOwn(spec, 'nodeSelector'), detail);
  }
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  const termsOf = (one: JsonObject): JsonObject | undefined =>
    objectAt(objectAt(objectAt(one, 'affinity'), 'nodeAffinity'), required);
  const place = at.at('affinity').at('nodeAffinity').at(required).at('nodeSelectorTerms');
  checkTerms(termsOf(spec), listAt(termsOf(old), 'nodeSelectorTerms'), place);
}

function checkTerms(now: JsonObject | undefined, old: readonly JsonValue[], at: FieldReporter): void {
  const terms = listAt(now, 'nodeSelectorTerms');
  if (old.length === 0) return;
  if (old.length !== terms.length) {
    const detail = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    at.invalid(getOwn(now ?? {}, 'nodeSelectorTerms'), detail);
    return;
  }
  for (const [index, term] of old.entries()) {
    const found = terms[index];
    if (isObject(term) && isObject(found) && startsWithTerm(found, term)) continue;
    at.at(index).invalid(found, 'only additions are allowed (no mutations or deletions)');
  }
}

function startsWithTerm(term: JsonObject, old: JsonObject): boolean {
  if (listAt(old, 'matchExpressions').length === 0 && listAt(old, 'matchFields').length === 0)
    return semanticEqual(term, old);
  return ['matchExpressions', 'matchFields'].every((key) =>
    listAt(old, key).every((one, index) => deepEqual(one, listAt(term, key)[index] ?? null)),
  );
}

/**
 * The spec without the fields that may change. The scheduling rules of a gated pod may change, too.
 */
function fixedPart(spec: JsonObject, gated: boolean): JsonObject {
  const {
    activeDeadlineSeconds: _deadline,
    tolerations: _tolerations,
    schedulingGates: _gates,
    ...rest
  } = spec;
  const withoutImages = (list: string): JsonValue =>
    listAt(spec, list).map((container) => (isObject(container) ? { ...container, image: '' } : container));
  const fixed: JsonObject = {
    ...rest,
    containers: withoutImages('containers'),
    initContainers: withoutImages('initContainers'),
  };
  if (gated) {
    delete fixed['nodeSelector'];
    const { nodeAffinity: _nodes, ...affinity } = objectAt(spec, 'affinity') ?? {};
    fixed['affinity'] = Object.keys(affinity).length === 0 ? null : affinity;
  }
  return fixed;
}

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
