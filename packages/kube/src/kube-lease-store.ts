import { ConflictError, InputError } from '@berth/runtime/errors';
import { apiVersionOf, LEASE, NAMESPACE } from './model/kinds.ts';
import type { KubeObject } from './model/object-meta.ts';
import type { KubeApi, ObjectKey } from './model/kube-api.ts';
import type { Lease, LeaseStore, StoredLease } from './leader-election/lease.ts';
import { createIfAbsent } from './create-if-absent.ts';

/** The fields of coordination.k8s.io/v1 LeaseSpec that are read here. */
interface LeaseSpec {
  readonly holderIdentity?: string | null;
  readonly leaseDurationSeconds?: number | null;
  readonly leaseTransitions?: number | null;
  readonly acquireTime?: string | null;
  readonly renewTime?: string | null;
}

/**
 * A lease in a Lease object (coordination.k8s.io/v1), in the format of client-go's LeaseLock, so that kubectl and other
 * tools can read it.
 */
export class KubeLeaseStore implements LeaseStore {
  readonly name: string;
  readonly #api: KubeApi;
  readonly #key: ObjectKey;

  /** @param api a separate client without a fence, because a renewal must not wait behind other requests */
  constructor(api: KubeApi, key: ObjectKey) {
    this.#api = api;
    this.#key = key;
    this.name = `${key.namespace}/${key.name}`;
  }

  async read(): Promise<StoredLease | undefined> {
    const object = await this.#api.get(LEASE, this.#key);
    return object === undefined ? undefined : leaseOf(object);
  }

  async create(lease: Lease): Promise<StoredLease> {
    const object: KubeObject = {
      apiVersion: apiVersionOf(LEASE),
      kind: LEASE.kind,
      metadata: { ...this.#key },
      spec: specOf(lease),
    };
    try {
      return leaseOf(await this.#api.create(LEASE, object, OPTIONS));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      // On a new hub, the first process creates the namespace.
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.#key.namespace } };
      await createIfAbsent(this.#api, NAMESPACE, namespace, OPTIONS);
      return leaseOf(await this.#api.create(LEASE, object, OPTIONS));
    }
  }

  /** Sends a patch, so that labels and fields of other writers stay. */
  async replace({ version }: StoredLease, lease: Lease): Promise<StoredLease> {
    const patch = { metadata: { resourceVersion: version }, spec: specOf(lease) };
    try {
      return leaseOf(await this.#api.mergePatch(LEASE, this.#key, patch, OPTIONS));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      throw new ConflictError('was deleted', {
        code: error.code,
        subject: `Lease ${this.name}`,
        cause: error,
      });
    }
  }
}

function isNotFound(error: unknown): error is InputError {
  return error instanceof InputError && error.code === 'kube.notfound';
}

const OPTIONS = { fieldManager: 'berth' } as const;

function leaseOf(object: KubeObject): StoredLease {
  const spec = (object['spec'] ?? {}) as LeaseSpec;
  return {
    holder: spec.holderIdentity ?? '',
    durationMs: (spec.leaseDurationSeconds ?? 0) * 1_000,
    transitions: spec.leaseTransitions ?? 0,
    acquiredAtMs: timeOf(spec.acquireTime),
    renewedAtMs: timeOf(spec.renewTime),
    version: object.metadata.resourceVersion ?? '',
  };
}

function specOf(lease: Lease): LeaseSpec {
  return {
    holderIdentity: lease.holder,
    leaseDurationSeconds: Math.ceil(lease.durationMs / 1_000),
    leaseTransitions: lease.transitions,
    acquireTime: microTime(lease.acquiredAtMs),
    renewTime: microTime(lease.renewedAtMs),
  };
}

/** MicroTime of Kubernetes: RFC 3339 with six digits after the second. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

function timeOf(text: string | null | undefined): number {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? 0 : ms;
}
