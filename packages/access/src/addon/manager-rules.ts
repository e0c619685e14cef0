import { CLUSTER_MANAGEMENT_ADDON, CLUSTER_ROLE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';

const ADDON = CLUSTER_MANAGEMENT_ADDON.group;

/** What the manager of an add-on needs on the hub, in all namespaces. It approves requests with the signer. */
export function managerRules(signer: string): readonly object[] {
  return [
    {
      apiGroups: ['cluster.open-cluster-management.io'],
      resources: ['managedclusters'],
      verbs: ['get', 'list', 'watch'],
    },
    { apiGroups: [ADDON], resources: ['clustermanagementaddons'], verbs: ['get', 'list', 'watch', 'create'] },
    {
      apiGroups: [ADDON],
      resources: ['managedclusteraddons'],
      verbs: ['get', 'list', 'watch', 'patch', 'delete'],
    },
    {
      apiGroups: [ADDON],
      resources: ['clustermanagementaddons/status', 'managedclusteraddons/status'],
      verbs: ['patch'],
    },
    {
      apiGroups: [ADDON],
      resources: ['clustermanagementaddons/finalizers', 'managedclusteraddons/finalizers'],
      verbs: ['update'],
    },
    { apiGroups: [ADDON], resources: ['addondeploymentconfigs'], verbs: ['list', 'watch'] },
    {
      apiGroups: ['work.open-cluster-management.io'],
      ...{ resources: ['manifestworks'], verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'] },
    },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests'],
      verbs: ['list', 'watch'],
    },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/approval'],
      verbs: ['update'],
    },
    {
      apiGroups: ['certificates.k8s.io'],
      ...{ resources: ['signers'], resourceNames: [signer], verbs: ['approve'] },
    },
    {
      apiGroups: [CLUSTER_ROLE.group],
      ...{
        resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
        verbs: ['list', 'watch', 'delete'],
      },
    },
  ];
}

/** What the hub knows of an add-on. */
export function clusterManagementAddOn(name: string, description: string): KubeObject {
  return {
    apiVersion: `${ADDON}/v1alpha1`,
    ...{ kind: CLUSTER_MANAGEMENT_ADDON.kind, metadata: { name } },
    spec: { addOnMeta: { displayName: name, description } },
  };
}
