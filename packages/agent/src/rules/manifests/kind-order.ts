/** Kinds that must exist before others, in groups; within a group the order of the work counts. The API group does not. */
const ORDER: readonly (readonly string[])[] = [
  [
    'PriorityClass',
    'Namespace',
    'CustomResourceDefinition',
    'StorageClass',
    'PersistentVolume',
    'PodSecurityPolicy',
  ],
  ['ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  ['NetworkPolicy', 'ResourceQuota', 'LimitRange', 'PodDisruptionBudget', 'ServiceAccount'],
  ['Secret', 'ConfigMap', 'PersistentVolumeClaim'],
  ['Service'],
  [
    'DaemonSet',
    'Pod',
    'ReplicationController',
    'ReplicaSet',
    'Deployment',
    'HorizontalPodAutoscaler',
    'StatefulSet',
    'Job',
    'CronJob',
  ],
  [
    'APIService',
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
  ],
];
const RANKS = new Map(ORDER.flatMap((kinds, rank) => kinds.map((kind) => [kind, rank] as const)));

/** Indexes of the manifests in the order in which they are applied: by kind, then as listed; unreadable ones last. */
export function applyOrder(kinds: readonly (string | undefined)[]): readonly number[] {
  const rank = (index: number): number => {
    const kind = kinds[index];
    return kind === undefined ? 1001 : (RANKS.get(kind) ?? 1000);
  };
  return kinds.map((_kind, index) => index).sort((a, b) => rank(a) - rank(b) || a - b);
}
