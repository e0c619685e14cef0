import { createIfAbsent } from '@berth/kube/create-if-absent';
import { type KindInfo, MANAGED_CLUSTER, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';

/** Creates missing namespaces, and remembers existing ones. */
export class NamespaceCreator {
  readonly #api: KubeApi;
  readonly #known = new Map<string, Promise<void>>();

  constructor(api: KubeApi) {
    this.#api = api;
  }

  /** Clears the cache. Called when a namespace may have been deleted. */
  forget(): void {
    this.#known.clear();
  }

  /**
   * Objects that are written at the same time share one request.
   * @param labels the labels of the namespace if it has to be created
   */
  ensure(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const metadata = { name, ...(Object.keys(labels).length > 0 && { labels }) };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata };
    const made = createIfAbsent(this.#api, NAMESPACE, namespace, { fieldManager: 'berth' });
    this.#known.set(name, made);
    made.catch(() => {
      if (this.#known.get(name) === made) this.#known.delete(name);
    });
    return made;
  }

  /** Makes the namespace that an object needs: its own, or that of a cluster. */
  async ensureFor({ namespaced }: KindInfo, { kind, metadata }: KubeObject): Promise<void> {
    if (namespaced) await this.ensure(metadata.namespace ?? 'default');
    if (kind !== MANAGED_CLUSTER.kind) return;
    // With the label of registration; a namespace without it may belong to someone else.
    const { name } = metadata;
    await this.ensure(name, { [CLUSTER_NAME_LABEL]: name });
  }
}
