import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../json/json-value.ts';
import { getOwn, objectAt, withoutKey } from '../json/json-value.ts';
import type { ResourceDefinition, ResourceRef, ResourceVersion } from '../schema/resource-definition.ts';
import { apiVersionOf } from '../schema/resource-definition.ts';
import { cacheConversion } from '../scheme/conversion-cache.ts';
import { currentShape, prunedTo } from '../scheme/current-shape.ts';
import { awaitsConversion } from '../scheme/to-version.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { errorWithoutReason } from '../wire/status-errors.ts';
import type { ConversionRequest } from './conversion-review.ts';
import { convertedObjects, conversionReview, kindText } from './conversion-review.ts';
import type { WebhookClients } from './webhook-clients.ts';
import { WebhookError } from './webhook-error.ts';

/**
 * Time limit of a call, including the response. Source: apiserver
 * `pkg/util/webhook/authentication.go`.
 */
const TIMEOUT_MS = 30_000;
/** Maximum number of objects in one review; the API server converts one object at a time. */
const MAX_OBJECTS = 100;
const MAX_CHARACTERS = 1024 * 1024;

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
