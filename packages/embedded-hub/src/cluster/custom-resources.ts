import { errorText } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';
import type { Logger } from '@berth/runtime/logger';
import type { JsonObject } from '../json/json-value.ts';
import { objectAt, textAt } from '../json/json-value.ts';
import { timestamp } from '../request/cluster.ts';
import { definitionFromCrd, establishedStatus, isEstablished } from '../scheme/crd.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { Scheme } from '../scheme/scheme.ts';
import type { StoredObject } from '../store/stored-object.ts';

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
