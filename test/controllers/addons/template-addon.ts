import { ADDON_TEMPLATE, CLUSTER_MANAGEMENT_ADDON, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import type { StatusRegistration, TemplateRegistration } from '@berth/ocm/kind/addon';

const GROUP = 'addon.open-cluster-management.io';

export interface AddOnStatus {
  readonly conditions?: readonly Condition[];
  readonly registrations?: readonly StatusRegistration[];
  readonly kubeClientDriver?: string;
}

/** An add-on of a template on a hub whose configurations a person writes. */
export class TemplateAddOn {
  readonly name: string;
  readonly template: string;
  readonly #api: KubeApi;
  #owner: KubeObject | undefined;

  constructor(api: KubeApi, name: string) {
    this.#api = api;
    this.name = name;
    this.template = `${name}-1`;
  }

  /** Makes the template and the ClusterManagementAddOn. */
  async create(registration: readonly TemplateRegistration[]): Promise<void> {
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x', namespace: 'default' } };
    await this.#api.create(ADDON_TEMPLATE, {
      ...{ apiVersion: `${GROUP}/v1alpha1`, kind: 'AddOnTemplate', metadata: { name: this.template } },
      spec: {
        ...{ addonName: this.name, registration },
        agentSpec: { workload: { manifests: [manifest] } },
      },
    });
    this.#owner = await this.#api.create(CLUSTER_MANAGEMENT_ADDON, {
      ...{ apiVersion: `${GROUP}/v1alpha1`, kind: 'ClusterManagementAddOn', metadata: { name: this.name } },
      spec: {},
    });
  }

  change(registration: readonly TemplateRegistration[]): Promise<KubeObject> {
    const key = { namespace: '', name: this.template };
    return this.#api.mergePatch(ADDON_TEMPLATE, key, { spec: { registration } });
  }

  /** Puts it on a cluster, with the template decided. */
  async addTo(cluster: string): Promise<void> {
    const { kind, apiVersion, metadata } = this.#owner ?? {};
    const owner = { apiVersion, kind, name: metadata?.name, uid: metadata?.uid, controller: true };
    await this.#api.create(MANAGED_CLUSTER_ADDON, {
      ...{ apiVersion: `${GROUP}/v1alpha1`, kind: 'ManagedClusterAddOn', spec: {} },
      metadata: { namespace: cluster, name: this.name, ownerReferences: [owner] } as KubeObject['metadata'],
    });
    const desiredConfig = { name: this.template, specHash: 'abc' };
    const reference = { group: GROUP, resource: 'addontemplates', name: this.template, desiredConfig };
    await this.setStatus(cluster, { configReferences: [{ ...reference, lastObservedGeneration: 1 }] });
  }

  setStatus(cluster: string, status: object): Promise<KubeObject> {
    const key = { namespace: cluster, name: this.name };
    return this.#api.mergePatch(MANAGED_CLUSTER_ADDON, key, { status }, { subresource: 'status' });
  }

  removeFrom(cluster: string): Promise<unknown> {
    return this.#api.delete(MANAGED_CLUSTER_ADDON, { namespace: cluster, name: this.name });
  }

  async status(cluster: string): Promise<AddOnStatus> {
    const found = await this.#api.get(MANAGED_CLUSTER_ADDON, { namespace: cluster, name: this.name });
    return found?.['status'] ?? {};
  }

  /** `Status Reason: message` of a condition. */
  async condition(cluster: string, type = 'RegistrationApplied'): Promise<string | undefined> {
    const found = (await this.status(cluster)).conditions?.find((one) => one.type === type);
    return found && `${found.status} ${found.reason}: ${found.message}`;
  }
}
