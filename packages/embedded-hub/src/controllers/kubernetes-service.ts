import { KUBERNETES_SERVICE, SERVICES } from '../cluster/kubernetes-service-object.ts';
import type { Cluster } from '../request/cluster.ts';
import { LocalClient } from '../rest/local-client.ts';
import type { ReconcileLoop } from '@berth/runtime/loop/reconcile-loop';
import { controllerLoop } from './controller-loop.ts';
import type { HubController } from './hub-controller.ts';

const { namespace, name } = KUBERNETES_SERVICE.metadata;

/**
 * Creates the Service `default/kubernetes` again when it is deleted. kube-apiserver checks every ten seconds. As there,
 * changes of the Service are not reverted. Source: kubernetes `pkg/controlplane/controller/kubernetesservice/controller.go`.
 */
export class KubernetesService implements HubController {
  readonly #client: LocalClient;
  readonly #loop: ReconcileLoop;
  #unsubscribe: (() => void) | undefined;

  constructor(cluster: Cluster) {
    this.#client = new LocalClient(cluster, 'kubernetes-service-controller');
    this.#loop = controllerLoop('kubernetes-service', () => this.#restore(), cluster);
  }

  start(): void {
    this.#unsubscribe = this.#client.watch('services', (events) => {
      if (events.some(({ entry }) => entry.namespace === namespace && entry.name === name))
        this.#loop.add(name);
    });
    this.#loop.add(name);
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#loop.close();
  }

  async #restore(): Promise<void> {
    const ref = this.#client.ref(SERVICES);
    if (ref === undefined || this.#client.get(ref, { namespace, name }) !== undefined) return;
    await this.#client.create(ref, namespace, KUBERNETES_SERVICE);
  }
}
