import { jsonEqual } from '@berth/runtime/json/json-equal';
import { MANAGED_CLUSTER, MANAGED_CLUSTER_SET, MANAGED_CLUSTER_SET_BINDING } from '@berth/kube/model/kinds';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { DEFAULT_SETS, planDefaultMembership, planDefaultSet } from '@berth/ocm/registration/default-sets';
import {
  bindingCondition,
  planManagedNamespaces,
  setCondition,
} from '../../core/registration/cluster-sets.ts';
import { REGISTRATION_MANAGER } from '@berth/ocm/registration/names';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import { CachedController } from '@berth/kube/controller/cached-controller';
import { type RegistrationOptions, writeConditions } from './registration-options.ts';

/** Clusters often join and leave sets in groups. Changes within this time are counted together. */
const GATHER_MS = 250;

/** Keys are `set NAME`, `binding NAMESPACE/NAME` and `cluster NAME`. */
export class ClusterSetController extends CachedController<RegistrationOptions> {
  readonly name = 'sets';
  readonly #clusters = this.read(MANAGED_CLUSTER);
  readonly #sets = this.read(MANAGED_CLUSTER_SET);
  readonly #bindings = this.read(MANAGED_CLUSTER_SET_BINDING);

  follow(queue: WorkQueue): void {
    const soon = (key: string): void => queue.addAfter(key, GATHER_MS);
    const allSets = (): void => {
      for (const { metadata } of this.#sets.store.list()) soon(`set ${metadata.name}`);
    };
    const allClusters = (): void => {
      for (const { metadata } of this.#clusters.store.list()) soon(`cluster ${metadata.name}`);
    };
    for (const name of DEFAULT_SETS.keys()) soon(`set ${name}`);
    for (const { metadata } of this.#bindings.store.list()) soon(`binding ${namespacedName(metadata)}`);
    allSets();
    allClusters();
    this.#clusters.store.onChange(({ key, before, after }) => {
      if (!jsonEqual(before?.metadata.labels, after?.metadata.labels) || before === undefined) allSets();
      if (after === undefined) allSets();
      else soon(`cluster ${key}`);
    });
    this.#sets.store.onChange(({ key, before, after }) => {
      soon(`set ${key}`);
      for (const { metadata } of this.#bindings.store.list())
        if (metadata.name === key) soon(`binding ${namespacedName(metadata)}`);
      if (!jsonEqual(before?.['spec'], after?.['spec']) || after === undefined) allClusters();
    });
    this.#bindings.store.onChange(({ key, after }) => {
      if (after !== undefined) soon(`binding ${key}`);
    });
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const [what, name = ''] = key.split(' ');
    if (what === 'set') await this.#reconcileSet(name);
    else if (what === 'binding') await this.#reconcileBinding(name);
    else await this.#reconcileCluster(name);
    return DONE;
  }

  async #reconcileSet(name: string): Promise<void> {
    const { hub } = this.options;
    const object = this.#sets.store.get(name);
    const plan = planDefaultSet(name, object as ManagedClusterSet | undefined);
    if (plan?.kind === 'create') {
      await hub.create(MANAGED_CLUSTER_SET, plan.set as unknown as KubeObject, {
        fieldManager: REGISTRATION_MANAGER,
        metadataOnly: true,
      });
      return;
    }
    if (object === undefined) return;
    if (plan?.kind === 'restore') {
      const { uid, resourceVersion } = object.metadata;
      // The old fields are removed explicitly, because a merge patch would keep a selector beside the type.
      const clusterSelector = { labelSelector: null, ...withLabelSelector(plan.selector, object) };
      await hub.mergePatch(
        MANAGED_CLUSTER_SET,
        { namespace: '', name },
        { metadata: { uid, resourceVersion }, spec: { clusterSelector } },
        { fieldManager: REGISTRATION_MANAGER, metadataOnly: true },
      );
      return;
    }
    const condition = setCondition(object as unknown as ManagedClusterSet, this.#allClusters());
    await writeConditions(this.options, MANAGED_CLUSTER_SET, object, [condition]);
  }

  async #reconcileBinding(key: string): Promise<void> {
    const object = this.#bindings.store.get(key);
    if (object === undefined) return;
    const { clusterSet = '' } = (object['spec'] ?? {}) as { readonly clusterSet?: string };
    const set = this.#sets.store.get(clusterSet);
    const condition = bindingCondition(set as unknown as ManagedClusterSet | undefined);
    await writeConditions(this.options, MANAGED_CLUSTER_SET_BINDING, object, [condition]);
  }

  async #reconcileCluster(name: string): Promise<void> {
    const cluster = this.#clusters.store.get(name) as ManagedCluster | undefined;
    if (cluster === undefined) return;
    const { uid, resourceVersion } = cluster.metadata;
    const labels = planDefaultMembership(cluster);
    if (labels !== undefined) {
      // With the version that was read, so that the set that a person gives it meanwhile is kept.
      const patch = { metadata: { uid, resourceVersion, labels } };
      const options = { fieldManager: REGISTRATION_MANAGER, metadataOnly: true };
      await this.options.hub.mergePatch(MANAGED_CLUSTER, { namespace: '', name }, patch, options);
      return;
    }
    const sets = this.#sets.store.list() as unknown as readonly ManagedClusterSet[];
    const managedNamespaces = planManagedNamespaces(cluster, sets);
    if (managedNamespaces === undefined) return;
    await this.options.hub.mergePatch(
      MANAGED_CLUSTER,
      { namespace: '', name },
      { metadata: { uid, resourceVersion }, status: { managedNamespaces } },
      { subresource: 'status', fieldManager: REGISTRATION_MANAGER, metadataOnly: true },
    );
  }

  #allClusters(): readonly ManagedCluster[] {
    return this.#clusters.store.list() as unknown as readonly ManagedCluster[];
  }
}

/** A merge patch that leaves exactly the wanted label selector: other fields of the object's selector become null. */
function withLabelSelector(selector: object, object: KubeObject): object {
  const wanted = (selector as { readonly labelSelector?: object }).labelSelector;
  if (wanted === undefined) return selector;
  const { clusterSelector } = (object['spec'] ?? {}) as {
    readonly clusterSelector?: { readonly labelSelector?: object };
  };
  const gone: Record<string, null> = {};
  for (const field of Object.keys(clusterSelector?.labelSelector ?? {})) gone[field] = null;
  return { ...selector, labelSelector: { ...gone, ...wanted } };
}
