import type { Condition, ObjectMeta } from '@berth/kube/model/object-meta';
import type { RolloutStrategy } from './manifest-work-replica-set.ts';
import type { ManifestWorkSpec } from './manifest-work.ts';

/* addon.open-cluster-management.io in the shape of v1beta1, which OCM's controllers speak since 1.3. */

export const ADDON_GROUP = 'addon.open-cluster-management.io';
export const DEFAULT_INSTALL_NAMESPACE = 'open-cluster-management-agent-addon';
/** On a ManagedClusterAddOn: the cluster that runs the add-on's agent for this one. */
export const HOSTING_CLUSTER_ANNOTATION = 'addon.open-cluster-management.io/hosting-cluster-name';
/** On a ManifestWork of an add-on that is in another namespace than the add-on: the add-on's namespace. */
export const ADDON_NAMESPACE_LABEL = 'open-cluster-management.io/addon-namespace';
/** On a ManifestWork of an add-on: the hashes of the configurations that it was made from. */
export const CONFIG_HASH_ANNOTATION = 'open-cluster-management.io/config-spec-hash';

/** Which kind a configuration of an add-on has. `group` is '' for Kubernetes' core kinds. */
export interface ConfigKind {
  readonly group: string;
  readonly resource: string;
}

/** `namespace` is absent, or '', for kinds without one. */
export interface ConfigReferent {
  readonly namespace?: string | undefined;
  readonly name: string;
}

export interface AddOnConfig extends ConfigKind, ConfigReferent {}

/** `specHash` is '' while the object is not there, and while nobody has written its hash. */
export interface ConfigSpecHash extends ConfigReferent {
  readonly specHash: string;
}

export interface ClusterManagementAddOn {
  readonly apiVersion: string;
  readonly kind: 'ClusterManagementAddOn';
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly defaultConfigs?: readonly AddOnConfig[] | undefined;
    readonly installStrategy?: InstallStrategy | undefined;
  };
  readonly status?: ClusterManagementAddOnStatus | undefined;
}

export interface InstallStrategy {
  /** Absent, or '': Manual. */
  readonly type?: string | undefined;
  readonly placements?: readonly InstallPlacement[] | undefined;
}

export interface InstallPlacement extends ConfigReferent {
  readonly namespace: string;
  readonly configs?: readonly AddOnConfig[] | undefined;
  readonly rolloutStrategy?: RolloutStrategy | undefined;
}

export interface ClusterManagementAddOnStatus {
  readonly defaultConfigReferences?: readonly DefaultConfigReference[] | undefined;
  readonly installProgressions?: readonly InstallProgression[] | undefined;
}

export interface DefaultConfigReference extends ConfigKind {
  readonly desiredConfig?: ConfigSpecHash | null | undefined;
}

/** How far a placement of an install strategy is. */
export interface InstallProgression {
  readonly namespace: string;
  readonly name: string;
  readonly configReferences?: readonly InstallConfigReference[] | undefined;
  readonly conditions?: readonly Condition[] | undefined;
}

export interface InstallConfigReference extends DefaultConfigReference {
  readonly lastKnownGoodConfig?: ConfigSpecHash | null | undefined;
  readonly lastAppliedConfig?: ConfigSpecHash | null | undefined;
}

/** Its namespace is the name of the cluster, its name that of the ClusterManagementAddOn. */
export interface ManagedClusterAddOn {
  readonly apiVersion: string;
  readonly kind: 'ManagedClusterAddOn';
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly configs?: readonly AddOnConfig[] | undefined } | undefined;
  readonly status?: ManagedClusterAddOnStatus | undefined;
}

export interface ManagedClusterAddOnStatus {
  readonly conditions?: readonly Condition[] | undefined;
  readonly configReferences?: readonly AddOnConfigReference[] | undefined;
  readonly supportedConfigs?: readonly ConfigKind[] | undefined;
  /** Where the add-on's agent runs. */
  readonly namespace?: string | undefined;
  readonly healthCheck?: { readonly mode?: string | undefined } | undefined;
}

/** What the cluster's agent shall register for an add-on: an entry of `status.registrations` in v1alpha1. */
export interface StatusRegistration {
  readonly signerName: string;
  readonly subject?: SignerSubject | undefined;
}

export interface AddOnConfigReference extends ConfigKind {
  /** The generation of the object when its hash was taken. */
  readonly lastObservedGeneration: number;
  readonly desiredConfig?: ConfigSpecHash | null | undefined;
  readonly lastAppliedConfig?: ConfigSpecHash | null | undefined;
}

export interface AddOnTemplate {
  readonly apiVersion: string;
  readonly kind: 'AddOnTemplate';
  readonly metadata: ObjectMeta;
  readonly spec: {
    readonly addonName: string;
    readonly agentSpec: ManifestWorkSpec;
    readonly registration?: readonly TemplateRegistration[] | undefined;
  };
}

export interface TemplateRegistration {
  readonly type: 'KubeClient' | 'CustomSigner';
  readonly kubeClient?: { readonly hubPermissions?: readonly HubPermission[] | undefined } | undefined;
  readonly customSigner?: TemplateSigner | undefined;
}

export interface HubPermission {
  readonly type: 'CurrentCluster' | 'SingleNamespace';
  readonly currentCluster?: { readonly clusterRoleName: string } | undefined;
  readonly singleNamespace?:
    | {
        readonly namespace: string;
        readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
      }
    | undefined;
}

export interface TemplateSigner {
  readonly signerName: string;
  readonly subject?: SignerSubject | undefined;
  readonly signingCA: { readonly name: string; readonly namespace?: string | undefined };
}

/** As v1alpha1 and templates write it; `status.registrations` of v1beta1 has `organizationUnits`. */
export interface SignerSubject {
  readonly user?: string | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly organizationUnit?: readonly string[] | undefined;
}

export interface AddOnDeploymentConfig {
  readonly apiVersion: string;
  readonly kind: 'AddOnDeploymentConfig';
  readonly metadata: ObjectMeta;
  readonly spec?: AddOnDeploymentConfigSpec | undefined;
}

export interface AddOnDeploymentConfigSpec {
  readonly customizedVariables?: readonly { readonly name: string; readonly value?: string | undefined }[];
  readonly nodePlacement?:
    | {
        readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
        readonly tolerations?: readonly unknown[] | undefined;
      }
    | undefined;
  readonly registries?: readonly ImageMirror[] | undefined;
  readonly proxyConfig?: ProxyConfig | undefined;
  /** '' keeps the namespaces that a template has. The API's default is DEFAULT_INSTALL_NAMESPACE. */
  readonly agentInstallNamespace?: string | undefined;
  readonly resourceRequirements?: readonly ContainerResources[] | undefined;
}

export interface ImageMirror {
  readonly source?: string | undefined;
  readonly mirror: string;
}

export interface ProxyConfig {
  readonly httpProxy?: string | undefined;
  readonly httpsProxy?: string | undefined;
  readonly noProxy?: string | undefined;
  /** PEM, in Base64. */
  readonly caBundle?: string | undefined;
}

export interface ContainerResources {
  /** `RESOURCE:NAME:CONTAINER`; each may be `*`. */
  readonly containerID: string;
  readonly resources: unknown;
}
