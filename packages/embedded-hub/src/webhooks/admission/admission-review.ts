import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { getOwn, isObject, listAt, numberAt, objectAt, textAt, textsAt } from '../../json/json-value.ts';
import { userJson } from '../../auth/access-review.ts';
import type { ResourceRef } from '../../schema/resource-definition.ts';
import { StatusError } from '../../wire/status-error.ts';
import { reviewKindProblem } from '../webhook-error.ts';
import type { AdmissionAttributes } from './admission-attributes.ts';
import type { AdmissionWebhook, WebhookKind } from './webhook-configurations.ts';

/**
 * Renders AdmissionReview requests and validates the responses. Source: apiserver
 * `pkg/admission/plugin/webhook/request/admissionreview.go`.
 */

const REVIEW_GROUP = 'admission.k8s.io';
const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const REVIEW = { group: REVIEW_GROUP, kind: 'AdmissionReview', versions: REVIEW_VERSIONS };

/**
 * The AdmissionRequest of one write, in the version of the webhook's rule; without its uid, which
 * is new for each call.
 */
export function admissionRequest(
  attributes: AdmissionAttributes,
  matched: {
    readonly ref: ResourceRef;
    readonly object: JsonObject | null;
    readonly oldObject: JsonObject | null;
  },
): JsonObject {
  const { ref, subresource, name, namespace, operation, user, dryRun, options } = attributes;
  return {
    kind: kindOf(matched.ref, subresource),
    resource: resourceOf(matched.ref),
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: kindOf(ref, subresource),
    requestResource: resourceOf(ref),
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: userJson(user),
    object: matched.object,
    oldObject: matched.oldObject,
    dryRun,
    options,
  };
}

function kindOf({ definition, version }: ResourceRef, subresource: string): JsonObject {
  if (subresource === 'scale') return { group: 'autoscaling', version: 'v1', kind: 'Scale' };
  return { group: definition.group, version: version.name, kind: definition.kind };
}

function resourceOf({ definition, version }: ResourceRef): JsonObject {
  return { group: definition.group, version: version.name, resource: definition.plural };
}

/** `v1` or `v1beta1`, as the webhook prefers; undefined if it supports neither. */
export function reviewVersionOf({ reviewVersions }: AdmissionWebhook): string | undefined {
  return reviewVersions.find((version) => REVIEW_VERSIONS.includes(version));
}

export function admissionReview(version: string, uid: string, request: JsonObject): JsonObject {
  return {
    kind: 'AdmissionReview',
    apiVersion: `${REVIEW_GROUP}/${version}`,
    request: { uid, ...request },
  };
}

/** The outcome of a webhook call. `failed`: the call failed, or the response is invalid. */
export type ReviewOutcome =
  | { readonly kind: 'allowed'; readonly patch: JsonValue | undefined; readonly output: ReviewOutput }
  | { readonly kind: 'denied'; readonly error: StatusError; readonly output: ReviewOutput }
  | { readonly kind: 'failed'; readonly message: string };

export interface ReviewOutput {
  readonly warnings: readonly string[];
  readonly audit: Readonly<Record<string, string>>;
}

/** @param version the version of the request */
export function readReviewResponse(
  review: JsonObject,
  sent: {
    readonly uid: string;
    readonly version: string;
    readonly kind: WebhookKind;
    readonly name: string;
  },
): ReviewOutcome {
  const wrongKind = reviewKindProblem(review, sent.version, REVIEW);
  if (wrongKind !== undefined) return failed(`failed to call webhook: ${wrongKind}`);
  const response = objectAt(review, 'response');
  const problem = responseProblem(response, sent);
  if (response === undefined || problem !== undefined)
    return failed(`received invalid webhook response: ${problem ?? 'webhook response was absent'}`);
  const output = outputOf(response);
  if (response['allowed'] !== true) {
    return {
      kind: 'denied',
      error: denial(sent.name, objectAt(response, 'status')),
      output,
    };
  }
  const patch = textAt(response, 'patch');
  if (patch === '' || sent.kind === 'validating') return { kind: 'allowed', patch: undefined, output };
  return patchOutcome(patch, sent.version === 'v1' ? textAt(response, 'patchType') : 'JSONPatch', output);
}

function failed(message: string): ReviewOutcome {
  return { kind: 'failed', message };
}

function patchOutcome(patch: string, patchType: string, output: ReviewOutput): ReviewOutcome {
  let operations: JsonValue;
  try {
    operations = JSON.parse(Buffer.from(patch, 'base64').toString('utf8')) as JsonValue;
  } catch (error) {
    return failed(`received undecodable patch in webhook response: ${(error as Error).message}`);
  }
  if (!Array.isArray(operations))
    return failed('received undecodable patch in webhook response: a JSON patch is a list of operations');
  if (operations.length === 0) return { kind: 'allowed', patch: undefined, output };
  if (patchType !== 'JSONPatch') return failed(`unsupported patch type ${JSON.stringify(patchType)}`);
  return { kind: 'allowed', patch: operations, output };
}

function responseProblem(
  response: JsonObject | undefined,
  { uid, version, kind }: { readonly uid: string; readonly version: string; readonly kind: WebhookKind },
): string | undefined {
  if (response === undefined) return 'webhook response was absent';
  if (version !== 'v1') return undefined;
  const found = textAt(response, 'uid');
  if (found !== uid) return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(found)}`;
  const hasPatch = textAt(response, 'patch') !== '';
  const patchType = getOwn(response, 'patchType') ?? undefined;
  if (kind === 'validating') {
    if (hasPatch) return 'validating webhook may not return response.patch';
    return patchType === undefined ? undefined : 'validating webhook may not return response.patchType';
  }
  if (hasPatch && patchType === undefined)
    return 'webhook returned response.patch but not response.patchType';
  if (!hasPatch && patchType !== undefined)
    return 'webhook returned response.patchType but not response.patch';
  return patchType === '' ? 'webhook returned invalid response.patchType of ""' : undefined;
}

function outputOf(response: JsonObject): ReviewOutput {
  const audit = Object.entries(objectAt(response, 'auditAnnotations') ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { warnings: textsAt(response, 'warnings'), audit: Object.fromEntries(audit) };
}

/** Source: apiserver `pkg/admission/plugin/webhook/errors/statuserror.go`. */
function denial(name: string, result: JsonObject | undefined): StatusError {
  const by = `admission webhook ${JSON.stringify(name)} denied the request`;
  const [message, reason] = [textAt(result, 'message'), textAt(result, 'reason')];
  const code = Math.max(numberAt(result, 'code') ?? 0, 400);
  const why = message || reason;
  const details = objectAt(result, 'details');
  return new StatusError(
    code > 599 ? 500 : code,
    reason,
    why === '' ? `${by} without explanation` : `${by}: ${why}`,
    details && detailsOf(details),
  );
}

function detailsOf(details: JsonObject): StatusError['details'] {
  const causes = listAt(details, 'causes')
    .filter(isObject)
    .map((cause) => ({
      reason: textAt(cause, 'reason'),
      message: textAt(cause, 'message'),
      ...(textAt(cause, 'field') !== '' && { field: textAt(cause, 'field') }),
    }));
  return {
    name: textAt(details, 'name'),
    group: textAt(details, 'group'),
    kind: textAt(details, 'kind'),
    uid: textAt(details, 'uid'),
    ...(causes.length > 0 && { causes }),
    retryAfterSeconds: numberAt(details, 'retryAfterSeconds'),
  };
}
