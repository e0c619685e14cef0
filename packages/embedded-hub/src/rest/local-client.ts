import type { JsonObject } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { awaitsConversion, toVersion } from '../scheme/to-version.ts';
import { StatusError } from '../wire/status-error.ts';
import type { EventListener } from '../store/subscriptions.ts';
import type { UserInfo } from '../wire/user-info.ts';
import { type Cluster, storageKeyOf } from '../request/cluster.ts';
import type { DeleteOptions } from '../request/write-options.ts';
import { ObjectDeleter } from './object-deleter.ts';
import { ObjectWriter, type WriteResult, type WriteTarget } from './object-writer.ts';
import { WebhookResponses } from './webhook-responses.ts';

/** Names a resource, as controllers declare it. */
export interface ResourceIdentity {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

export interface LocalKey {
  readonly namespace: string;
  readonly name: string;
}

/**
 * The client of the hub's own controllers: the same reads and writes as an HTTP request, in
 * process.
 */
export class LocalClient {
  readonly #cluster: Cluster;
  readonly #user: UserInfo;
  readonly #withoutWebhooks: true | undefined;

  /**
   * @param options withoutWebhooks: calls no admission webhooks, for objects that the hub itself
   * needs
   */
  constructor(cluster: Cluster, controller: string, options: { readonly withoutWebhooks?: true } = {}) {
    this.#cluster = cluster;
    this.#withoutWebhooks = options.withoutWebhooks;
    this.#user = {
      name: `system:controller:${controller}`,
      groups: ['system:masters', 'system:authenticated'],
    };
  }

  ref(identity: ResourceIdentity): ResourceRef | undefined {
    return this.#cluster.scheme.resource(identity.group, identity.version, identity.plural);
  }

  get(ref: ResourceRef, key: LocalKey): JsonObject | undefined {
    const entry = this.#cluster.store.get(storageKeyOf(ref, key.namespace, key.name));
    return entry === undefined ? undefined : convertedOrStored(entry.object, ref);
  }

  list(ref: ResourceRef, namespace?: string): JsonObject[] {
    return this.#cluster.store
      .list(ref.definition.storageKey, namespace)
      .map((entry) => convertedOrStored(entry.object, ref));
  }

  /** Creates an object; undefined if it exists already. */
  async create(ref: ResourceRef, namespace: string, object: JsonObject): Promise<JsonObject | undefined> {
    try {
      const target = this.#target(ref, { namespace, name: '' });
      return await this.#runWrite((writer) => writer.create(target, body(object)));
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'AlreadyExists') return undefined;
      throw error;
    }
  }

  mergePatch(
    ref: ResourceRef,
    key: LocalKey,
    patch: JsonObject,
    subresource = '',
  ): Promise<JsonObject | undefined> {
    const target = { ...this.#target(ref, key), subresource };
    return this.#unlessDeleted((writer) => writer.patch(target, 'merge', body(patch)));
  }

  update(
    ref: ResourceRef,
    key: LocalKey,
    object: JsonObject,
    subresource = '',
  ): Promise<JsonObject | undefined> {
    const target = { ...this.#target(ref, key), subresource };
    return this.#unlessDeleted((writer) => writer.update(target, body(object)));
  }

  /** Returns false if the object did not exist. */
  async delete(ref: ResourceRef, key: LocalKey, options: Partial<DeleteOptions> = {}): Promise<boolean> {
    const { namespace, name } = key;
    const all = { propagation: undefined, uid: '', resourceVersion: '', dryRun: false, ...options };
    try {
      const responses = new WebhookResponses(this.#cluster);
      const deleter = new ObjectDeleter(this.#cluster, responses);
      const target = { ref, namespace, name, user: this.#user, options: all };
      const withoutWebhooks = this.#withoutWebhooks;
      const result = await responses.runUnbounded(() => deleter.delete({ ...target, withoutWebhooks }));
      await this.#cluster.store.durable(result.rv);
      return true;
    } catch (error) {
      if (isGone(error)) return false;
      throw error;
    }
  }

  /** Calls the listener for each durable change of one resource; the returned function stops it. */
  watch(storageKey: string, listener: EventListener): () => void {
    return this.#cluster.store.subscribe(storageKey, {}, listener);
  }

  /** Undefined if the object was deleted meanwhile, which is not an error for a controller. */
  async #unlessDeleted(write: (writer: ObjectWriter) => WriteResult): Promise<JsonObject | undefined> {
    try {
      return await this.#runWrite(write);
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  async #runWrite(write: (writer: ObjectWriter) => WriteResult): Promise<JsonObject> {
    const responses = new WebhookResponses(this.#cluster);
    const writer = new ObjectWriter(this.#cluster, responses);
    const result = await responses.runUnbounded(() => write(writer));
    await this.#cluster.store.durable(result.rv);
    return result.object;
  }

  #target(ref: ResourceRef, key: LocalKey): WriteTarget {
    const options = {
      fieldManager: 'berth-hub',
      fieldValidation: 'Ignore',
      dryRun: false,
      force: false,
    } as const;
    const withoutWebhooks = this.#withoutWebhooks;
    return { ref, subresource: '', ...key, user: this.#user, options, withoutWebhooks };
  }
}

/** Controllers read metadata, or kinds that no webhook converts. */
function convertedOrStored(object: JsonObject, ref: ResourceRef): JsonObject {
  return awaitsConversion(object, ref) ? object : toVersion(object, ref);
}

function body(value: JsonObject): { value: JsonObject; strictErrors: readonly string[] } {
  return { value, strictErrors: [] };
}

function isGone(error: unknown): boolean {
  return error instanceof StatusError && error.reason === 'NotFound';
}
