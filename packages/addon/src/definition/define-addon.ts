import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { AddOnDeploymentConfig, ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { DeleteOption, ManifestConfig } from '@berth/ocm/kind/manifest-work';
import { CLIENT_SIGNER } from '@berth/ocm/registration/names';
import { InputError } from '@berth/runtime/errors';
import type { ProbeField, ProbeResult } from '../rules/deployment/addon-health.ts';
import type { SignedContent } from '../rules/registration/judge-addon-request.ts';
import type { RbacSubject } from '../rules/registration/plan-registration.ts';

/*
 * An add-on written in code: what runs on each cluster, what it registers at the hub, and how it shows that it lives. As the framework's
 * `AgentAddon` and its options (open-cluster-management.io/addon-framework 1.3 `pkg/agent/inteface.go`), as plain objects and functions.
 */

/** What a function of an add-on is asked about: the add-on on one cluster. */
export interface AddOnContext {
  readonly cluster: ManagedCluster;
  /** In v1beta1. Its namespace is the name of the cluster. */
  readonly addon: ManagedClusterAddOn;
  /** Where the add-on's agent runs. */
  readonly installNamespace: string;
  /** The cluster that runs the agent for this one. Undefined: its own. */
  readonly hostingCluster: string | undefined;
  /** The AddOnDeploymentConfig that the add-on uses, if the definition supports it. */
  readonly deploymentConfig: AddOnDeploymentConfig | undefined;
  /** The variables of that AddOnDeploymentConfig, by name. */
  readonly values: Readonly<Record<string, string>>;
  /** The configurations of a supported kind that the add-on of this cluster shall use, in their order. */
  readonly configs: (kind: KindInfo) => readonly KubeObject[];
  /** Aborts when the manager ends, or when the function has taken 30 seconds. */
  readonly signal: AbortSignal;
}

/** One certificate that the cluster's agent gets for the add-on. */
export type RegistrationConfig =
  | {
      /** A client of the hub: the Secret `NAME-hub-kubeconfig`. */
      readonly type: 'KubeClient';
      /** Default: `system:open-cluster-management:cluster:CLUSTER:addon:NAME:agent:NAME-agent`. */
      readonly user?: string | undefined;
      /** Default: the group of this add-on on this cluster, and that on all clusters. */
      readonly groups?: readonly string[] | undefined;
    }
  | {
      /** A certificate of a signer of the add-on's own: the Secret `NAME-SIGNER-client-cert`. */
      readonly type: 'CustomSigner';
      /** e.g. `example.com/my-signer` */
      readonly signerName: string;
      /** Default: the subject of the hub's client. */
      readonly user?: string | undefined;
      readonly groups?: readonly string[] | undefined;
      readonly organizationUnits?: readonly string[] | undefined;
    };

export interface PermissionContext extends AddOnContext {
  /**
   * Who the add-on's agent on this cluster is at the hub, for a RoleBinding.
   * @throws SubjectNotReadyError while that is not known
   */
  readonly subjects: () => readonly RbacSubject[];
}

/** A certificate request of the cluster's agent for the add-on. */
export interface RequestContext extends AddOnContext {
  readonly signerName: string;
  readonly request: SignedContent;
}

export interface ApprovalContext extends RequestContext {
  /** Why the request is not approved by default: another agent made it, or it does not have the registered subject. */
  readonly problem: string | undefined;
}

export interface RegistrationDefinition {
  /** One for each signer. */
  readonly configurations:
    | readonly RegistrationConfig[]
    | ((context: AddOnContext) => Promise<readonly RegistrationConfig[]>);
  /**
   * The Roles, RoleBindings, ClusterRoles and ClusterRoleBindings that the add-on of this cluster has on the hub, and no others of
   * this function. They go with it. Their default namespace is that of the cluster; outside of it a name contains that of the cluster.
   * What the function throws changes no rights. `bindRole` makes the usual pair.
   */
  readonly permissions?: ((context: PermissionContext) => Promise<readonly KubeObject[]>) | undefined;
  /**
   * Whether a request is approved, and signed. Requests of clusters that are not accepted never get here. Default: if the agent of the
   * same cluster asks for exactly the registered subject (`problem` is undefined). False, and what it throws, leave it open.
   */
  readonly approve?: ((context: ApprovalContext) => Promise<boolean>) | undefined;
  /** A certificate, as PEM, for a signer of the add-on: `signWithAuthority` makes one. Default: somebody else signs. */
  readonly sign?: ((context: RequestContext) => Promise<string>) | undefined;
}

/** The add-on judges what the cluster's agent reports of some resources. */
export interface ProbeDefinition {
  readonly fields: readonly ProbeField[];
  /** What is wrong, as text for users; undefined: the add-on is available. What it throws is wrong, too. */
  readonly check: (results: readonly ProbeResult[], context: AddOnContext) => Promise<string | undefined>;
}

export interface AddOnDefinition {
  /** That of the ClusterManagementAddOn, and of each ManagedClusterAddOn. */
  readonly name: string;
  /**
   * What one cluster gets. What the function throws changes nothing on the cluster, and is in the condition ManifestApplied. Without any
   * manifest, what is there stays, too.
   */
  readonly manifests: (context: AddOnContext) => Promise<readonly KubeObject[]>;
  /** Default: the agent does not reach the hub. */
  readonly registration?: RegistrationDefinition | undefined;
  /**
   * How the add-on shows that it is available. `lease`: its agent renews a lease (`keepLease`). `works`: its manifests are applied.
   * `deployments`, `workloads`: its Deployments run, or its DaemonSets, too. `none`: nobody says it. Default: `lease`.
   */
  readonly health?: 'lease' | 'works' | 'deployments' | 'workloads' | 'none' | ProbeDefinition | undefined;
  /**
   * Where the agent runs. Default: what its AddOnDeploymentConfig says, else the add-on itself, else
   * `open-cluster-management-agent-addon`.
   */
  readonly installNamespace?: string | undefined;
  /**
   * Whether another cluster may run the agent: manifests with the annotation
   * `addon.open-cluster-management.io/hosted-manifest-location: hosting` go there. Default: false.
   */
  readonly hostedMode?: boolean | undefined;
  /** Kinds of configurations that the ClusterManagementAddOn may name, such as `ADDON_DEPLOYMENT_CONFIG`. Default: none. */
  readonly supportedConfigs?: readonly KindInfo[] | undefined;
  /** How the cluster's agent applies manifests, and what it reports of them. */
  readonly manifestConfigs?: readonly ManifestConfig[] | undefined;
  /** What happens to the manifests when the add-on goes. Default: they go, too. */
  readonly deleteOption?: DeleteOption | undefined;
}

/** Thrown by `permissions`: the user of the add-on's agent is not known yet. The add-on says so, and its rights stay. */
export class SubjectNotReadyError extends Error {
  constructor() {
    super('registration subject not ready');
    this.name = 'SubjectNotReadyError';
  }
}

const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/**
 * Checks the definition of an add-on, and returns it.
 * @throws InputError for a name that no object can have, two registrations with one signer, or a signer of Kubernetes' own
 */
export function defineAddOn(definition: AddOnDefinition): AddOnDefinition {
  const { name, registration } = definition;
  const problem = (text: string): InputError =>
    new InputError(text, { code: 'addon.definition', subject: `add-on ${name}` });
  if (!NAME.test(name) || name.length > 253) throw problem('its name is not that of an object');
  const configurations = registration?.configurations ?? [];
  if (typeof configurations === 'function') return definition;
  const why = registrationProblem(configurations);
  if (why !== undefined) throw problem(why);
  return definition;
}

/** What is wrong with a list of registrations, as text for the author; undefined: nothing. */
export function registrationProblem(configurations: readonly RegistrationConfig[]): string | undefined {
  const signers = configurations.map(signerOf);
  const twice = signers.find((signer, at) => signers.indexOf(signer) !== at);
  if (twice !== undefined) return `it registers twice with the signer ${twice}`;
  const own = configurations.flatMap((one) => (one.type === 'CustomSigner' ? [one.signerName] : []));
  const kept = own.find((signer) => signer.startsWith('kubernetes.io/'));
  return kept === undefined ? undefined : `the signer ${kept} is Kubernetes' own`;
}

export function signerOf(config: RegistrationConfig): string {
  return config.type === 'KubeClient' ? CLIENT_SIGNER : config.signerName;
}
