import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { setCondition } from '@berth/kube/model/condition-list';
import type { AddOnConfigReference, ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { DeleteOption, FieldValue, ManifestConfig, ManifestWork } from '@berth/ocm/kind/manifest-work';
import { type DeploymentPlan, planDeployment } from '../../../src/rules/deployment/plan-deployment.ts';
import type { AddOnHealth } from '../../../src/rules/deployment/addon-health.ts';
import { isConfigured } from '../../../src/rules/addon-versions.ts';
import type { WorkWrite } from '../../../src/rules/deployment/addon-work.ts';
import { done, failed } from '@berth/runtime/outcome';

export const NOW = '2026-03-01T12:00:00Z';
const ADDON = 'addon.open-cluster-management.io';
export const PRE_DELETE = `${ADDON}/addon-pre-delete`;
export const HOSTING_PRE_DELETE = `${ADDON}/hosting-addon-pre-delete`;
export const HOSTING_CLEANUP = `${ADDON}/hosting-manifests-cleanup`;

export function configMap(name: string, annotations: Record<string, string> = {}, value = '1'): KubeObject {
  const metadata = { name, namespace: 'agent', annotations };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { value } };
}

export function deployment(name: string, annotations: Record<string, string> = {}, replicas = 1): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'agent', annotations },
    spec: { replicas },
  };
}

export function daemonSet(name: string): KubeObject {
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { name, namespace: 'agent' }, spec: {} };
}

export function hookJob(name: string, annotations: Record<string, string> = {}): KubeObject {
  const metadata = { name, namespace: 'agent', annotations: { [PRE_DELETE]: '', ...annotations } };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata };
}

export function at(location: string): Record<string, string> {
  return { [`${ADDON}/hosted-manifest-location`]: location };
}

export function condition(type: string, status: Condition['status'], message = ''): Condition {
  return { type, status, reason: 'Test', message };
}

export const TEMPLATE_REFERENCE: AddOnConfigReference = {
  group: ADDON,
  resource: 'addontemplates',
  lastObservedGeneration: 1,
  desiredConfig: { name: 'web-1', specHash: 'aaa' },
};

/** An add-on with its works, and what the hub does about them. `step` makes what a pass plans. */
export class DeploymentHarness {
  manifests: readonly KubeObject[] = [configMap('a')];
  manifestConfigs: readonly ManifestConfig[] | undefined;
  deleteOption: DeleteOption | undefined;
  renderError: string | undefined;
  isRolledOut = true;
  health: AddOnHealth = { kind: 'workloads' };
  hostingCluster: string | undefined;
  readonly clusters = new Map<string, ManagedCluster>();
  works: ManifestWork[] = [];
  addon: ManagedClusterAddOn = {
    apiVersion: `${ADDON}/v1alpha1`,
    kind: 'ManagedClusterAddOn',
    metadata: { name: 'web', namespace: 'c1', uid: 'u-web', finalizers: [] },
    status: {
      conditions: [condition('RegistrationApplied', 'True'), condition('Configured', 'True')],
      configReferences: [TEMPLATE_REFERENCE],
    },
  };

  constructor(...manifests: readonly KubeObject[]) {
    if (manifests.length > 0) this.manifests = manifests;
    this.cluster('c1');
  }

  cluster(
    name: string,
    over: { readonly isGoing?: boolean; readonly conditions?: readonly Condition[] } = {},
  ): this {
    const metadata = { name, ...(over.isGoing === true ? { deletionTimestamp: NOW } : {}) };
    const status = { conditions: over.conditions ?? [] };
    this.clusters.set(name, { apiVersion: '', kind: 'ManagedCluster', metadata, status });
    return this;
  }

  hosted(on: string): this {
    this.hostingCluster = on;
    return this;
  }

  /** As the API server does: the add-on stays while it has finalizers. */
  delete(): this {
    this.addon = { ...this.addon, metadata: { ...this.addon.metadata, deletionTimestamp: NOW } };
    return this;
  }

  set(...conditions: readonly Condition[]): this {
    const before = this.addon.status?.conditions ?? [];
    const after = conditions.reduce<readonly Condition[]>(
      (list, one) => setCondition(list, one, NOW),
      before,
    );
    this.addon = { ...this.addon, status: { ...this.addon.status, conditions: after } };
    return this;
  }

  without(type: string): this {
    const conditions = this.addon.status?.conditions?.filter((one) => one.type !== type);
    this.addon = { ...this.addon, status: { ...this.addon.status, conditions } };
    return this;
  }

  plan(): DeploymentPlan {
    const hosting = this.hostingCluster;
    return planDeployment({
      addon: this.addon,
      cluster: this.clusters.get('c1') as ManagedCluster,
      hosting: hosting === undefined ? undefined : { name: hosting, cluster: this.clusters.get(hosting) },
      works: this.works,
      rendered:
        this.renderError === undefined
          ? done({
              ...{ manifests: this.manifests, installNamespace: 'agent' },
              ...{ manifestConfigs: this.manifestConfigs, deleteOption: this.deleteOption },
            })
          : failed(this.renderError),
      isDue: this.isRolledOut && isConfigured(this.addon),
      health: this.health,
    });
  }

  /** One pass: what it wrote, as `create c1/addon-web-deploy-0`. */
  step(): readonly string[] {
    const plan = this.plan();
    const { finalizers = [] } = this.addon.metadata;
    if (plan.addFinalizers.length > 0) {
      this.#setFinalizers([...finalizers, ...plan.addFinalizers]);
      return plan.addFinalizers.map((name) => `+ ${name}`);
    }
    for (const write of plan.writes) this.#write(write);
    for (const type of plan.dropped) this.without(type);
    this.set(...plan.conditions);
    this.#setFinalizers(finalizers.filter((name) => !plan.removeFinalizers.includes(name)));
    return [
      ...plan.writes.map(
        ({ do: verb, work: { metadata } }) => `${verb} ${metadata.namespace}/${metadata.name}`,
      ),
      ...plan.removeFinalizers.map((name) => `- ${name}`),
    ];
  }

  /** Passes until one writes nothing. */
  settle(): readonly string[] {
    const all: string[] = [];
    for (let pass = 0; pass < 10; pass += 1) {
      const written = this.step();
      if (written.length === 0) return all;
      all.push(...written);
    }
    throw new Error(`still writes after ten passes: ${all.join('; ')}`);
  }

  /** What the agent reports of the works whose names contain the text. */
  report(
    part: string,
    conditions: readonly Condition[],
    values: Readonly<Record<string, Readonly<Record<string, FieldValue['integer'] | string>>>> = {},
  ): this {
    this.works = this.works.map((work) => {
      if (!work.metadata.name.includes(part)) return work;
      const manifests = (work.spec?.workload?.manifests ?? []).map(
        ({ apiVersion, kind, metadata }, ordinal) => ({
          resourceMeta: {
            ...{ ordinal, kind, name: metadata.name, namespace: metadata.namespace ?? '' },
            ...{
              group: apiVersion.includes('/') ? apiVersion.split('/')[0] : '',
              resource: `${kind.toLowerCase()}s`,
            },
          },
          statusFeedback: {
            values: Object.entries(values[metadata.name] ?? {}).map(([name, value]) => ({
              name,
              fieldValue:
                typeof value === 'string'
                  ? ({ type: 'String', string: value } as const)
                  : ({ type: 'Integer', integer: value } as const),
            })),
          },
        }),
      );
      return { ...work, status: { conditions, resourceStatus: { manifests } } };
    });
    return this;
  }

  /** `True AddonManifestApplied`; undefined: there is no such condition. */
  state(type: string): string | undefined {
    const found = this.addon.status?.conditions?.find((one) => one.type === type);
    return found === undefined ? undefined : `${found.status} ${found.reason}`;
  }

  message(type: string): string | undefined {
    return this.addon.status?.conditions?.find((one) => one.type === type)?.message;
  }

  /** Names of the manifests in each work. */
  contents(): Readonly<Record<string, readonly string[]>> {
    return Object.fromEntries(
      this.works.map(({ metadata, spec }) => [
        `${metadata.namespace}/${metadata.name}`,
        (spec?.workload?.manifests ?? []).map((manifest) => manifest.metadata.name),
      ]),
    );
  }

  #write({ do: verb, work }: WorkWrite): void {
    const isIt = ({ metadata }: ManifestWork): boolean =>
      metadata.name === work.metadata.name && metadata.namespace === work.metadata.namespace;
    if (verb === 'create') this.works.push(work);
    else if (verb === 'delete') this.works = this.works.filter((one) => !isIt(one));
    else this.works = this.works.map((one) => (isIt(one) ? work : one));
  }

  #setFinalizers(finalizers: readonly string[]): void {
    this.addon = { ...this.addon, metadata: { ...this.addon.metadata, finalizers } };
  }
}
