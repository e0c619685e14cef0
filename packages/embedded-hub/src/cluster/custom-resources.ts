import { createHash } from 'node:crypto';
import { errorText } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import type { JsonObject } from '../json/json-value.ts';
import { objectAt, textAt } from '../json/json-value.ts';
import { metadataOf, timestamp } from '../request/cluster.ts';
import { definitionFromCrd, establishedStatus, isEstablished } from '../scheme/crd.ts';
import type { GivenKinds } from '../scheme/create-scheme.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import { Scheme } from '../scheme/scheme.ts';
import type { ObjectStore } from '../store/object-store.ts';
import { StoredObject, stampVersion } from '../store/stored-object.ts';
import { forbidden } from '../wire/status-errors.ts';
import { CRD_STRATEGY } from '../write/strategy/crd-strategy.ts';
import type { AdmissionCheck } from '../write/write-request.ts';

export const CRD_STORAGE = 'customresourcedefinitions.apiextensions.k8s.io';

/** Keeps the scheme consistent with the stored CustomResourceDefinitions. */
export class CustomResources {
  readonly #scheme: Scheme;
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(scheme: Scheme, deps: { readonly clock: Clock; readonly log: Logger }) {
    this.#scheme = scheme;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** The definition with its status, established immediately. */
  complete(ref: ResourceRef, object: JsonObject): JsonObject {
    if (ref.definition.storageKey !== CRD_STORAGE) return object;
    return { ...object, status: establishedStatus(object, this.#scheme, timestamp(this.#clock)) };
  }

  afterWrite(ref: ResourceRef, entry: StoredObject, removed: boolean): void {
    if (ref.definition.storageKey !== CRD_STORAGE) return;
    if (removed) this.#unregister(entry.object);
    else this.register(entry.object);
  }

  /**
   * Serves the definition once its names are accepted. One that cannot be served (written by an
   * older version) is skipped and logged.
   */
  register(crd: JsonObject): void {
    if (!isEstablished(crd)) return;
    try {
      this.#scheme.register(definitionFromCrd(crd, this.#scheme));
    } catch (error) {
      const name = textAt(objectAt(crd, 'metadata'), 'name');
      this.#log.error('custom resource definition is not served', { crd: name, error: errorText(error) });
    }
  }

  #unregister(crd: JsonObject): void {
    const spec = objectAt(crd, 'spec');
    this.#scheme.unregister(textAt(spec, 'group'), textAt(objectAt(spec, 'names'), 'plural'));
  }
}

/**
 * The definitions of given kinds as clients read them: established, and under the same uid at each start.
 * @param now RFC 3339: since when they are served
 */
export function givenCrds({ definitions }: GivenKinds, now: string): readonly StoredObject[] {
  return definitions.map((definition) => {
    const crd = CRD_STRATEGY.fillIn?.(definition, undefined, now) ?? definition;
    const name = textAt(metadataOf(crd), 'name');
    const metadata = { name, uid: uidOf(name), creationTimestamp: now, generation: 1 };
    const object = { ...crd, metadata, status: establishedStatus(crd, new Scheme([]), now) };
    return StoredObject.of({ namespace: '', name }, 1, stampVersion(object, 1));
  });
}

function uidOf(name: string): string {
  const digest = createHash('sha256').update(`${CRD_STORAGE}/${name}`).digest('hex');
  return digest.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
}

/** Without its definition, the hub would still serve a given kind. */
export function givenCrdCheck(store: ObjectStore): AdmissionCheck {
  return ({ operation, ref: { definition }, object }) => {
    const name = textAt(metadataOf(object), 'name');
    const storage = definition.storageKey;
    if (operation === 'DELETE' && storage === CRD_STORAGE && store.isGiven({ storage, namespace: '', name }))
      throw forbidden(definition, name, 'the hub itself defines this kind, so it cannot be deleted');
    return [];
  };
}
