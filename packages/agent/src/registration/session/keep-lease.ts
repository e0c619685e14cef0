import { ConflictError, InputError } from '@berth/runtime/errors';
import { LEASE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatMicroTime, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { CLUSTER_LEASE } from '@berth/ocm/registration/names';

/**
 * Renews the lease that tells the hub that the agent is alive. The hub creates the lease; the agent writes only its
 * renewTime.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/lease/lease_controller.go`.
 */
export class ClusterLease {
  readonly #api: KubeApi;
  readonly #clusterName: string;
  readonly #clock: Clock;
  /** The lease as last written. No other client writes it, so it is not read each time. */
  #known: KubeObject | undefined;

  constructor(api: KubeApi, clusterName: string, clock: Clock) {
    this.#api = api;
    this.#clusterName = clusterName;
    this.#clock = clock;
  }

  /** @throws InputError `kube.notfound` while the hub has not created it; the errors of the API */
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

  async #read(): Promise<KubeObject> {
    const found = await this.#api.get(LEASE, { namespace: this.#clusterName, name: CLUSTER_LEASE });
    if (found !== undefined) return found;
    throw new InputError('has not been created by the hub yet', {
      code: 'kube.notfound',
      subject: `lease ${this.#clusterName}/${CLUSTER_LEASE}`,
    });
  }

  async #write(lease: KubeObject): Promise<void> {
    const spec = {
      ...(lease['spec'] as object | undefined),
      renewTime: formatMicroTime(instantFromEpochMs(this.#clock.now())),
    };
    this.#known = await this.#api.update(LEASE, { ...lease, spec });
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof InputError && error.code === 'kube.notfound';
}
