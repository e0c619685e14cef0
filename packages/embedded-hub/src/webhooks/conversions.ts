import { randomUUID } from 'node:crypto';
import {
  type JsonObject,
  getOwn,
  objectAt,
  withoutKey,
  type JsonValue,
  isObject,
  listAt,
  setOwn,
  textAt,
} from '../json/json-value.ts';
import { child } from '../schema/field-path.ts';
import type { ResourceDefinition, ResourceRef, ResourceVersion } from '../schema/resource-definition.ts';
import { apiVersionOf } from '../schema/resource-definition.ts';
import { checkAnnotations, checkLabels } from '../schema/validate-metadata.ts';
import { awaitsConversion, cacheConversion, currentShape, prunedTo } from '../scheme/to-version.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { errorWithoutReason, type FieldProblem } from '../wire/status-errors.ts';
import type { WebhookClients } from './webhook-clients.ts';
import { WebhookError, reviewKindProblem } from './webhook-error.ts';

/**
 * Time limit of a call, including the response. Source: apiserver
 * `pkg/util/webhook/authentication.go`.
 */
const TIMEOUT_MS = 30_000;

/** Calls conversion webhooks, and caches the results while the original objects exist. */
export class Conversions {
  readonly #clients: WebhookClients;
  /** Running conversions by object; other requests for the same object wait for the same call. */
  readonly #pending = new WeakMap<JsonObject, Map<ResourceVersion, Promise<void>>>();

  constructor(clients: WebhookClients) {
    this.#clients = clients;
  }

  /**
   * Converts all objects that are not in the cache yet to the version of `ref`.
   * @throws StatusError 500 when the webhook fails
   */
  async prepare(entries: readonly StoredObject[], ref: ResourceRef): Promise<void> {
    if (ref.definition.conversion?.kind !== 'webhook') return;
    const wanted = entries.filter(({ object }) => awaitsConversion(object, ref));
    for (let at = 0; at < wanted.length; ) {
      const batch = batchFrom(wanted, at);
      at += batch.length;
      await this.#prepareBatch(
        batch.map(({ object }) => object),
        ref,
      );
    }
  }

  /**
   * Converts one object to the version of `ref`, without the cache.
   * @throws StatusError 500
   */
  async convert(object: JsonObject, ref: ResourceRef): Promise<JsonObject> {
    const [converted] = await this.#callWebhook([object], ref);
    return converted as JsonObject;
  }

  async #prepareBatch(objects: readonly JsonObject[], ref: ResourceRef): Promise<void> {
    const others: Promise<void>[] = [];
    const own: JsonObject[] = [];
    for (const object of objects) {
      const other = this.#pending.get(object)?.get(ref.version);
      if (other === undefined) own.push(object);
      else others.push(other);
    }
    if (own.length > 0) {
      const call = this.#callWebhook(own, ref).then((converted) => {
        for (const [index, object] of own.entries())
          cacheConversion(object, ref.version, converted[index] as JsonObject);
      });
      for (const object of own) this.#notePending(object, ref.version, call);
      others.push(
        call.finally(() => {
          for (const object of own) this.#pending.get(object)?.delete(ref.version);
        }),
      );
    }
    await Promise.all(others);
  }

  #notePending(object: JsonObject, version: ResourceVersion, call: Promise<void>): void {
    const versions = this.#pending.get(object);
    if (versions === undefined) this.#pending.set(object, new Map([[version, call]]));
    else versions.set(version, call);
  }

  async #callWebhook(objects: readonly JsonObject[], ref: ResourceRef): Promise<readonly JsonObject[]> {
    const { conversion } = ref.definition;
    if (conversion?.kind !== 'webhook') throw errorWithoutReason('there is no conversion webhook');
    const request: ConversionRequest = {
      uid: randomUUID(),
      apiVersion: apiVersionOf(ref),
      objects: objects.map((object) => sentObject(object, ref.definition)),
      reviewVersions: conversion.webhook.reviewVersions,
    };
    const body = (): JsonObject => conversionReview(request);
    try {
      const review = await this.#clients
        .post(conversion.webhook.client, { body, timeoutMs: TIMEOUT_MS })
        .catch((error: unknown) => {
          throw error instanceof WebhookError ? failed(request, error) : error;
        });
      return convertedObjects(request, review).map((converted, index) =>
        acceptedObject(objects[index] as JsonObject, converted, ref.version),
      );
    } catch (error) {
      throw error instanceof WebhookError ? errorWithoutReason(error.message) : error;
    }
  }
}

function failed({ objects }: ConversionRequest, { message }: WebhookError): WebhookError {
  return new WebhookError(`conversion webhook for ${kindText(objects[0] ?? {})} failed: ${message}`);
}

/** Maximum number of objects in one review; the API server converts one object at a time. */
const MAX_OBJECTS = 100;
const MAX_CHARACTERS = 1024 * 1024;

function batchFrom(entries: readonly StoredObject[], start: number): readonly StoredObject[] {
  let characters = 0;
  let end = start;
  while (
    end < entries.length &&
    end - start < MAX_OBJECTS &&
    (end === start || characters < MAX_CHARACTERS)
  ) {
    characters += (entries[end] as StoredObject).json().length;
    end += 1;
  }
  return entries.slice(start, end);
}

/**
 * The object in the shape of its definition, without its resourceVersion, as the store returns it.
 */
function sentObject(object: JsonObject, definition: ResourceDefinition): JsonObject {
  return withoutResourceVersion(currentShape(object, definition));
}

export function withoutResourceVersion(object: JsonObject): JsonObject {
  const metadata = objectAt(object, 'metadata');
  if (metadata === undefined || !Object.hasOwn(metadata, 'resourceVersion')) return object;
  return { ...object, metadata: withoutKey(metadata, 'resourceVersion') };
}

/** The response without unknown fields, with the resourceVersion of the original. */
function acceptedObject(original: JsonObject, converted: JsonObject, version: ResourceVersion): JsonObject {
  return withResourceVersionOf(original, prunedTo(version.schema, converted));
}

export function withResourceVersionOf(original: JsonObject, object: JsonObject): JsonObject {
  const resourceVersion = getOwn(objectAt(original, 'metadata') ?? {}, 'resourceVersion');
  if (resourceVersion === undefined) return withoutResourceVersion(object);
  return { ...object, metadata: { ...objectAt(object, 'metadata'), resourceVersion } };
}

/*
 * Renders ConversionReview requests and validates the responses. A webhook may change labels,
 * annotations and everything that is not metadata. Source: apiextensions-apiserver
 * `pkg/apiserver/conversion/webhook_converter.go`.
 */

interface ConversionRequest {
  readonly uid: string;
  /** `group/version` of the results. */
  readonly apiVersion: string;
  readonly objects: readonly JsonObject[];
  /** By preference. */
  readonly reviewVersions: readonly string[];
}

const REVIEW_GROUP = 'apiextensions.k8s.io';

/** @throws WebhookError when the webhook supports no review version of the hub */
function conversionReview({ uid, apiVersion, objects, reviewVersions }: ConversionRequest): JsonObject {
  return {
    kind: 'ConversionReview',
    apiVersion: `${REVIEW_GROUP}/${reviewVersion(reviewVersions)}`,
    request: { uid, desiredAPIVersion: apiVersion, objects: [...objects] },
  };
}

const KNOWN_VERSIONS = ['v1', 'v1beta1'];

function reviewVersion(versions: readonly string[]): string {
  const version = versions.find((one) => KNOWN_VERSIONS.includes(one));
  if (version === undefined) throw new WebhookError('no supported conversion review versions');
  return version;
}

/** `group/version, Kind=Kind`, as messages name the object to convert. */
function kindText(object: JsonObject): string {
  return `${textAt(object, 'apiVersion')}, Kind=${textAt(object, 'kind')}`;
}

/**
 * The converted objects, in the order of the request.
 * @throws WebhookError with the complete message of the API server
 */
function convertedObjects(request: ConversionRequest, review: JsonObject): readonly JsonObject[] {
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

const REVIEW = { group: REVIEW_GROUP, kind: 'ConversionReview', versions: KNOWN_VERSIONS };

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

const UNCHANGED_FIELDS: readonly (readonly [key: string, word: string])[] = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
];

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

const METADATA = child(undefined, 'metadata');

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
