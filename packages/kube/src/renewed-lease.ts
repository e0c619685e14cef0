import { ConflictError, InputError } from '@berth/runtime/errors';
import type { Clock } from '@berth/runtime/clock/clock';
import { apiVersionOf, LEASE } from './model/kinds.ts';
import type { KubeApi, ObjectKey } from './model/kube-api.ts';
import type { KubeObject } from './model/object-meta.ts';
import { formatMicroTime, instantFromEpochMs } from './model/rfc3339.ts';

export interface RenewedLeaseOptions {
  readonly clock: Clock;
  /** The spec of a lease that is created if there is none. Undefined: another process creates it. */
  readonly created?: { readonly leaseDurationSeconds: number } | undefined;
}

/**
 * A lease whose renewTime says that a process is alive. Nobody competes for it.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/lease/lease_controller.go`, and
 * open-cluster-management.io/addon-framework `pkg/lease/lease_controller.go`, which creates it.
 */
export class RenewedLease {
  readonly #api: KubeApi;
  readonly #key: ObjectKey;
  readonly #options: RenewedLeaseOptions;
  /** The lease as last written. No other client writes it, so it is not read each time. */
  #known: KubeObject | undefined;

  constructor(api: KubeApi, key: ObjectKey, options: RenewedLeaseOptions) {
    this.#api = api;
    this.#key = key;
    this.#options = options;
  }

  /** @throws InputError `kube.notfound` while nobody has created it; the errors of the API */
  async renew(): Promise<void> {
    try {
      await this.#write(this.#known ?? (await this.#read()));
    } catch (error) {
      const isStale = error instanceof ConflictError || isNotFound(error);
      if (this.#known === undefined || !isStale) throw error;
      this.#known = undefined;
      await this.#write(await this.#read());
    }
  }

  /** A lease that is to be created has no version. */
  async #read(): Promise<KubeObject> {
    const found = await this.#api.get(LEASE, this.#key);
    if (found !== undefined) return found;
    const { created: spec } = this.#options;
    if (spec !== undefined)
      return { apiVersion: apiVersionOf(LEASE), kind: LEASE.kind, metadata: { ...this.#key }, spec };
    throw new InputError('has not been created by the hub yet', {
      code: 'kube.notfound',
      subject: `lease ${this.#key.namespace}/${this.#key.name}`,
    });
  }

  async #write(lease: KubeObject): Promise<void> {
    const renewTime = formatMicroTime(instantFromEpochMs(this.#options.clock.now()));
    const renewed = { ...lease, spec: { ...(lease['spec'] as object | undefined), renewTime } };
    this.#known =
      lease.metadata.resourceVersion === undefined
        ? await this.#api.create(LEASE, renewed)
        : await this.#api.update(LEASE, renewed);
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof InputError && error.code === 'kube.notfound';
}
