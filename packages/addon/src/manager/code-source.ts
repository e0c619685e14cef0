import type { IndexDefinition } from '@berth/kube/cache/object-cache';
import type { Reflector } from '@berth/kube/cache/reflector';
import { findCondition } from '@berth/kube/model/condition-list';
import {
  ADDON_DEPLOYMENT_CONFIG,
  CLUSTER_MANAGEMENT_ADDON,
  groupResource,
  type KindInfo,
  MANAGED_CLUSTER_ADDON,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import {
  type AddOnDeploymentConfig,
  type ConfigKind,
  DEFAULT_INSTALL_NAMESPACE,
  HOSTING_CLUSTER_ANNOTATION,
  type ManagedClusterAddOn,
  type StatusRegistration,
} from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { errorText, InputError } from '@berth/runtime/errors';
import { done, eachDone, failed, type Outcome } from '@berth/runtime/outcome';
import {
  type AddOnContext,
  type AddOnDefinition,
  type RegistrationConfig,
  registrationProblem,
  signerOf,
  SubjectNotReadyError,
} from '../definition/define-addon.ts';
import { readAddOn, readClusterAddOn } from '../rules/addon-versions.ts';
import { isDesired } from '../rules/config-hash.ts';
import { isOfKind, NO_DEFAULT, sameKind } from '../rules/config-references.ts';
import type { AddOnHealth, ProbeResult } from '../rules/deployment/addon-health.ts';
import type { RenderedAddOn } from '../rules/deployment/plan-deployment.ts';
import {
  addOnOfPermission,
  PERMISSION_KINDS,
  permissionObject,
} from '../rules/registration/code-registrations.ts';
import type { AllowedRequest } from '../rules/registration/judge-addon-request.ts';
import {
  agentSubject,
  agentSubjects,
  nothingToRegister,
  registrationApplied,
  registrationFailed,
  registrationPending,
  type RegistrationPlan,
  statusRegistrations,
} from '../rules/registration/plan-registration.ts';
import type { AddOnOptions } from './addon-controller.ts';
import type { ClusterAddOn, DeploymentSource, RegistrationSource } from './addon-source.ts';
import { callAuthor } from './call-author.ts';

const PERMISSIONS: readonly IndexDefinition[] = PERMISSION_KINDS.map((kind) => ({
  kind,
  keysOf: addOnOfPermission,
}));
/** By the configurations that an add-on uses: `RESOURCE.GROUP NAMESPACE/NAME`. */
export const ADDONS_BY_CONFIG: IndexDefinition = {
  kind: MANAGED_CLUSTER_ADDON,
  keysOf: (object) =>
    ((object as unknown as ManagedClusterAddOn).status?.configReferences ?? []).flatMap(
      ({ group, resource, desiredConfig }) =>
        desiredConfig ? [configKey({ group, plural: resource }, namespacedName(desiredConfig))] : [],
    ),
};
const INSTALL_NAMESPACE = 'addon.open-cluster-management.io/v1alpha1-install-namespace';
/** Labels that say which add-ons a cluster has, and how they are: no add-on is made from them. */
const FEATURE_PREFIX = 'feature.open-cluster-management.io/';

/** Add-ons written in code. What one of their functions throws leaves everything as it is. */
export class CodeSource implements DeploymentSource, RegistrationSource {
  readonly reads: readonly Reflector[];
  readonly permissions = PERMISSIONS;
  readonly #options: Pick<AddOnOptions, 'cache' | 'clock'>;
  readonly #definitions: ReadonlyMap<string, AddOnDefinition>;
  readonly #configs: ReadonlyMap<string, Reflector>;
  readonly #managed: Reflector;
  readonly #followers: ((key: string) => void)[] = [];

  constructor(
    options: Pick<AddOnOptions, 'cache' | 'clock'>,
    definitions: ReadonlyMap<string, AddOnDefinition>,
  ) {
    this.#options = options;
    this.#definitions = definitions;
    const kinds = [...definitions.values()].flatMap(({ supportedConfigs = [] }) => supportedConfigs);
    this.#configs = new Map(kinds.map((kind) => [groupResource(kind), options.cache.of(kind)]));
    this.#managed = options.cache.of(CLUSTER_MANAGEMENT_ADDON);
    this.reads = [this.#managed, ...this.#configs.values()];
  }

  follow(add: (key: string) => void): void {
    this.#followers.push(add);
    const index = this.#options.cache.index(ADDONS_BY_CONFIG);
    this.#managed.store.onChange(({ key: name, before, after }) => {
      if (before?.metadata.generation === after?.metadata.generation || !this.#definitions.has(name)) return;
      for (const { metadata } of this.#options.cache.of(MANAGED_CLUSTER_ADDON).store.list())
        if (metadata.name === name) add(namespacedName(metadata));
    });
    for (const { kind, store } of this.#configs.values())
      store.onChange(({ key }) => {
        for (const { metadata } of index.get(configKey(kind, key))) add(namespacedName(metadata));
      });
  }

  /** Runs everything for one add-on of a cluster again. */
  trigger(cluster: string, addOn: string): void {
    for (const add of this.#followers) add(`${cluster}/${addOn}`);
  }

  isOwn({ metadata }: ManagedClusterAddOn): boolean {
    return this.#definitions.has(metadata.name);
  }

  isHosted({ metadata }: ManagedClusterAddOn): boolean {
    return this.#definitions.get(metadata.name)?.hostedMode === true;
  }

  /** Where nobody names a configuration there is no rollout to wait for. */
  isDue(addon: ManagedClusterAddOn): boolean {
    if (findCondition(addon.status?.conditions, 'Configured')?.status === 'False') return false;
    if (this.#named(addon).some((kind) => !this.#references(addon).some((one) => sameKind(one, kind))))
      return false;
    return this.#references(addon).every(
      ({ object, desired }) => object === undefined || isDesired(desired, object),
    );
  }

  partsOf({ metadata, status }: ManagedCluster): unknown {
    const labels = Object.entries(metadata.labels ?? {}).filter(([key]) => !key.startsWith(FEATURE_PREFIX));
    return [labels, metadata.annotations, status?.clusterClaims, status?.version];
  }

  async render(of: ClusterAddOn, signal: AbortSignal): Promise<Outcome<RenderedAddOn>> {
    const definition = this.#definitionOf(of);
    const missing = this.#references(of.addon).find(({ object }) => object === undefined);
    if (missing !== undefined)
      return failed(
        `${groupResource({ group: missing.group, plural: missing.resource })} "${missing.desired.name}" not found`,
      );
    const { installNamespace } = this.#contextOf(of, signal);
    try {
      const manifests = await this.#call('manifests', of, signal, (context) => definition.manifests(context));
      const problem = manifests.map(manifestProblem).find((one) => one !== undefined);
      if (problem !== undefined) return failed(problem);
      const { deleteOption, manifestConfigs } = definition;
      return done({ manifests, installNamespace, deleteOption, manifestConfigs });
    } catch (error) {
      return failed(errorText(error));
    }
  }

  health({ metadata }: ManagedClusterAddOn): AddOnHealth {
    const { health = 'lease' } = this.#definitions.get(metadata.name) ?? {};
    return typeof health === 'string' ? { kind: health } : { kind: 'probe', fields: health.fields };
  }

  async check(
    of: ClusterAddOn,
    results: readonly ProbeResult[],
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { health } = this.#definitionOf(of);
    if (typeof health !== 'object') return undefined;
    return this.#call('health check', of, signal, (context) => health.check(results, context));
  }

  installNamespace(of: ClusterAddOn): string | undefined {
    return this.#definitions.has(of.addon.metadata.name) ? this.#placeOf(of.addon) : undefined;
  }

  async register(of: ClusterAddOn, signal: AbortSignal): Promise<RegistrationPlan | undefined> {
    const { addon } = of;
    const definition = this.#definitions.get(addon.metadata.name);
    if (definition === undefined) return undefined;
    if (definition.registration === undefined) return nothingToRegister();
    const { permissions } = definition.registration;
    let registrations = (addon as unknown as StoredRegistrations).status?.registrations ?? [];
    try {
      registrations = statusRegistrations(addon, await this.declared(of, signal));
      const known = agentSubjects(addon, registrations);
      const subjects = () => {
        if (known.length === 0) throw new SubjectNotReadyError();
        return known;
      };
      const objects =
        permissions === undefined
          ? []
          : await this.#call('permissions', of, signal, (context) => permissions({ ...context, subjects }));
      const wanted = eachDone(objects, (object) => permissionObject(addon, object));
      return wanted.ok
        ? registrationApplied(registrations, wanted.value)
        : registrationFailed(registrations, wanted.error);
    } catch (error) {
      if (error instanceof SubjectNotReadyError) return registrationPending(registrations);
      return registrationFailed(registrations, errorText(error));
    }
  }

  /** @throws InputError for two registrations with one signer, or a signer of Kubernetes' own */
  async declared(of: ClusterAddOn, signal: AbortSignal): Promise<readonly StatusRegistration[]> {
    const { configurations = [] } = this.#definitions.get(of.addon.metadata.name)?.registration ?? {};
    const all =
      typeof configurations === 'function'
        ? await this.#call('registrations', of, signal, configurations)
        : configurations;
    const why = registrationProblem(all);
    if (why !== undefined)
      throw new InputError(why, { code: 'addon.definition', subject: `add-on ${of.addon.metadata.name}` });
    const own = agentSubject(of.addon);
    return all.map((config) => ({ signerName: signerOf(config), subject: subjectOf(config, own) }));
  }

  async approve(
    of: ClusterAddOn,
    { signerName, content: request, why: problem }: AllowedRequest & { readonly why: string | undefined },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { approve } = this.#definitionOf(of).registration ?? {};
    if (approve === undefined) return problem === undefined;
    return this.#call('approval', of, signal, (context) =>
      approve({ ...context, signerName, request, problem }),
    );
  }

  async sign(
    of: ClusterAddOn,
    { signerName, content: request }: AllowedRequest,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const { sign } = this.#definitionOf(of).registration ?? {};
    if (sign === undefined) return undefined;
    return this.#call('signing', of, signal, (context) => sign({ ...context, signerName, request }));
  }

  #definitionOf({ addon: { metadata } }: ClusterAddOn): AddOnDefinition {
    const definition = this.#definitions.get(metadata.name);
    if (definition !== undefined) return definition;
    throw new InputError('has no definition here', {
      ...{ code: 'addon.definition', subject: `add-on ${metadata.name}` },
    });
  }

  #call<T>(
    what: string,
    of: ClusterAddOn,
    signal: AbortSignal,
    call: (context: AddOnContext) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#options;
    return callAuthor(
      `${what} of add-on ${of.addon.metadata.name}`,
      (limited) => call(this.#contextOf(of, limited)),
      { clock, signal },
    );
  }

  #contextOf({ addon: stored, cluster }: ClusterAddOn, signal: AbortSignal): AddOnContext {
    const addon = readClusterAddOn(stored as unknown as KubeObject);
    const references = this.#references(stored);
    const configs = (kind: KindInfo): readonly KubeObject[] =>
      references.flatMap(({ object, ...of }) => (isOfKind(of, kind) && object ? [object] : []));
    const deploymentConfig = this.#deploymentConfigOf(stored);
    const { customizedVariables = [] } = deploymentConfig?.spec ?? {};
    const { annotations } = addon.metadata;
    return {
      ...{ cluster, addon, deploymentConfig, configs, signal },
      installNamespace: this.#placeOf(stored),
      hostingCluster: this.isHosted(addon) ? annotations?.[HOSTING_CLUSTER_ANNOTATION] : undefined,
      values: Object.fromEntries(customizedVariables.map(({ name, value = '' }) => [name, value])),
    };
  }

  #placeOf(stored: ManagedClusterAddOn): string {
    const { name, annotations } = readClusterAddOn(stored as unknown as KubeObject).metadata;
    return (
      this.#definitions.get(name)?.installNamespace ||
      this.#deploymentConfigOf(stored)?.spec?.agentInstallNamespace ||
      annotations?.[INSTALL_NAMESPACE] ||
      DEFAULT_INSTALL_NAMESPACE
    );
  }

  #deploymentConfigOf(stored: ManagedClusterAddOn): AddOnDeploymentConfig | undefined {
    const found = this.#references(stored).find(
      (one) => isOfKind(one, ADDON_DEPLOYMENT_CONFIG) && one.object,
    );
    return found?.object as unknown as AddOnDeploymentConfig | undefined;
  }

  /** Kinds of which the add-on, or its ClusterManagementAddOn, names a configuration: the status has them a moment later. */
  #named(stored: ManagedClusterAddOn): readonly ConfigKind[] {
    const managed = this.#managed.store.get(stored.metadata.name);
    const defaults = (managed && readAddOn(managed).spec.defaultConfigs) ?? [];
    const own = readClusterAddOn(stored as unknown as KubeObject).spec?.configs ?? [];
    return [...defaults.filter(({ name }) => name !== NO_DEFAULT), ...own].filter((kind) =>
      this.#supports(stored, kind),
    );
  }

  #supports({ metadata }: ManagedClusterAddOn, of: ConfigKind): boolean {
    const { supportedConfigs = [] } = this.#definitions.get(metadata.name) ?? {};
    return supportedConfigs.some((kind) => isOfKind(of, kind));
  }

  /** The configurations of supported kinds that the add-on shall use, and their objects. */
  #references(addon: ManagedClusterAddOn) {
    return (addon.status?.configReferences ?? []).flatMap(({ group, resource, desiredConfig: desired }) => {
      const reflector = this.#configs.get(groupResource({ group, plural: resource }));
      if (!desired || reflector === undefined || !this.#supports(addon, { group, resource })) return [];
      return [{ group, resource, desired, object: reflector.store.get(namespacedName(desired)) }];
    });
  }
}

/** What v1alpha1 has beside the type. */
interface StoredRegistrations {
  readonly status?: { readonly registrations?: readonly StatusRegistration[] };
}

function subjectOf(
  config: RegistrationConfig,
  own: NonNullable<StatusRegistration['subject']>,
): StatusRegistration['subject'] {
  const { user, groups } = config;
  if (config.type === 'KubeClient') return { user: user ?? own.user, groups: groups ?? own.groups };
  const { organizationUnits } = config;
  if (user === undefined && groups === undefined && organizationUnits === undefined) return own;
  return {
    ...(user !== undefined && { user }),
    ...(groups !== undefined && { groups }),
    ...(organizationUnits !== undefined && { organizationUnit: organizationUnits }),
  };
}

/** JavaScript may return anything: what has no name would break the work of all the others. */
function manifestProblem(manifest: KubeObject): string | undefined {
  const { apiVersion, kind, metadata } = manifest as Partial<KubeObject>;
  return apiVersion && kind && metadata?.name
    ? undefined
    : `a manifest has no apiVersion, kind or name: ${JSON.stringify(manifest)?.slice(0, 100)}`;
}

export function configKey(kind: Pick<KindInfo, 'group' | 'plural'>, key: string): string {
  return `${groupResource(kind)} ${key}`;
}
