import { ConflictError } from '../../core/errors.ts';
import { NAMESPACE } from '../../core/model/kinds.ts';
import type { KubeApi } from '../../core/ports.ts';

/** Makes namespaces that are missing, and remembers those that are there. */
export class NeededNamespaces {
  readonly #api: KubeApi;
  readonly #known = new Set<string>();

  constructor(api: KubeApi) {
    this.#api = api;
  }

  async need(name: string): Promise<void> {
    if (this.#known.has(name)) return;
    if ((await this.#api.get(NAMESPACE, { namespace: '', name })) === undefined) {
      const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      await this.#api.create(NAMESPACE, namespace, { fieldManager: 'berth' }).catch((error: unknown) => {
        // Somebody else was faster.
        if (!(error instanceof ConflictError)) throw error;
      });
    }
    this.#known.add(name);
  }
}
