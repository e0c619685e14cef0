/** On a ManagedClusterAddOn: its hooks on the cluster have to run before it is deleted. */
export const ADDON_PRE_DELETE_FINALIZER = 'addon.open-cluster-management.io/addon-pre-delete';

/** The names that belong to one add-on on one cluster, as OCM's add-on manager gives them. */
export interface AddonNames {
  /**
   * ManifestWork with the add-on's manifests in the cluster's namespace.
   * @param shard number of the work, from 0
   */
  deployWork(shard: number): string;
  /**
   * The same in the namespace of the cluster that hosts the add-on for this one.
   * @param shard number of the work, from 0
   */
  deployHostingWork(shard: number): string;
  /** ManifestWorks that run before the add-on is removed. */
  readonly preDeleteWork: string;
  readonly preDeleteHostingWork: string;
  /** Secret of the add-on's agent with its access to the hub. */
  readonly hubKubeconfigSecret: string;
  /**
   * Secret with the certificate of another signer.
   * @param signer e.g. `example.com/signer`
   */
  customSignedSecret(signer: string): string;
  /** User and groups in the certificate of the add-on's agent. */
  readonly user: string;
  readonly groups: readonly string[];
  /** Service account of the add-on's agent in the cluster's namespace, with the driver `token`, and its user. */
  readonly account: string;
  readonly accountUser: string;
  /** DNS name in the certificate of the add-on's agent. */
  readonly dnsName: string;
}

/**
 * Names must equal those of OCM's controllers and agents; a work with another name would be applied
 * in addition. As in OCM, names are not shortened, and too long ones are rejected.
 */
export function addonNames(addon: string, cluster: string): AddonNames {
  const work = `addon-${addon}`;
  const onCluster = `system:open-cluster-management:cluster:${cluster}:addon:${addon}`;
  return {
    deployWork: (shard) => `${work}-deploy-${shard}`,
    deployHostingWork: (shard) => `${work}-deploy-hosting-${cluster}-${shard}`,
    preDeleteWork: `${work}-pre-delete`,
    preDeleteHostingWork: `${work}-pre-delete-hosting-${cluster}`,
    hubKubeconfigSecret: `${addon}-hub-kubeconfig`,
    customSignedSecret: (signer) => `${addon}-${signer.replaceAll('/', '-')}-client-cert`,
    user: `${onCluster}:agent:${addon}-agent`,
    groups: [onCluster, `system:open-cluster-management:addon:${addon}`],
    account: `${addon}-agent`,
    accountUser: `system:serviceaccount:${cluster}:${addon}-agent`,
    dnsName: `${addon}.addon.open-cluster-management.io`,
  };
}
