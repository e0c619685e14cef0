import type { Permission } from './permission.ts';
import { renderDocuments } from './render-documents.ts';
import { renderAggregatedRole, renderBinding, renderRole } from './render-role.ts';

const WORK_GROUP = 'work.open-cluster-management.io';

/** On the hub, in the cluster's namespace. */
const HUB: readonly Permission[] = [
  {
    groups: [WORK_GROUP],
    resources: ['manifestworks'],
    verbs: ['list', 'watch'],
    why: 'list, watch: learn what to apply',
  },
  {
    groups: [WORK_GROUP],
    resources: ['manifestworks'],
    verbs: ['patch'],
    why: 'patch: add and remove the finalizer that keeps a work until its objects are gone',
  },
  {
    groups: [WORK_GROUP],
    resources: ['manifestworks/status'],
    verbs: ['patch'],
    why: 'patch: report conditions and feedback',
  },
];

/** On the managed cluster, for the agent itself. */
const CLUSTER: readonly Permission[] = [
  {
    groups: [WORK_GROUP],
    resources: ['appliedmanifestworks'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    why: 'get, list, watch: what was applied before; create, patch: record it; delete: begin its clean-up',
  },
  {
    groups: [WORK_GROUP],
    resources: ['appliedmanifestworks/status'],
    verbs: ['patch'],
    why: 'patch: record the list of applied objects and the start of an eviction',
  },
];

/** Only where works name executors. */
const EXECUTORS: readonly Permission[] = [
  {
    groups: ['authorization.k8s.io'],
    resources: ['subjectaccessreviews'],
    verbs: ['create'],
    why: 'create: ask whether an executor may do what a work wants',
  },
  {
    groups: [''],
    resources: ['serviceaccounts'],
    verbs: ['impersonate'],
    why: "impersonate: try and write an executor's RBAC objects as the executor, so that it cannot grant more than it has",
  },
];

/** Only with `--executor-cache`. */
const EXECUTOR_CACHE: readonly Permission[] = [
  {
    groups: ['rbac.authorization.k8s.io'],
    resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
    verbs: ['list', 'watch'],
    why: 'list, watch: notice when the rights of an executor change',
  },
];

/** On the managed cluster, for every kind that works carry: the part to adapt. */
const MANIFESTS: Permission = {
  groups: ['', 'apps', 'batch'],
  resources: ['namespaces', 'configmaps', 'secrets', 'services', 'serviceaccounts', 'deployments', 'jobs'],
  verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  why: 'get: read; list, watch: drift and feedback; create, update, patch: apply; delete: remove what left the works',
};

const AGGREGATE_LABEL = 'open-cluster-management.io/aggregate-to-work';

export interface RbacNames {
  readonly clusterName: string;
  /** Of the agent's service account on the managed cluster. */
  readonly namespace: string;
}

/**
 * The least permissions the agent works with, as YAML with a reason at each rule. Nothing asks for `*`: grant the kinds that
 * works carry through the aggregated role. RBAC objects in works also need `escalate` and `bind`, or the agent holding what they grant.
 */
export function renderAgentRbac({ clusterName, namespace }: RbacNames): string {
  const subject = { kind: 'ServiceAccount', name: 'berth-agent', namespace } as const;
  const group = { kind: 'Group', name: `system:open-cluster-management:${clusterName}` } as const;
  const bind = (name: string): readonly string[] =>
    renderBinding({ kind: 'ClusterRoleBinding', name, subject });
  const parts = [
    ['# On the hub.', ...renderRole({ kind: 'Role', name: 'berth-agent', namespace: clusterName }, HUB)],
    [
      '# On the hub: this is the group that OCM’s registration gives the agents of a cluster. Name the user of the hub kubeconfig if yours is another.',
      ...renderBinding({ kind: 'RoleBinding', name: 'berth-agent', namespace: clusterName, subject: group }),
    ],
    [
      '# On the managed cluster: what the agent needs for itself.',
      ...renderRole({ kind: 'ClusterRole', name: 'berth-agent' }, CLUSTER),
    ],
    [
      '# On the managed cluster: only if works name executors.',
      ...renderRole({ kind: 'ClusterRole', name: 'berth-agent-executors' }, EXECUTORS),
    ],
    [
      '# On the managed cluster: only with --executor-cache.',
      ...renderRole({ kind: 'ClusterRole', name: 'berth-agent-executor-cache' }, EXECUTOR_CACHE),
    ],
    [
      '# On the managed cluster: collects every ClusterRole with the label; add one per kind of object your works carry.',
      ...renderAggregatedRole('berth-agent-manifests', AGGREGATE_LABEL),
    ],
    [
      '# An example to adapt.',
      ...renderRole(
        {
          kind: 'ClusterRole',
          name: 'berth-agent-manifests-common',
          labels: { [AGGREGATE_LABEL]: 'true' },
        },
        [MANIFESTS],
      ),
    ],
    bind('berth-agent'),
    bind('berth-agent-executors'),
    bind('berth-agent-executor-cache'),
    bind('berth-agent-manifests'),
  ];
  return renderDocuments(parts);
}
