import { randomUUID, randomInt } from 'node:crypto';
import { accessRefused } from '../auth/rbac/authorizer.ts';
import type { DecodedBody } from '../body/decode-body.ts';
import { type JsonObject, getOwn, isObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import { type Cluster, metadataOf, storageKeyOf, timestamp } from '../request/cluster.ts';
import type { WriteOptions } from '../request/write-options.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import {
  awaitsConversion,
  cacheConversion,
  markCurrent,
  storageRef,
  toVersion,
} from '../scheme/to-version.ts';
import type { StorageKey, StoredObject } from '../store/stored-object.ts';
import { withResourceVersionOf } from '../webhooks/conversions.ts';
import { alreadyExists, notFound, forbidden } from '../wire/status-errors.ts';
import type { UserInfo } from '../wire/user-info.ts';
import { prepareApply } from '../write/prepare-apply.ts';
import { prepareCreate } from '../write/prepare-create.ts';
import { type PatchType, preparePatch } from '../write/prepare-patch.ts';
import { prepareUpdate } from '../write/prepare-update.ts';
import type { PreparedWrite, WriteRequest } from '../write/write-request.ts';
import { dynamicAdmission } from './dynamic-write.ts';
import type { WebhookResponses } from './webhook-responses.ts';

/** The object of a write and its user. `name` is '' on create. */
export interface WriteTarget {
  readonly ref: ResourceRef;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly options: WriteOptions;
  /** Calls no admission webhooks, for objects that the hub itself needs. */
  readonly withoutWebhooks?: true | undefined;
}

/** The result of a write; wait for `durable(rv)` before you report it. */
export interface WriteResult {
  /** In the version of the request. */
  readonly object: JsonObject;
  readonly rv: number;
  /** As stored; undefined when nothing was (dry run, nothing changed). */
  readonly entry?: StoredObject | undefined;
  readonly created: boolean;
  readonly warnings: readonly string[];
}

/**
 * All writes of objects. Reads the live object, prepares and stores in one turn of the event loop,
 * so that no other write can run in between.
 */
export class ObjectWriter {
  readonly #cluster: Cluster;
  readonly #responses: WebhookResponses;
  /**
   * The same uid and name suffix in each run of one write, so that responses of webhooks stay valid.
   */
  readonly #identity = newIdentity();
  readonly #now: string;

  /** @param responses of webhooks; one for each write */
  constructor(cluster: Cluster, responses: WebhookResponses) {
    this.#cluster = cluster;
    this.#responses = responses;
    this.#now = timestamp(cluster.clock);
  }

  create(target: WriteTarget, body: DecodedBody): WriteResult {
    requireLiveNamespace(this.#cluster, target.ref, { namespace: target.namespace, name: nameIn(body) });
    const prepared = prepareCreate(this.#request(target, true), fillRequester(target, body));
    return this.#insert(target, prepared);
  }

  update(target: WriteTarget, body: DecodedBody): WriteResult {
    const live = this.#find(target);
    if (live === undefined) {
      // As upstream, PUT creates Events, Leases and a few other kinds, but no custom resources.
      throw notFound(target.ref.definition, target.name);
    }
    const prepared = prepareUpdate(
      this.#request(target, false),
      this.#responses.toVersion(live.object, target.ref),
      body,
    );
    return this.#replace(target, live, prepared);
  }

  patch(target: WriteTarget, type: PatchType, body: DecodedBody): WriteResult {
    const live = this.#require(target);
    const prepared = preparePatch(
      this.#request(target, false),
      this.#responses.toVersion(live.object, target.ref),
      type,
      body,
    );
    return this.#replace(target, live, prepared);
  }

  /** Server-side apply: creates the object if it is not stored. */
  apply(target: WriteTarget, body: DecodedBody): WriteResult {
    const live = this.#cluster.store.stored(keyOf(target));
    const { force } = target.options;
    if (live !== undefined) {
      const shown = this.#responses.toVersion(live.object, target.ref);
      return this.#replace(target, live, prepareApply(this.#request(target, false), shown, body, { force }));
    }
    if (target.subresource !== '') throw notFound(target.ref.definition, target.name);
    this.#requireCreateRight(target);
    requireLiveNamespace(this.#cluster, target.ref, target);
    const prepared = prepareApply(this.#request(target, true), undefined, body, { force });
    return this.#insert(target, prepared);
  }

  /** The right to patch was checked before; a patch that creates an object needs the right to create as well. */
  #requireCreateRight({ ref: { definition }, namespace, name, user }: WriteTarget): void {
    const { group, plural } = definition;
    const where = definition.namespaced ? namespace : '';
    const attributes = { verb: 'create', group, resource: plural, namespace: where, name };
    if (!this.#cluster.authorizer.allows(user, attributes)) throw accessRefused(user, attributes, name);
  }

  #insert(target: WriteTarget, prepared: PreparedWrite): WriteResult {
    const { ref, options } = target;
    const name = textAt(metadataOf(prepared.object), 'name');
    const key = storageKeyOf(ref, target.namespace, name);
    if (this.#cluster.store.stored(key) !== undefined) throw alreadyExists(ref.definition, name);
    const { warnings } = prepared;
    const object = this.#cluster.complete(ref, prepared.object);
    if (options.dryRun) return { object: this.#asStored(ref, object), rv: 0, created: true, warnings };
    const { toVersion: convert } = this.#responses;
    const entry = storeObject(this.#cluster, {
      ref,
      object,
      bounded: true,
      removed: false,
      toVersion: convert,
    });
    return { object: toVersion(entry.object, ref), rv: entry.rv, entry, created: true, warnings };
  }

  #replace(target: WriteTarget, live: StoredObject, prepared: PreparedWrite): WriteResult {
    const { ref, options } = target;
    const { warnings } = prepared;
    // The object is stored in another version, or its definition changed: even an unchanged write
    // stores it again.
    const upToDate = isUpToDate(live.object, storageRef(ref));
    if (!prepared.changed && upToDate)
      return { object: prepared.object, rv: live.rv, created: false, warnings };
    const removed = isFinalized(prepared.object);
    const object = removed ? prepared.object : this.#cluster.complete(ref, prepared.object);
    if (options.dryRun) return { object: this.#asStored(ref, object), rv: 0, created: false, warnings };
    const { toVersion: convert } = this.#responses;
    const entry = storeObject(this.#cluster, { ref, object, bounded: true, removed, toVersion: convert });
    return { object: toVersion(entry.object, ref), rv: entry.rv, entry, created: false, warnings };
  }

  /** The response of a dry run: the object as the store would return it. */
  #asStored(ref: ResourceRef, object: JsonObject): JsonObject {
    if (ref.definition.conversion?.kind !== 'webhook') return object;
    return this.#responses.toVersion(this.#responses.toVersion(object, storageRef(ref)), ref);
  }

  #find(target: WriteTarget): StoredObject | undefined {
    return this.#cluster.store.get(keyOf(target));
  }

  #require(target: WriteTarget): StoredObject {
    const live = this.#find(target);
    if (live === undefined) throw notFound(target.ref.definition, target.name);
    return live;
  }

  #request(target: WriteTarget, creates: boolean): WriteRequest {
    const { ref, subresource, namespace, name, user, options } = target;
    const { authorizer, admission } = this.#cluster;
    const dynamic =
      target.withoutWebhooks === true ? undefined : dynamicAdmission(this.#cluster, target, this.#responses);
    const request: WriteRequest = {
      ref,
      subresource,
      namespace: ref.definition.namespaced ? namespace : '',
      name,
      fieldManager: options.fieldManager,
      fieldValidation: options.fieldValidation,
      now: this.#now,
      ...(creates && { identity: this.#identity }),
      convert: this.#responses.toVersion,
      user,
      admission,
      can: (attributes) => authorizer.allows(user, attributes),
      isNamespaceEnding: (name) => isNamespaceEnding(this.#cluster, name),
    };
    return dynamic === undefined ? request : { ...request, dynamic: dynamic(request) };
  }
}

function keyOf({ ref, namespace, name }: WriteTarget): StorageKey {
  return storageKeyOf(ref, namespace, name);
}

/** The random suffix is generated only for `generateName`. */
function newIdentity(): { readonly uid: string; readonly nameSuffix: string } {
  let suffix: string | undefined;
  return {
    uid: randomUUID(),
    get nameSuffix() {
      return (suffix ??= randomSuffix());
    },
  };
}

function isUpToDate(object: JsonObject, storage: ResourceRef): boolean {
  return !awaitsConversion(object, storage) && toVersion(object, storage) === object;
}

/** Whether the object is marked for deletion and has no finalizers left: this write removes it. */
export function isFinalized(object: JsonObject): boolean {
  const metadata = metadataOf(object);
  if (getOwn(metadata, 'deletionTimestamp') === undefined) return false;
  const namespaceHeld =
    object['kind'] === 'Namespace' && listAt(objectAt(object, 'spec'), 'finalizers').length > 0;
  return listAt(metadata, 'finalizers').length === 0 && !namespaceHeld;
}

function nameIn(body: DecodedBody): string {
  return isObject(body.value) ? textAt(objectAt(body.value, 'metadata'), 'name') : '';
}

/**
 * Requires that the namespace of a new object exists and is not being deleted.
 * @throws StatusError 404, or 403 with the cause NamespaceTerminating
 */
function requireLiveNamespace(
  cluster: Cluster,
  ref: ResourceRef,
  target: { readonly namespace: string; readonly name: string },
): void {
  const { definition } = ref;
  if (!definition.namespaced) return;
  const { namespace, name } = target;
  if (namespaceOf(cluster, namespace) === undefined)
    throw notFound({ group: '', plural: 'namespaces' }, namespace);
  if (!isNamespaceEnding(cluster, namespace)) return;
  throw forbidden(
    definition,
    name,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

/** Whether the namespace exists and is being deleted. */
function isNamespaceEnding(cluster: Cluster, namespace: string): boolean {
  return textAt(objectAt(namespaceOf(cluster, namespace), 'metadata'), 'deletionTimestamp') !== '';
}

function namespaceOf(cluster: Cluster, name: string): JsonObject | undefined {
  return cluster.store.get({ storage: 'namespaces', namespace: '', name })?.object;
}

/**
 * Sets the requester of a CertificateSigningRequest to the authenticated user, and ignores the
 * body.
 */
function fillRequester(
  target: { readonly ref: ResourceRef; readonly user: UserInfo },
  body: DecodedBody,
): DecodedBody {
  const { definition } = target.ref;
  const isRequest =
    definition.group === 'certificates.k8s.io' && definition.kind === 'CertificateSigningRequest';
  if (!isRequest || !isObject(body.value)) return body;
  const { name, uid, groups, extra } = target.user;
  const spec: JsonObject = { ...objectAt(body.value, 'spec') };
  for (const field of ['username', 'uid', 'groups', 'extra']) delete spec[field];
  spec['username'] = name;
  if (uid !== undefined && uid !== '') spec['uid'] = uid;
  if (groups.length > 0) spec['groups'] = [...groups];
  if (extra !== undefined)
    spec['extra'] = Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
  return { ...body, value: { ...body.value, spec } };
}

/** Letters and digits that cannot spell words or be mistaken for each other; the alphabet of generated names. */
const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** The five characters that are appended to `generateName`. */
function randomSuffix(length = 5): string {
  return Array.from({ length }, () => SUFFIX_ALPHABET[randomInt(SUFFIX_ALPHABET.length)]).join('');
}

interface PreparedObject {
  readonly ref: ResourceRef;
  /** In the version of `ref`, complete except for its resourceVersion. */
  readonly object: JsonObject;
  /** The version to store it in; default: the storage version. */
  readonly storedAs?: ResourceRef | undefined;
  /** Converts to that version; default: the conversions that need no webhook. */
  readonly toVersion?: (object: JsonObject, ref: ResourceRef) => JsonObject;
  /** The object comes from a client, so its size is limited. */
  readonly bounded?: true;
  /** This write removes the object; `object` is its last state. */
  readonly removed: boolean;
}

/** The end of every write: stores the object in its storage version, or removes it, and notifies what depends on it. */
export function storeObject(cluster: Cluster, prepared: PreparedObject): StoredObject {
  const { ref, object, removed } = prepared;
  const stored = prepared.storedAs ?? storageRef(ref);
  const metadata = metadataOf(object);
  const key = storageKeyOf(ref, textAt(metadata, 'namespace'), textAt(metadata, 'name'));
  const convert = prepared.toVersion ?? toVersion;
  const inStorageVersion = stored.version === ref.version ? object : convert(object, stored);
  // The response is made before the object is stored, so that no object is stored that cannot be
  // converted back.
  const response = needsResponseConversion(ref, stored) ? convert(inStorageVersion, ref) : undefined;
  const entry = removed
    ? cluster.store.delete(key, inStorageVersion)
    : cluster.store.put(key, inStorageVersion, prepared.bounded);
  // A converted object gets the defaults of its version when it is read.
  const written = ref.definition.conversion === undefined || stored.version === ref.version;
  if (!ref.definition.builtIn && written) markCurrent(entry.object, stored.version);
  if (response !== undefined)
    cacheConversion(entry.object, ref.version, withResourceVersionOf(entry.object, response));
  cluster.afterWrite(ref, { entry, removed });
  return entry;
}

function needsResponseConversion(ref: ResourceRef, stored: ResourceRef): boolean {
  return ref.definition.conversion?.kind === 'webhook' && stored.version !== ref.version;
}
