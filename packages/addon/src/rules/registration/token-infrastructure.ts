import { apiVersionOf, type KindInfo, ROLE, ROLE_BINDING, SERVICE_ACCOUNT } from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { addonNames } from '@berth/ocm/registration/addon-names';
import { CLIENT_SIGNER, CLUSTER_NAME_LABEL, clusterGroup } from '@berth/ocm/registration/names';
import type { DesiredObject } from '@berth/kube/model/object-writes';
import type { StoredAddOn } from './plan-registration.ts';

export const TOKEN_INFRASTRUCTURE_READY = 'TokenInfrastructureReady';
/** On what the hub makes for an add-on with the driver `token`. */
export const TOKEN_INFRASTRUCTURE_LABEL = 'addon.open-cluster-management.io/token-infrastructure';
const TOKEN_ADDON_LABEL = 'addon.open-cluster-management.io/name';
export const TOKEN_KINDS: readonly KindInfo[] = [SERVICE_ACCOUNT, ROLE, ROLE_BINDING];

/** Whether the add-on's agent is a client of the hub with tokens. */
export function usesTokens({ status }: StoredAddOn): boolean {
  const isClient = status?.registrations?.some(({ signerName }) => signerName === CLIENT_SIGNER) === true;
  return isClient && status.kubeClientDriver === 'token';
}

/**
 * The service account of an add-on's agent, and the right of the cluster's agent to ask for its tokens.
 * Source: open-cluster-management.io/ocm `manifests/cluster-manager/hub/addon-manager/token-*.yaml`, since 1.2. The right
 * `subscribe` is for its gRPC server.
 */
export function tokenInfrastructure(cluster: string, addon: string): readonly DesiredObject[] {
  const { account } = addonNames(addon, cluster);
  const labels = {
    [TOKEN_ADDON_LABEL]: addon,
    [TOKEN_INFRASTRUCTURE_LABEL]: 'true',
    [CLUSTER_NAME_LABEL]: cluster,
  };
  const role = `${addon}-token-role`;
  const object = (kind: KindInfo, name: string, content: object = {}): DesiredObject => ({
    kind,
    object: {
      ...{ apiVersion: apiVersionOf(kind), kind: kind.kind },
      ...{ metadata: { namespace: cluster, name, labels }, ...content },
    },
  });
  const tokens = { apiGroups: [''], resources: ['serviceaccounts/token'] };
  const group = (name: string) => ({ kind: 'Group', apiGroup: ROLE.group, name });
  return [
    object(SERVICE_ACCOUNT, account),
    object(ROLE, role, {
      rules: [
        { ...tokens, resourceNames: [account], verbs: ['create'] },
        { ...tokens, verbs: ['subscribe'] },
      ],
    }),
    object(ROLE_BINDING, role, {
      roleRef: { apiGroup: ROLE.group, kind: ROLE.kind, name: role },
      // The second group is for authentication without certificates.
      subjects: [group(clusterGroup(cluster)), group(`open-cluster-management:${cluster}`)],
    }),
  ];
}

/** The add-on that an object was made for, as `CLUSTER/ADDON`; undefined: it is none of these. */
export function addOnOfInfrastructure({
  metadata: { namespace, labels = {} },
}: KubeObject): string | undefined {
  const addon = labels[TOKEN_ADDON_LABEL] ?? '';
  const isOurs = labels[TOKEN_INFRASTRUCTURE_LABEL] === 'true' && addon !== '';
  return isOurs && namespace !== undefined ? `${namespace}/${addon}` : undefined;
}

/** The cluster's agent reads the UID out of the message. */
export function tokenInfrastructureReady(cluster: string, addon: string, uid: string): Condition {
  const { account } = addonNames(addon, cluster);
  return {
    ...{ type: TOKEN_INFRASTRUCTURE_READY, status: 'True', reason: 'TokenInfrastructureReady' },
    message: `ServiceAccount ${cluster}/${account} (UID: ${uid}) is ready`,
  };
}

export function tokenInfrastructureFailed(why: string): Condition {
  return {
    ...{ type: TOKEN_INFRASTRUCTURE_READY, status: 'False', reason: 'TokenInfrastructureApplyFailed' },
    message: `Failed to apply token infrastructure: ${why}`,
  };
}
