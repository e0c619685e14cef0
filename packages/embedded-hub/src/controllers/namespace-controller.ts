import { getOwn, type JsonObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import { type Cluster, metadataOf } from '../request/cluster.ts';
import { LocalClient } from '../rest/local-client.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { ReconcileLoop } from '@berth/runtime/loop/reconciler';
import { controllerLoop, type HubController } from './controller-loop.ts';

const NAMESPACES = { group: '', version: 'v1', plural: 'namespaces' };
const ROOT_CA = 'kube-root-ca.crt';
const DRAIN_RETRY_MS = 500;

/**
 * Creates the default ServiceAccount and the root certificate in an active namespace. In a
 * terminating one it deletes all objects, and lists again until none is left, since finalizers may
 * delay deletions; then it removes the namespace.
 */
export class NamespaceController implements HubController {
  readonly #cluster: Cluster;
  readonly #client: LocalClient;
  readonly #caPem: string;
  readonly #loop: ReconcileLoop;
  readonly #unsubscribe: (() => void)[] = [];

  constructor(cluster: Cluster, caPem: string) {
    this.#cluster = cluster;
    this.#client = new LocalClient(cluster, 'namespace-controller');
    this.#caPem = caPem;
    this.#loop = controllerLoop('namespaces', (name) => this.#reconcile(name), cluster);
  }

  start(): void {
    const watchNamespaces = (
      storage: string,
      keyOf: (entry: { namespace: string; name: string }) => string,
    ): void => {
      const listener = this.#client.watch(storage, (events) => {
        for (const { entry } of events) this.#loop.add(keyOf(entry));
      });
      this.#unsubscribe.push(listener);
    };
    watchNamespaces('namespaces', ({ name }) => name);
    // These objects belong to every namespace and are created again when they are deleted.
    watchNamespaces('serviceaccounts', ({ namespace }) => namespace);
    watchNamespaces('configmaps', ({ namespace, name }) => (name === ROOT_CA ? namespace : ''));
    for (const { name } of this.#cluster.store.list('namespaces')) this.#loop.add(name);
  }

  async stop(): Promise<void> {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    await this.#loop.close();
  }

  async #reconcile(name: string): Promise<void> {
    const ref = this.#client.ref(NAMESPACES);
    const namespace = ref === undefined ? undefined : this.#client.get(ref, { namespace: '', name });
    if (ref === undefined || namespace === undefined) return;
    const terminating = getOwn(metadataOf(namespace), 'deletionTimestamp') !== undefined;
    if (terminating) await this.#drain(ref, namespace, name);
    else await this.#createDefaults(name);
  }

  async #createDefaults(name: string): Promise<void> {
    const accounts = this.#client.ref({ group: '', version: 'v1', plural: 'serviceaccounts' });
    const configMaps = this.#client.ref({ group: '', version: 'v1', plural: 'configmaps' });
    if (accounts === undefined || configMaps === undefined) return;
    // Both in one commit.
    await Promise.all([this.#createAccount(accounts, name), this.#publishRootCertificate(configMaps, name)]);
  }

  async #createAccount(accounts: ResourceRef, namespace: string): Promise<void> {
    if (this.#client.get(accounts, { namespace, name: 'default' }) !== undefined) return;
    const metadata = { name: 'default', namespace };
    await this.#client.create(accounts, namespace, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  }

  async #publishRootCertificate(configMaps: ResourceRef, namespace: string): Promise<void> {
    const present = this.#client.get(configMaps, { namespace, name: ROOT_CA });
    const data = { 'ca.crt': this.#caPem };
    if (present === undefined) {
      const metadata = { name: ROOT_CA, namespace };
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
      await this.#client.create(configMaps, namespace, object);
    } else if (textAt(objectAt(present, 'data'), 'ca.crt') !== this.#caPem)
      await this.#client.mergePatch(configMaps, { namespace, name: ROOT_CA }, { data });
  }

  async #drain(ref: ResourceRef, namespace: JsonObject, name: string): Promise<void> {
    if (listAt(objectAt(namespace, 'spec'), 'finalizers').length === 0) return;
    let remaining = 0;
    for (const resource of this.#namespacedResources()) {
      const { storageKey } = resource.definition;
      for (const entry of this.#cluster.store.list(storageKey, name)) {
        const key = { namespace: name, name: entry.name };
        await this.#client.delete(resource, key, { propagation: 'Background' });
      }
      remaining += this.#cluster.store.list(storageKey, name).length;
    }
    if (remaining > 0) {
      this.#loop.addAfter(name, DRAIN_RETRY_MS);
      return;
    }
    const spec = { ...objectAt(namespace, 'spec'), finalizers: [] };
    const current = this.#client.get(ref, { namespace: '', name });
    if (current !== undefined)
      await this.#client.update(ref, { namespace: '', name }, { ...current, spec }, 'finalize');
  }

  #namespacedResources(): readonly ResourceRef[] {
    return this.#cluster.scheme
      .tables()
      .filter(({ definition }) => definition.namespaced && definition.verbs.includes('delete'));
  }
}
