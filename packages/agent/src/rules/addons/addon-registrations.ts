import type { Condition, ObjectMeta } from '@berth/kube/model/object-meta';
import {
  DEFAULT_INSTALL_NAMESPACE,
  HOSTING_CLUSTER_ANNOTATION,
  type StatusRegistration,
} from '@berth/ocm/kind/addon';
import { addonNames } from '@berth/ocm/registration/addon-names';
import { type AgentIdentity, CLIENT_SIGNER } from '@berth/ocm/registration/names';
import type { ClientSubject } from '../registration/plan-certificate.ts';

/** How the agents of add-ons authenticate at the hub. Other signers always use certificate requests. */
export type AddonDriver = 'csr' | 'token';

/**
 * A ManagedClusterAddOn in v1alpha1, which every hub serves, as far as the cluster's agent reads it.
 * Source: open-cluster-management.io/api `addon/v1alpha1`.
 */
export interface ClusterAddon {
  readonly metadata: ObjectMeta;
  readonly spec?: { readonly installNamespace?: string | undefined } | undefined;
  readonly status?:
    | {
        readonly conditions?: readonly Condition[] | undefined;
        readonly healthCheck?: { readonly mode?: string | undefined } | undefined;
        readonly kubeClientDriver?: string | undefined;
        readonly namespace?: string | undefined;
        readonly registrations?: readonly StatusRegistration[] | undefined;
      }
    | undefined;
}

/** Where an add-on's agent finds a Secret or a Lease. */
export interface AddonPlace {
  /** Whether it is on the cluster where the cluster's agent runs, and not on the managed cluster. */
  readonly isHosted: boolean;
  readonly namespace: string;
  readonly name: string;
}

/** What an add-on's agent needs at the hub: one Secret. */
export interface AddonRegistration {
  readonly addon: string;
  readonly signerName: string;
  readonly driver: AddonDriver;
  /** With the driver `csr`: that of the certificate. */
  readonly subject: ClientSubject;
  readonly secret: AddonPlace;
}

/** The cluster that runs the add-on's agent for this one. Undefined: the managed cluster itself. */
export function hostingCluster(addon: ClusterAddon): string | undefined {
  return addon.metadata.annotations?.[HOSTING_CLUSTER_ANNOTATION] || undefined;
}

export function addonPlace(addon: ClusterAddon, name: string): AddonPlace {
  const namespace = addon.status?.namespace || addon.spec?.installNamespace || DEFAULT_INSTALL_NAMESPACE;
  return { isHosted: hostingCluster(addon) !== undefined, namespace, name };
}

/**
 * What the hub asks the cluster's agent to register for an add-on. Of two entries with the same signer, which would
 * share a Secret, the first counts.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/addon/configuration.go`.
 */
export function addonRegistrations(
  addon: ClusterAddon,
  { identity, driver }: { readonly identity: AgentIdentity; readonly driver: AddonDriver },
): readonly AddonRegistration[] {
  const { name } = addon.metadata;
  const names = addonNames(name, identity.cluster);
  const bySigner = new Map<string, AddonRegistration>();
  for (const entry of addon.status?.registrations ?? []) {
    const { signerName } = entry;
    if (bySigner.has(signerName)) continue;
    const isKubeClient = signerName === CLIENT_SIGNER;
    const secretName = isKubeClient ? names.hubKubeconfigSecret : names.customSignedSecret(signerName);
    bySigner.set(signerName, {
      addon: name,
      signerName,
      driver: isKubeClient ? driver : 'csr',
      subject: subjectOf(entry, name, identity),
      secret: addonPlace(addon, secretName),
    });
  }
  return [...bySigner.values()];
}

/** An empty user, and for clients of the hub empty groups, mean those of the cluster's agent for this add-on. */
function subjectOf(
  { signerName, subject }: StatusRegistration,
  addon: string,
  { cluster, agent }: AgentIdentity,
): ClientSubject {
  const group = `system:open-cluster-management:cluster:${cluster}:addon:${addon}`;
  const groups = subject?.groups ?? [];
  return {
    commonName: subject?.user || `${group}:agent:${agent}`,
    organizations: signerName === CLIENT_SIGNER && groups.length === 0 ? [group] : groups,
    organizationalUnits: subject?.organizationUnit ?? [],
  };
}

type Status = NonNullable<ClusterAddon['status']>;

/**
 * What the agent must change in the status before it registers the add-on: the driver, from which the add-on's manager
 * learns how the agent authenticates, and with the driver `token` the user.
 * @returns undefined if that is there
 */
export function declaredStatus(
  addon: ClusterAddon,
  { cluster, driver }: { readonly cluster: string; readonly driver: AddonDriver },
):
  | { readonly kubeClientDriver: string | null; readonly registrations?: Status['registrations'] }
  | undefined {
  const { registrations = [], kubeClientDriver = '' } = addon.status ?? {};
  const user = addonNames(addon.metadata.name, cluster).accountUser;
  const hasUser = ({ subject }: StatusRegistration): boolean =>
    subject?.user === user && (subject.groups ?? []).length === 0;
  const entry = registrations.find(({ signerName }) => signerName === CLIENT_SIGNER);
  const wanted = entry === undefined ? '' : driver;
  const needsUser = entry !== undefined && driver === 'token' && !hasUser(entry);
  if (kubeClientDriver === wanted && !needsUser) return undefined;
  return {
    kubeClientDriver: wanted === '' ? null : wanted,
    ...(needsUser && {
      registrations: registrations.map((one) => (one === entry ? { ...one, subject: { user } } : one)),
    }),
  };
}
