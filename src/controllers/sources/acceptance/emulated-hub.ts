import type { JsonObject } from '@berth/embedded-hub/json/json-value';
import { StatusError } from '@berth/embedded-hub/wire/status-error';
import { prepareApply } from '@berth/embedded-hub/write/prepare-apply';
import { apiVersionOf, type KindInfo, typeKeyOf } from '@berth/kube/model/kinds';
import type { KubeApi, ListOptions, ObjectKey, ObjectList } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, refOf } from '@berth/kube/model/object-ref';
import { ReadOnlyKubeApi } from '@berth/kube/dry-run-kube-api';
import { errorForStatus, parseKubeStatus } from '@berth/kube/transport/kube-errors';
import { BerthError, BugError, TransientError } from '@berth/runtime/errors';
import { ExistingObjects } from '../members/objects-on-hub.ts';
import type { HubKinds } from './hub-kinds.ts';
import { writeRequest } from './hub-refusals.ts';

/**
 * A hub that is read and not asked. An apply answers with what the embedded hub would make of the object that the hub
 * has, by its server-side apply, the known definition of the kind and OCM's admission. Nothing is stored. Policies, webhooks
 * and rights do not count; nor does an object without known owners of its fields: an apply to it fails for now.
 */
export class EmulatedHub extends ReadOnlyKubeApi implements KubeApi {
  readonly server: string;
  readonly #api: KubeApi;
  readonly #kinds: HubKinds;
  readonly #existing: ExistingObjects;
  /** Why objects of a kind cannot be read. It is not tried again for each of them. */
  readonly #unread = new Map<string, BerthError>();

  constructor(api: KubeApi, kinds: HubKinds) {
    super();
    this.server = api.server;
    this.#api = api;
    this.#kinds = kinds;
    this.#existing = new ExistingObjects(api);
  }

  /** Reads the objects at once that will be applied one by one. */
  prepare(objects: readonly KubeObject[]): Promise<void> {
    return this.#existing.prepare(objects);
  }

  resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined> {
    return this.#api.resolve(apiVersion, kind);
  }

  get(kind: KindInfo, { namespace, name }: ObjectKey): Promise<KubeObject | undefined> {
    return this.#read(kind, { name, namespace });
  }

  async list(kind: KindInfo, options: ListOptions = {}): Promise<ObjectList> {
    const name = /^metadata\.name=(.+)$/.exec(options.fieldSelector ?? '')?.[1];
    if (name === undefined) return this.#api.list(kind, options);
    const found = await this.#read(kind, { name, namespace: options.namespace });
    return { items: found === undefined ? [] : [found], resourceVersion: '0' };
  }

  async *watch(): AsyncGenerator<never> {
    throw this.refused();
  }

  override async apply(...[kind, object, options]: Parameters<KubeApi['apply']>): Promise<KubeObject> {
    const live = await this.#read(kind, object.metadata);
    const ref = this.#kinds.refOf(object);
    if (ref === undefined || (live !== undefined && live.metadata.managedFields === undefined))
      throw notKnown(formatRef(refOf(object)));
    const { fieldManager, force = false } = options;
    const { name } = object.metadata;
    const request = { ...writeRequest(ref, object as unknown as JsonObject), name, fieldManager };
    const body = { value: object as unknown as JsonObject, strictErrors: [] };
    try {
      const { object: held } = prepareApply(request, live as unknown as JsonObject | undefined, body, {
        force,
      });
      return held as unknown as KubeObject;
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const subject = { method: 'APPLY', path: formatRef(refOf(object)) };
      throw errorForStatus(error.httpCode, parseKubeStatus(error.toStatus()), subject);
    }
  }

  protected refused(): BugError {
    return new BugError('is not written', { code: 'plan.read-only', subject: 'Hub' });
  }

  async #read(
    kind: KindInfo,
    { name, namespace }: { readonly name: string; readonly namespace?: string | undefined },
  ): Promise<KubeObject | undefined> {
    const head = { apiVersion: apiVersionOf(kind), kind: kind.kind };
    const unread = this.#unread.get(typeKeyOf(kind));
    if (unread !== undefined) throw unread;
    try {
      const found = await this.#existing.read(kind, { ...head, metadata: { name, namespace } });
      // Items of a list from a hub have no kind.
      return found && { ...found, ...head };
    } catch (cause) {
      if (!(cause instanceof BerthError)) throw cause;
      const error = notKnown(kind.kind, cause);
      this.#unread.set(typeKeyOf(kind), error);
      throw error;
    }
  }
}

/** It says nothing about what a hub would do. */
function notKnown(subject: string, cause?: BerthError): TransientError {
  return new TransientError('is not known well enough', { code: 'plan.not-emulated', subject, cause });
}
