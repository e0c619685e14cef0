import type { IndexDefinition } from '@berth/kube/cache/object-cache';
import type { ObjectChange } from '@berth/kube/cache/object-store';
import type { Reflector } from '@berth/kube/cache/reflector';
import {
  ADDON_DEPLOYMENT_CONFIG,
  ADDON_TEMPLATE,
  CLUSTER_MANAGEMENT_ADDON,
  type KindInfo,
  MANAGED_CLUSTER_ADDON,
  ROLE_BINDING,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { secretTexts } from '@berth/kube/secret-texts';
import {
  type AddOnDeploymentConfig,
  type AddOnTemplate,
  type ManagedClusterAddOn,
  type StatusRegistration,
} from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { ADDON_NAME_LABEL, CLUSTER_NAME_LABEL } from '@berth/ocm/registration/names';
import { TransientError } from '@berth/runtime/errors';
import { done, type Outcome } from '@berth/runtime/outcome';
import { isConfigured, isOfTemplate, readAddOn } from '../rules/addon-versions.ts';
import { isDesired } from '../rules/config-hash.ts';
import { isOfKind } from '../rules/config-references.ts';
import type { AddOnHealth } from '../rules/deployment/addon-health.ts';
import type { RenderedAddOn } from '../rules/deployment/plan-deployment.ts';
import type { AllowedRequest } from '../rules/registration/judge-addon-request.ts';
import type { RegistrationPlan } from '../rules/registration/plan-registration.ts';
import {
  desiredTemplate,
  planRegistration,
  TEMPLATE_LABEL,
  templateRegistrations,
} from '../rules/registration/template-registrations.ts';
import {
  renderAddOnTemplate,
  type TemplateInput,
  templateInstallNamespace,
} from '../rules/render-template.ts';
import type { AddOnOptions } from './addon-controller.ts';
import type { ClusterAddOn, DeploymentSource, RegistrationSource } from './addon-source.ts';
import { signWithAuthority } from './sign-with-authority.ts';

/** By what an add-on is made from: keys of the function below. */
const ADDONS_BY_PART: IndexDefinition = {
  kind: MANAGED_CLUSTER_ADDON,
  keysOf: (object) => {
    const { metadata, status } = object as unknown as ManagedClusterAddOn;
    return [
      partKey(CLUSTER_MANAGEMENT_ADDON, metadata.name),
      ...(status?.configReferences ?? []).flatMap(({ group, resource, desiredConfig }) =>
        desiredConfig ? [partKey({ group, plural: resource }, namespacedName(desiredConfig))] : [],
      ),
    ];
  },
};
/** The bindings of an add-on, by `CLUSTER/ADDON`. */
const BINDINGS: IndexDefinition = { kind: ROLE_BINDING, keysOf: addOnOfBinding };

const IMAGE_REGISTRIES = 'open-cluster-management.io/image-registries';
/** Where OCM's add-on manager runs, and looks for the authorities of templates that name no namespace. */
const HUB_NAMESPACE = 'open-cluster-management-hub';

/** Deploys what AddOnTemplates describe. */
export class TemplateDeployment implements DeploymentSource {
  readonly reads: readonly Reflector[];
  readonly #managed;
  readonly #templates;
  readonly #configs;
  readonly #addonsOf;

  constructor({ cache }: Pick<AddOnOptions, 'cache'>) {
    this.#managed = cache.of(CLUSTER_MANAGEMENT_ADDON);
    this.#templates = cache.of(ADDON_TEMPLATE);
    this.#configs = cache.of(ADDON_DEPLOYMENT_CONFIG);
    this.reads = [this.#managed, this.#templates, this.#configs];
    this.#addonsOf = cache.index(ADDONS_BY_PART);
  }

  follow(add: (key: string) => void): void {
    const addParts = (kind: KindInfo, { key, before, after }: ObjectChange): void => {
      // How far its clusters are is said in its status, again and again: no add-on is made from that.
      const isStatus = before?.metadata.generation === after?.metadata.generation;
      if (kind === CLUSTER_MANAGEMENT_ADDON && isStatus) return;
      for (const { metadata } of this.#addonsOf.get(partKey(kind, key))) add(namespacedName(metadata));
    };
    for (const { kind, store } of this.reads) store.onChange((change) => addParts(kind, change));
  }

  /** One that is going keeps its manager when its ClusterManagementAddOn is gone. */
  isOwn({ metadata: { name }, status }: ManagedClusterAddOn): boolean {
    const managed = this.#managed.store.get(name);
    if (managed !== undefined && isOfTemplate(readAddOn(managed))) return true;
    return status?.configReferences?.some((reference) => isOfKind(reference, ADDON_TEMPLATE)) === true;
  }

  isHosted(): boolean {
    return true;
  }

  /** Template and configuration are those of which the status has the hashes. */
  isDue(addon: ManagedClusterAddOn): boolean {
    const references = addon.status?.configReferences;
    const isCurrent = [this.#templates, this.#configs].every(({ kind, store }) => {
      const desired = references?.find((one) => isOfKind(one, kind))?.desiredConfig;
      const config = store.get(desired ? namespacedName(desired) : '');
      return config === undefined || !desired || isDesired(desired, config);
    });
    return isCurrent && isConfigured(addon);
  }

  partsOf({ metadata }: ManagedCluster): unknown {
    return metadata.annotations?.[IMAGE_REGISTRIES];
  }

  async render(of: ClusterAddOn): Promise<Outcome<RenderedAddOn>> {
    const rendered = renderAddOnTemplate(templateInput(of, this.#templates, this.#configs));
    if (!rendered.ok) return rendered;
    const { template, manifests, installNamespace } = rendered.value;
    const { deleteOption, manifestConfigs } = template.spec.agentSpec;
    return done({ manifests, installNamespace, deleteOption, manifestConfigs });
  }

  health(): AddOnHealth {
    return { kind: 'workloads' };
  }
}

/** Registers what AddOnTemplates declare. */
export class TemplateRegistration implements RegistrationSource {
  readonly reads: readonly Reflector[];
  readonly permissions = [BINDINGS];
  readonly #options: Pick<AddOnOptions, 'hub' | 'clock'>;
  readonly #templates;
  readonly #configs;
  readonly #addonsOf;

  constructor(options: Pick<AddOnOptions, 'hub' | 'cache' | 'clock'>) {
    this.#options = options;
    this.#templates = options.cache.of(ADDON_TEMPLATE);
    this.#configs = options.cache.of(ADDON_DEPLOYMENT_CONFIG);
    this.#addonsOf = options.cache.index(ADDONS_BY_PART);
    this.reads = [options.cache.of(MANAGED_CLUSTER_ADDON), this.#templates, this.#configs];
  }

  follow(add: (key: string) => void): void {
    for (const { kind, store } of [this.#templates, this.#configs])
      store.onChange(({ key }) => {
        for (const { metadata } of this.#addonsOf.get(partKey(kind, key))) add(namespacedName(metadata));
      });
  }

  installNamespace(of: ClusterAddOn): string | undefined {
    const found = templateInstallNamespace(templateInput(of, this.#templates, this.#configs));
    return found.ok ? found.value : undefined;
  }

  async register({ addon }: ClusterAddOn): Promise<RegistrationPlan | undefined> {
    const name = desiredTemplate(addon);
    return name === undefined ? undefined : planRegistration(addon, name, this.#templateOf(addon));
  }

  health(): AddOnHealth {
    return { kind: 'workloads' };
  }

  async declared({ addon }: ClusterAddOn): Promise<readonly StatusRegistration[] | undefined> {
    const template = this.#templateOf(addon);
    return template && templateRegistrations(addon, template);
  }

  /** @throws TransientError while the Secret has no authority that is valid: somebody makes or renews it */
  async sign({ addon }: ClusterAddOn, { signerName, content }: AllowedRequest): Promise<string | undefined> {
    const signer = this.#templateOf(addon)?.spec.registration?.find(
      ({ customSigner }) => customSigner?.signerName === signerName,
    )?.customSigner;
    if (signer === undefined) return undefined;
    const { namespace, name } = signer.signingCA;
    const key = { namespace: namespace || HUB_NAMESPACE, name };
    const of = {
      subject: `Secret ${key.namespace}/${key.name}`,
      hint: 'tls.crt and tls.key are the certificate and the key of the authority that the AddOnTemplate names as signingCA',
    };
    const secret = await this.#options.hub.get(SECRET, key);
    if (secret === undefined)
      throw new TransientError('cannot sign for an add-on: there is no such Secret', {
        code: 'addon.signing-ca',
        ...of,
      });
    const { 'tls.crt': certPem = '', 'tls.key': keyPem = '' } = secretTexts(secret);
    const nowMs = this.#options.clock.now();
    return signWithAuthority({ certPem, keyPem }, content, { nowMs, of });
  }

  #templateOf(addon: ManagedClusterAddOn): AddOnTemplate | undefined {
    return this.#templates.store.get(desiredTemplate(addon) ?? '') as AddOnTemplate | undefined;
  }
}

function templateInput(
  { addon, cluster }: ClusterAddOn,
  templates: Reflector,
  configs: Reflector,
): TemplateInput {
  return {
    addonName: addon.metadata.name,
    cluster: cluster.metadata,
    addon,
    template: (name) => templates.store.get(name) as AddOnTemplate | undefined,
    deploymentConfig: (namespace, name) =>
      configs.store.get(`${namespace}/${name}`) as AddOnDeploymentConfig | undefined,
  };
}

function addOnOfBinding({ metadata: { labels = {} } }: KubeObject): string | undefined {
  const { [CLUSTER_NAME_LABEL]: cluster, [ADDON_NAME_LABEL]: addon, [TEMPLATE_LABEL]: template } = labels;
  return template === undefined || !cluster || !addon ? undefined : `${cluster}/${addon}`;
}

function partKey({ group, plural }: Pick<KindInfo, 'group' | 'plural'>, key: string): string {
  return `${plural}.${group} ${key}`;
}
