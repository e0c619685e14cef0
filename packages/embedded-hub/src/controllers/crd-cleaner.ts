import { getOwn, type JsonObject, listAt, textAt } from '../json/json-value.ts';
import { CRD_STORAGE } from '../cluster/api-cluster.ts';
import { type Cluster, metadataOf } from '../request/cluster.ts';
import { LocalClient } from '../rest/local-client.ts';
import { definitionFromCrd, isEstablished, nameConflicts } from '../scheme/crd.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { ReconcileLoop } from '@berth/runtime/loop/reconciler';
import { controllerLoop, type HubController } from './controller-loop.ts';

const CLEANUP = 'customresourcecleanup.apiextensions.k8s.io';
const CRDS = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
const RETRY_MS = 500;

/** Deletes the objects of a CustomResourceDefinition that is being deleted, then removes its finalizer; then establishes the definitions that waited for its names. */
export class CrdCleaner implements HubController {
  readonly #cluster: Cluster;
  readonly #client: LocalClient;
  readonly #loop: ReconcileLoop;
  #unsubscribe: (() => void) | undefined;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#client = new LocalClient(cluster, 'crd-cleaner');
    this.#loop = controllerLoop('crds', (name) => this.#clean(name), cluster);
  }

  start(): void {
    // Another definition may wait for the names of one that changed.
    this.#unsubscribe = this.#client.watch(CRD_STORAGE, () => this.#addAll());
    this.#addAll();
  }

  #addAll(): void {
    for (const { name } of this.#cluster.store.list(CRD_STORAGE)) this.#loop.add(name);
  }

  async stop(): Promise<void> {
    this.#unsubscribe?.();
    await this.#loop.close();
  }

  async #clean(name: string): Promise<void> {
    const crds = this.#client.ref(CRDS);
    const crd = crds === undefined ? undefined : this.#client.get(crds, { namespace: '', name });
    if (crds === undefined || crd === undefined) return;
    const metadata = metadataOf(crd);
    const finalizers = listAt(metadata, 'finalizers');
    if (getOwn(metadata, 'deletionTimestamp') === undefined) return this.#establish(crds, crd);
    if (!finalizers.includes(CLEANUP)) return;
    if ((await this.#deleteInstances(name)) > 0) {
      this.#loop.addAfter(name, RETRY_MS);
      return;
    }
    const remaining = finalizers.filter((finalizer) => finalizer !== CLEANUP);
    const patch = { metadata: { finalizers: remaining.length > 0 ? remaining : null } };
    await this.#client.mergePatch(crds, { namespace: '', name }, patch);
  }

  /** Establishes a definition whose names are free now: every write computes its status again. */
  async #establish(crds: ResourceRef, crd: JsonObject): Promise<void> {
    const { scheme } = this.#cluster;
    if (isEstablished(crd) || nameConflicts(definitionFromCrd(crd), scheme).length > 0) return;
    const key = { namespace: '', name: textAt(metadataOf(crd), 'name') };
    await this.#client.mergePatch(crds, key, { status: { conditions: [] } }, 'status');
  }

  /** @returns the number of objects that still have finalizers */
  async #deleteInstances(crdName: string): Promise<number> {
    const dot = crdName.indexOf('.');
    const definition = this.#cluster.scheme.definition(crdName.slice(dot + 1), crdName.slice(0, dot));
    const ref = this.#cluster.scheme.tables().find((table) => table.definition === definition);
    if (ref === undefined) return 0;
    const { storageKey } = ref.definition;
    for (const { namespace, name } of this.#cluster.store.list(storageKey))
      await this.#client.delete(ref, { namespace, name });
    return this.#cluster.store.list(storageKey).length;
  }
}
