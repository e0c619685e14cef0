import { createUnlessThere } from '../../../adapters/kube/create-unless-there.ts';
import { NAMESPACE } from '../../../core/model/kinds.ts';
import type { KubeApi } from '../../../core/ports.ts';

/** Makes namespaces that are missing, and remembers those that are there. */
export class NeededNamespaces {
  readonly #api: KubeApi;
  readonly #known = new Set<string>();

  constructor(api: KubeApi) {
    this.#api = api;
  }

  /** Somebody may have deleted one: look again. */
  forget(): void {
    this.#known.clear();
  }

  async need(name: string): Promise<void> {
    if (this.#known.has(name)) return;
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await createUnlessThere(this.#api, NAMESPACE, namespace, { fieldManager: 'berth' });
    this.#known.add(name);
  }
}
