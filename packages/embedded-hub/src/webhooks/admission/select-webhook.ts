import type { Authorizer } from '../../auth/rbac/authorizer.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { withoutKey } from '../../json/json-value.ts';
import type { ResourceRef } from '../../schema/resource-definition.ts';
import type { Scheme } from '../../scheme/scheme.ts';
import type { ObjectStore } from '../../store/object-store.ts';
import { forbidden } from '../../wire/status-errors.ts';
import type { AdmissionAttributes } from './admission-attributes.ts';
import { AdmissionAuthority, authorizerVariables } from './admission-authority.ts';
import { admissionRequest } from './admission-review.ts';
import { evaluateConditions } from './match-conditions.ts';
import { matchedRef, inMatchedVersion } from './match-constraints.ts';
import type { AdmissionWebhook } from './webhook-configurations.ts';

/** The state of the hub that selection depends on. */
export interface SelectionSources {
  readonly store: ObjectStore;
  readonly scheme: Scheme;
  readonly authorizer: Authorizer;
  /** @throws ConversionNeeded */
  readonly toVersion: (object: JsonObject, ref: ResourceRef) => JsonObject;
}

/** A webhook to call, with the request in the version of its rule. */
export interface Invocation {
  readonly webhook: AdmissionWebhook;
  readonly ref: ResourceRef;
  readonly request: JsonObject;
}

/**
 * Whether and with which request a webhook is called for a write. Source: apiserver
 * `pkg/admission/plugin/webhook/generic/webhook.go`.
 * @throws StatusError 404 when its namespace does not exist, 403 when a condition fails and the
 * failure policy is Fail
 */
export function selectWebhook(
  webhook: AdmissionWebhook,
  attributes: AdmissionAttributes,
  sources: SelectionSources,
): Invocation | undefined {
  const ref = matchedRef(webhook, attributes, sources);
  if (ref === undefined) return undefined;
  const request = admissionRequest(attributes, inMatchedVersion(attributes, ref, sources));
  return meetsConditions(webhook, [attributes, request], sources) ? { webhook, ref, request } : undefined;
}

function meetsConditions(
  { matchConditions, failsOpen }: AdmissionWebhook,
  [attributes, request]: readonly [AdmissionAttributes, JsonObject],
  { authorizer }: SelectionSources,
): boolean {
  if (matchConditions.length === 0) return true;
  const { object, oldObject } = request;
  const outcome = evaluateConditions(matchConditions, {
    object: object as JsonObject | null,
    oldObject: oldObject as JsonObject | null,
    request: withoutKey(withoutKey(request, 'object'), 'oldObject'),
    namespaceObject: null,
    params: null,
    ...authorizerVariables(new AdmissionAuthority(authorizer, attributes.user), attributes),
  });
  if (typeof outcome.result === 'boolean') return outcome.result;
  if (failsOpen) return false;
  throw forbidden(attributes.ref.definition, attributes.name, outcome.result.error);
}
