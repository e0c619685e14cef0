import { ADDON_CONVERSIONS } from '@berth/ocm/definition/addon-conversions';
import { ADDON_GROUP } from '@berth/ocm/kind/addon';
import { errorText, InputError } from '@berth/runtime/errors';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  listAt,
  objectAt,
  textAt,
} from '@berth/runtime/json/json-value';

const REVIEW = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' } as const;
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
  const { apiVersion, kind } = REVIEW;
  if (review['apiVersion'] !== apiVersion || review['kind'] !== kind)
    return `expected apiVersion ${apiVersion} and kind ${kind}`;
  const request = objectAt(review, 'request');
  const uid = textAt(request, 'uid');
  if (uid === '') return 'request.uid: expected a text';
  return { ...REVIEW, response: { uid, ...responseTo(request) } };
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
