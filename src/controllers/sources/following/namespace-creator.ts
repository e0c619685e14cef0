import { createIfAbsent } from '../../../adapters/kube/create-if-absent.ts';
import { NAMESPACE } from '../../../core/model/kinds.ts';
import type { KubeApi } from '../../../core/ports.ts';

/** Creates missing namespaces, and remembers existing ones. */
export class NamespaceCreator {
  readonly #api: KubeApi;
  readonly #known = new Set<string>();

  constructor(api: KubeApi) {
    this.#api = api;
  }

  /** Clears the cache. Called when a namespace may have been deleted. */
  forget(): void {
    this.#known.clear();
  }

  /** @param labels the labels of the namespace if it has to be created */
  async ensure(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    if (this.#known.has(name)) return;
    const metadata = { name, ...(Object.keys(labels).length > 0 && { labels }) };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata };
    await createIfAbsent(this.#api, NAMESPACE, namespace, { fieldManager: 'berth' });
    this.#known.add(name);
  }
}
