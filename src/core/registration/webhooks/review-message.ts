import { type KindInfo, MANAGED_CLUSTER, MANAGED_CLUSTER_SET_BINDING } from '@berth/kube/model/kinds';
import { completeCluster } from '@berth/ocm/admission/complete-cluster';
import type { OcmRefusal, OcmReview, OcmWrite } from '@berth/ocm/admission/ocm-write';
import { reviewBinding, reviewCluster } from '@berth/ocm/admission/review-cluster';
import { ADDON_CONVERSIONS } from '@berth/ocm/definition/addon-conversions';
import { ADDON_GROUP } from '@berth/ocm/kind/addon';
import { CLUSTER_SET_LABEL } from '@berth/ocm/kind/managed-cluster';
import { errorText, InputError } from '@berth/runtime/errors';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  listAt,
  objectAt,
  textAt,
} from '@berth/runtime/json/json-value';

const REVIEW = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } as const;

/** The user of the write: `userInfo` of a review, in the format of a SubjectAccessReview. */
export interface ReviewUser {
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly JsonValue[];
  readonly extra: JsonObject;
}

/** The request of an API server. */
export interface ReviewRequest {
  readonly uid: string;
  /** `GROUP/PLURAL` */
  readonly resource: string;
  readonly user: ReviewUser;
  /** Undefined if the review is not about the object itself, but about its status or its deletion. */
  readonly write: OcmWrite | undefined;
}

export type ReviewVerdict =
  /** `completed`: the object to store. Absent: the object is stored as sent. */
  | { readonly kind: 'allowed'; readonly completed?: JsonObject | undefined }
  | { readonly kind: 'refused'; readonly refusal: OcmRefusal }
  /** It is unknown whether the write is allowed. */
  | { readonly kind: 'unknown'; readonly message: string };

/**
 * Reads an AdmissionReview of admission.k8s.io/v1. Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
 *
 * @returns a text that describes the error if it is not a valid AdmissionReview
 */
export function readReview(review: unknown): ReviewRequest | string {
  if (!isObject(review)) return 'expected an object of the kind AdmissionReview';
  const { apiVersion, kind } = REVIEW;
  if (review['apiVersion'] !== apiVersion || review['kind'] !== kind)
    return `expected apiVersion ${apiVersion} and kind ${kind}`;
  const request = objectAt(review, 'request');
  const uid = textAt(request, 'uid');
  const resource = objectAt(request, 'resource');
  const userInfo = objectAt(request, 'userInfo');
  const [userName, operation] = [textAt(userInfo, 'username'), textAt(request, 'operation')];
  const absent = Object.entries({
    uid,
    operation,
    'resource.resource': textAt(resource, 'resource'),
    'userInfo.username': userName,
  }).find(([, text]) => text === '');
  if (absent !== undefined) return `request.${absent[0]}: expected a text`;
  const [object, old] = [objectAt(request, 'object'), objectAt(request, 'oldObject')];
  const isWrite = ['CREATE', 'UPDATE'].includes(operation) && textAt(request, 'subResource') === '';
  if (isWrite && object === undefined) return 'request.object: expected an object';
  if (isWrite && operation === 'UPDATE' && old === undefined) return 'request.oldObject: expected an object';
  return {
    uid,
    resource: `${textAt(resource, 'group')}/${textAt(resource, 'resource')}`,
    user: {
      user: userName,
      uid: textAt(userInfo, 'uid'),
      groups: [...listAt(userInfo, 'groups')],
      extra: objectAt(userInfo, 'extra') ?? {},
    },
    write:
      isWrite && object !== undefined
        ? { operation: operation as OcmWrite['operation'], object, old, userName }
        : undefined,
  };
}

/** The AdmissionReview with the response. */
export function reviewResponse(
  { uid, write }: ReviewRequest,
  verdict: ReviewVerdict,
  toBase64: (text: string) => string,
): JsonObject {
  return { ...REVIEW, response: { uid, ...responseOf(write, verdict, toBase64) } };
}

function responseOf(
  write: OcmWrite | undefined,
  verdict: ReviewVerdict,
  toBase64: (text: string) => string,
): JsonObject {
  switch (verdict.kind) {
    case 'allowed': {
      const patch =
        verdict.completed === undefined || write === undefined
          ? []
          : completionPatch(write.object, verdict.completed);
      if (patch.length === 0) return { allowed: true };
      return { allowed: true, patchType: 'JSONPatch', patch: toBase64(JSON.stringify(patch)) };
    }
    case 'refused':
      return { allowed: false, status: statusOf(verdict.refusal) };
    case 'unknown':
      return { allowed: false, status: status(500, 'InternalError', verdict.message) };
  }
}

function statusOf(refusal: OcmRefusal): JsonObject {
  switch (refusal.kind) {
    case 'bad-request':
      return status(400, 'BadRequest', refusal.message);
    case 'forbidden':
      return status(403, 'Forbidden', refusal.message);
    case 'invalid': {
      const message = `${refusal.field}: Invalid value: ${JSON.stringify(refusal.value)}: ${refusal.problems.join(', ')}`;
      return status(422, 'Invalid', message);
    }
  }
}

/** The message that the API server returns to its client, after a text that names the webhook. */
function status(code: number, reason: string, message: string): JsonObject {
  return { code, reason, message };
}

/** JSON Patch (RFC 6902) for the changes of completion: the label of the set, and the list of taints. */
function completionPatch(sent: JsonObject, completed: JsonObject): JsonObject[] {
  const labelsOf = (one: JsonObject): JsonObject | undefined => objectAt(objectAt(one, 'metadata'), 'labels');
  const [before, after] = [labelsOf(sent), labelsOf(completed)];
  const set = textAt(after, CLUSTER_SET_LABEL);
  const label = CLUSTER_SET_LABEL.replace('/', '~1');
  const taints = listAt(objectAt(completed, 'spec'), 'taints');
  const isStamped = listAt(objectAt(sent, 'spec'), 'taints').some(
    (taint, index) => textOfTime(taint) !== textOfTime(taints[index]),
  );
  return [
    ...(set === textAt(before, CLUSTER_SET_LABEL)
      ? []
      : before === undefined
        ? [{ op: 'add', path: '/metadata/labels', value: { [CLUSTER_SET_LABEL]: set } }]
        : [{ op: 'add', path: `/metadata/labels/${label}`, value: set }]),
    ...(isStamped ? [{ op: 'replace', path: '/spec/taints', value: [...taints] }] : []),
  ];
}

function textOfTime(taint: JsonValue | undefined): string {
  return isObject(taint) ? textAt(taint, 'timeAdded') : '';
}

const REVIEWS: ReadonlyMap<string, (write: OcmWrite) => OcmReview> = new Map([
  [resourceOf(MANAGED_CLUSTER), reviewCluster],
  [resourceOf(MANAGED_CLUSTER_SET_BINDING), reviewBinding],
]);

/** Whether the review is about a kind that has rules here. */
export function isReviewed({ resource }: ReviewRequest): boolean {
  return REVIEWS.has(resource);
}

/**
 * The response of a mutating webhook.
 * @param now RFC 3339
 */
export function judgeMutation({ resource, write }: ReviewRequest, now: string): ReviewVerdict {
  if (write === undefined || resource !== resourceOf(MANAGED_CLUSTER)) return { kind: 'allowed' };
  const completed = completeCluster(write, now);
  return completed.kind === 'refused' ? completed : { kind: 'allowed', completed: completed.object };
}

/** What a validating webhook must check before it responds. */
export function judgeValidation({ resource, write }: ReviewRequest): OcmReview {
  const review = write === undefined ? undefined : REVIEWS.get(resource)?.(write);
  return review ?? { kind: 'requirements', requirements: [] };
}

function resourceOf({ group, plural }: KindInfo): string {
  return `${group}/${plural}`;
}

const CONVERSION_REVIEW = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' } as const;
const VERSIONS = [`${ADDON_GROUP}/v1alpha1`, `${ADDON_GROUP}/v1beta1`];
const WANTED = VERSIONS.join(' or ');

/**
 * Answers a ConversionReview of apiextensions.k8s.io/v1: all objects in the desired version, or a Failure that says what
 * is wrong. Source: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
 *
 * @returns the review with its response; a text that describes the error if it is not a valid ConversionReview
 */
export function answerConversion(review: unknown): JsonObject | string {
  if (!isObject(review)) return 'expected an object of the kind ConversionReview';
  const { apiVersion, kind } = CONVERSION_REVIEW;
  if (review['apiVersion'] !== apiVersion || review['kind'] !== kind)
    return `expected apiVersion ${apiVersion} and kind ${kind}`;
  const request = objectAt(review, 'request');
  const uid = textAt(request, 'uid');
  if (uid === '') return 'request.uid: expected a text';
  return { ...CONVERSION_REVIEW, response: { uid, ...responseTo(request) } };
}

function responseTo(request: JsonObject | undefined): JsonObject {
  const version = textAt(request, 'desiredAPIVersion');
  try {
    if (!VERSIONS.includes(version)) throw invalid('request.desiredAPIVersion', version, WANTED);
    const convertedObjects = listAt(request, 'objects').map((object, index) =>
      converted(object, version, `request.objects[${index}]`),
    );
    return { convertedObjects, result: { status: 'Success' } };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { result: { status: 'Failure', message: errorText(error) } };
  }
}

/** @throws InputError for what cannot be converted */
function converted(object: JsonValue, version: string, subject: string): JsonObject {
  if (!isObject(object)) throw invalid(subject, object, 'an object');
  const [apiVersion, kind] = [textAt(object, 'apiVersion'), textAt(object, 'kind')];
  if (!VERSIONS.includes(apiVersion)) throw invalid(`${subject}.apiVersion`, apiVersion, WANTED);
  const convert = ADDON_CONVERSIONS[`${kind.toLowerCase()}s.${ADDON_GROUP}`];
  if (convert === undefined)
    throw invalid(`${subject}.kind`, kind, 'ClusterManagementAddOn or ManagedClusterAddOn');
  for (const field of ['metadata', 'spec', 'status'])
    if (object[field] !== undefined && !isObject(object[field]))
      throw invalid(`${subject}.${field}`, object[field], 'an object');
  return apiVersion === version ? object : convert(object, version);
}

function invalid(subject: string, got: JsonValue, expected: string): InputError {
  return new InputError(`got ${JSON.stringify(got).slice(0, 100)}, expected ${expected}`, {
    code: 'ocm.conversion',
    subject,
  });
}
