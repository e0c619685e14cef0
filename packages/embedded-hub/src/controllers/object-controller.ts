import type { ReconcileLoop } from '@berth/runtime/loop/reconcile-loop';
import type { Cluster } from '../request/cluster.ts';
import { LocalClient } from '../rest/local-client.ts';
import { controllerLoop } from './controller-loop.ts';
import type { HubController } from './hub-controller.ts';

interface ObjectControllerOptions {
  /** The name of the loop in log messages. */
  readonly name: string;
  /** The controller's name as a user of the API. */
  readonly user: string;
  /** Storage key of the resource. */
  readonly storage: string;
}

/** A controller of the objects of one resource: reconciles each at the start, and after each change. */
export abstract class ObjectController<C extends Cluster = Cluster> implements HubController {
  protected readonly cluster: C;
  protected readonly client: LocalClient;
  readonly #storage: string;
  readonly #loop: ReconcileLoop;
  #unsubscribe: (() => void) | undefined;

  constructor(cluster: C, { name, user, storage }: ObjectControllerOptions) {
    this.cluster = cluster;
    this.client = new LocalClient(cluster, user);
    this.#storage = storage;
    this.#loop = controllerLoop(name, (key) => this.reconcile(key), cluster);
  }

  start(): void {
    this.#unsubscribe = this.client.watch(this.#storage, (events) => {
      for (const { entry } of events) this.#loop.add(keyOf(entry));
    });
    for (const entry of this.cluster.store.list(this.#storage)) this.#loop.add(keyOf(entry));
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#loop.close();
  }

  /** @param key `NAME` of a cluster-scoped object, or `NAMESPACE/NAME` */
  protected abstract reconcile(key: string): Promise<void>;
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}
