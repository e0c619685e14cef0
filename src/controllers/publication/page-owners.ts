import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import { apiVersionOf, NAMESPACE, PLACEMENT } from '@berth/kube/model/kinds';
import type { Placement } from '@berth/ocm/kind/placement';
import type { KubeObject, OwnerReference } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';

/** How long the uid of a namespace is cached. A namespace that was deleted and created again has another one, and other pages. */
const UID_CACHE_MS = 60_000;

/**
 * The owners of PlacementDecisions: the placement, as OCM sets it, and the namespace. The garbage
 * collector deletes an object that has lost all owners. With the namespace as second owner, the
 * pages of a placement that a user deletes by mistake stay until it is applied from Git again, so
 * its clusters never disappear. Berth itself deletes the pages of a placement that was removed from
 * Git (`isKeptByNamespace`).
 *
 * Rejected: a finalizer on the placement, which would block its deletion after Berth was
 * uninstalled.
 */
export class PageOwners {
  readonly #api: Pick<KubeApi, 'list'>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #mayListNamespaces: boolean;
  readonly #known = new Map<string, { readonly atMs: number; readonly uid: Promise<string | undefined> }>();

  /** @param options.mayListNamespaces whether this process may list namespaces; if not, the placement is the only owner */
  constructor(options: {
    readonly api: Pick<KubeApi, 'list'>;
    readonly clock: Pick<Clock, 'now'>;
    readonly mayListNamespaces: boolean;
  }) {
    this.#api = options.api;
    this.#clock = options.clock;
    this.#mayListNamespaces = options.mayListNamespaces;
  }

  /** @throws TransientError when the hub does not respond */
  async of({ metadata: { namespace = '', name, uid = '' } }: Placement): Promise<readonly OwnerReference[]> {
    const ownerUid = this.#mayListNamespaces ? await this.#uidOf(namespace) : undefined;
    const placement = {
      ...{ apiVersion: apiVersionOf(PLACEMENT), kind: PLACEMENT.kind, name, uid },
      ...{ controller: true, blockOwnerDeletion: true },
    };
    if (ownerUid === undefined) return [placement];
    const { kind } = NAMESPACE;
    return [placement, { apiVersion: apiVersionOf(NAMESPACE), kind, name: namespace, uid: ownerUid }];
  }

  #uidOf(namespace: string): Promise<string | undefined> {
    const nowMs = this.#clock.now();
    const known = this.#known.get(namespace);
    if (known !== undefined && Math.abs(nowMs - known.atMs) < UID_CACHE_MS) return known.uid;
    const uid = this.#read(namespace);
    this.#known.set(namespace, { atMs: nowMs, uid });
    uid.catch(() => this.#known.delete(namespace));
    return uid;
  }

  async #read(namespace: string): Promise<string | undefined> {
    try {
      const { items } = await this.#api.list(NAMESPACE, { fieldSelector: `metadata.name=${namespace}` });
      return items[0]?.metadata.uid;
    } catch (error) {
      if (mayBeAllowedLater(error)) return undefined;
      throw error;
    }
  }
}

/** Whether the page stays when its placement is deleted. */
export function isKeptByNamespace({ metadata: { ownerReferences = [] } }: KubeObject): boolean {
  return ownerReferences.some(({ kind, apiVersion }) => kind === NAMESPACE.kind && apiVersion === 'v1');
}
