import { matchesLabels } from '../../../core/model/selector/label-selector-compile.ts';
import type { LabelMap } from '../../../core/model/selector/label-selector-requirement.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { objectAt, withoutKey } from '../../json/json-value.ts';
import type { ResourceRef } from '../../schema/resource-definition.ts';
import type { Scheme } from '../../scheme/scheme.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { forbidden, notFound } from '../../wire/status-errors.ts';
import type { AdmissionAttributes } from './admission-attributes.ts';
import { admissionRequest } from './admission-review.ts';
import { evaluateConditions } from './match-conditions.ts';
import { matchesRule } from './match-rules.ts';
import type { AdmissionWebhook } from './webhook-configurations.ts';

/** What selecting needs to know of the hub. */
export interface SelectionSources {
  readonly store: ObjectStore;
  readonly scheme: Scheme;
  /** @throws ConversionNeeded */
  readonly toVersion: (object: JsonObject, ref: ResourceRef) => JsonObject;
}

/** A webhook that is to be asked, with the question in the version that it wants. */
export interface Invocation {
  readonly webhook: AdmissionWebhook;
  readonly ref: ResourceRef;
  readonly request: JsonObject;
}

/**
 * Whether and how a webhook is asked about a write. Source: apiserver `pkg/admission/plugin/webhook/generic/webhook.go`.
 * @throws StatusError 404 when its namespace is not there, 403 when a condition fails and the webhook fails closed
 */
export function selectWebhook(
  webhook: AdmissionWebhook,
  attributes: AdmissionAttributes,
  sources: SelectionSources,
): Invocation | undefined {
  if (!matchesObject(webhook, attributes)) return undefined;
  const ref = matchingRef(webhook, attributes, sources.scheme);
  if (ref === undefined || !matchesNamespace(webhook, attributes, sources.store)) return undefined;
  const seenAs = (object: JsonObject | undefined): JsonObject | null => {
    if (object === undefined) return null;
    const same = ref.version === attributes.ref.version || attributes.subresource === 'scale';
    return same ? object : sources.toVersion(object, ref);
  };
  const seen = { ref, object: seenAs(attributes.object), oldObject: seenAs(attributes.old) };
  const request = admissionRequest(attributes, seen);
  return meetsConditions(webhook, attributes, request) ? { webhook, ref, request } : undefined;
}

function labelsOf(object: JsonObject | undefined): LabelMap {
  return (objectAt(objectAt(object, 'metadata'), 'labels') ?? {}) as LabelMap;
}

function matchesObject({ objectSelector }: AdmissionWebhook, { object, old }: AdmissionAttributes): boolean {
  if (objectSelector === undefined) return true;
  return [object, old].some((one) => one !== undefined && matchesLabels(objectSelector, labelsOf(one)));
}

function matchesNamespace(
  { namespaceSelector }: AdmissionWebhook,
  { ref, namespace, object, operation, subresource }: AdmissionAttributes,
  store: ObjectStore,
): boolean {
  if (namespaceSelector === undefined || namespace === '') return true;
  const itself = ref.definition.storageKey === 'namespaces' && subresource === '' && operation !== 'DELETE';
  if (itself) return matchesLabels(namespaceSelector, labelsOf(object));
  const stored = store.get({ storage: 'namespaces', namespace: '', name: namespace });
  if (stored === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace);
  return matchesLabels(namespaceSelector, labelsOf(stored.object));
}

/** The version that a rule names: the one of the request, else, where equivalents count, the first other one of the same objects. */
function matchingRef(
  { rules, equivalent }: AdmissionWebhook,
  { ref, operation, subresource, namespace }: AdmissionAttributes,
  scheme: Scheme,
): ResourceRef | undefined {
  const named = (one: ResourceRef, rule: (typeof rules)[number]): boolean =>
    matchesRule(rule, {
      operation,
      subresource,
      namespace,
      group: one.definition.group,
      version: one.version.name,
      resource: one.definition.plural,
    });
  if (rules.some((rule) => named(ref, rule))) return ref;
  if (!equivalent) return undefined;
  const others = equivalentsOf(ref, scheme);
  for (const rule of rules) {
    const other = others.find((one) => named(one, rule));
    if (other !== undefined) return other;
  }
  return undefined;
}

/** Other versions, and other resources that show the same objects. */
function equivalentsOf({ definition, version }: ResourceRef, scheme: Scheme): readonly ResourceRef[] {
  const same = scheme.definitions().filter(({ storageKey }) => storageKey === definition.storageKey);
  return same
    .flatMap((one) => one.versions.map((other) => ({ definition: one, version: other })))
    .filter((one) => one.version.served && one.version !== version);
}

function meetsConditions(
  webhook: AdmissionWebhook,
  { ref, name }: AdmissionAttributes,
  request: JsonObject,
): boolean {
  const { matchConditions, failsOpen } = webhook;
  if (matchConditions.length === 0) return true;
  const { object, oldObject } = request;
  const outcome = evaluateConditions(matchConditions, {
    object: object as JsonObject | null,
    oldObject: oldObject as JsonObject | null,
    request: withoutKey(withoutKey(request, 'object'), 'oldObject'),
  });
  if (typeof outcome === 'boolean') return outcome;
  if (failsOpen) return false;
  throw forbidden(ref.definition, name, outcome.error);
}
