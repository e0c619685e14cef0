import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { getOwn, isObject, listAt, objectAt, setOwn, textAt, withoutKey } from '../json/json-value.ts';
import { child } from '../schema/field-path.ts';
import { checkAnnotations, checkLabels } from '../schema/validate-metadata.ts';
import type { FieldProblem } from '../wire/status-errors.ts';
import { reviewKindProblem } from './review-kind.ts';
import { WebhookError } from './webhook-error.ts';

/**
 * Renders ConversionReview requests and validates the responses. A webhook may change labels,
 * annotations and everything that is not metadata. Source: apiextensions-apiserver
 * `pkg/apiserver/conversion/webhook_converter.go`.
 */

const REVIEW_GROUP = 'apiextensions.k8s.io';
const KNOWN_VERSIONS = ['v1', 'v1beta1'];
const REVIEW = { group: REVIEW_GROUP, kind: 'ConversionReview', versions: KNOWN_VERSIONS };

export interface ConversionRequest {
  readonly uid: string;
  /** `group/version` of the results. */
  readonly apiVersion: string;
  readonly objects: readonly JsonObject[];
  /** By preference. */
  readonly reviewVersions: readonly string[];
}

/** @throws WebhookError when the webhook supports no review version of the hub */
export function conversionReview({
  uid,
  apiVersion,
  objects,
  reviewVersions,
}: ConversionRequest): JsonObject {
  return {
    kind: 'ConversionReview',
    apiVersion: `${REVIEW_GROUP}/${reviewVersion(reviewVersions)}`,
    request: { uid, desiredAPIVersion: apiVersion, objects: [...objects] },
  };
}

function reviewVersion(versions: readonly string[]): string {
  const version = versions.find((one) => KNOWN_VERSIONS.includes(one));
  if (version === undefined) throw new WebhookError('no supported conversion review versions');
  return version;
}

/** `group/version, Kind=Kind`, as messages name the object to convert. */
export function kindText(object: JsonObject): string {
  return `${textAt(object, 'apiVersion')}, Kind=${textAt(object, 'kind')}`;
}

/**
 * The converted objects, in the order of the request.
 * @throws WebhookError with the complete message of the API server
 */
export function convertedObjects(request: ConversionRequest, review: JsonObject): readonly JsonObject[] {
  const [first] = request.objects;
  const hook = `conversion webhook for ${kindText(first ?? {})}`;
  const problem = responseProblem(request, review);
  if (problem !== undefined) throw new WebhookError(`${hook} failed: ${problem}`);
  const converted = listAt(objectAt(review, 'response'), 'convertedObjects');
  const [got, want] = [converted.length, request.objects.length];
  if (got !== want)
    throw new WebhookError(`${hook} returned ${String(got)} objects, expected ${String(want)}`);
  return request.objects.map((original, index) =>
    acceptConverted(original, converted[index] as JsonValue, request.apiVersion),
  );
}

function responseProblem({ uid, reviewVersions }: ConversionRequest, review: JsonObject): string | undefined {
  const response = objectAt(review, 'response');
  const version = reviewVersion(reviewVersions);
  const wrongKind = reviewKindProblem(review, version, REVIEW);
  if (wrongKind !== undefined) return wrongKind;
  if (version === 'v1') {
    if (response === undefined) return 'no response provided';
    const found = textAt(response, 'uid');
    if (found !== uid) return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(found)}`;
  }
  if (response === undefined) return 'no response provided';
  const result = objectAt(response, 'result');
  const status = textAt(result, 'status');
  if (status === 'Success') return undefined;
  return textAt(result, 'message') || `response.result.status was '${status}', not 'Success'`;
}

function acceptConverted(original: JsonObject, converted: JsonValue, apiVersion: string): JsonObject {
  const hook = `conversion webhook for ${kindText(original)}`;
  if (!isObject(converted) || textAt(converted, 'kind') === '') throw notAnObject(converted);
  const version = textAt(converted, 'apiVersion');
  if (version !== apiVersion) {
    const difference = `invalid groupVersion (expected ${apiVersion}, received ${version})`;
    throw new WebhookError(`${hook} returned invalid object at index 0: ${difference}`);
  }
  const [kind, got] = [textAt(original, 'kind'), textAt(converted, 'kind')];
  if (kind !== got) {
    const difference = `invalid kind (expected ${kind}, received ${got})`;
    throw new WebhookError(`${hook} returned invalid object at index 0: ${difference}`);
  }
  for (const [key, word] of UNCHANGED_FIELDS) {
    const [before, after] = [original, converted].map((one) => textAt(objectAt(one, 'metadata'), key));
    if (before !== after)
      throw new WebhookError(
        `${hook} returned invalid object: must have the same ${word}: ${String(before)} != ${String(after)}`,
      );
  }
  try {
    return { ...converted, metadata: keptMetadata(original, converted) };
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    throw new WebhookError(`${hook} returned invalid metadata: ${error.message}`);
  }
}

const UNCHANGED_FIELDS: readonly (readonly [key: string, word: string])[] = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
];

function notAnObject(converted: JsonValue): WebhookError {
  const text = JSON.stringify(converted);
  return isObject(converted)
    ? new WebhookError(`Object 'Kind' is missing in '${text}'`)
    : new WebhookError(
        `json: cannot unmarshal ${goType(converted)} into Go value of type map[string]interface {}`,
      );
}

/** The metadata of the original, with labels and annotations of the response. */
function keptMetadata(original: JsonObject, converted: JsonObject): JsonObject {
  const received = getOwn(converted, 'metadata');
  if (received === undefined) throw new WebhookError('missing metadata in converted object');
  if (!isObject(received))
    throw new WebhookError(`invalid metadata of type ${goType(received)} in converted object`);
  const before = objectAt(original, 'metadata') ?? {};
  const result: JsonObject = withoutKey(withoutKey(before, 'labels'), 'annotations');
  const kept: JsonObject = { ...result };
  for (const key of ['labels', 'annotations']) {
    const map = checkedMap(key, objectAt(before, key) ?? {}, getOwn(received, key));
    if (map !== undefined) setOwn(kept, key, map);
  }
  return kept;
}

function checkedMap(
  key: string,
  before: JsonObject,
  received: JsonValue | undefined,
): JsonObject | undefined {
  if (received === undefined || received === null) return undefined;
  if (!isObject(received))
    throw new WebhookError(`invalid metadata.${key} of type ${goType(received)} in converted object`);
  const names = Object.keys(received);
  let changed = names.length !== Object.keys(before).length;
  for (const name of names) {
    const value = received[name] as JsonValue;
    if (typeof value !== 'string')
      throw new WebhookError(
        `metadata.${key}[${name}] must be a string, but is ${goType(value)} in converted object`,
      );
    if (getOwn(before, name) !== value) changed = true;
  }
  const problems: FieldProblem[] = [];
  if (changed && key === 'labels') checkLabels(received, child(METADATA, 'labels'), problems);
  // Without the plural s, as in the API server.
  if (changed && key === 'annotations') checkAnnotations(received, child(METADATA, 'annotation'), problems);
  const [one] = problems;
  if (one === undefined) return received;
  const texts = problems.map(({ field, message }) => `${field}: ${message}`);
  throw new WebhookError(texts.length === 1 ? `${one.field}: ${one.message}` : `[${texts.join(', ')}]`);
}

const METADATA = child(undefined, 'metadata');

function goType(value: JsonValue): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64';
    default:
      return 'map[string]interface {}';
  }
}
