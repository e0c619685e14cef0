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
    why: 'list, watch: the agent applies the manifests of ManifestWorks.',
  },
  {
    groups: [WORK_GROUP],
    resources: ['manifestworks'],
    verbs: ['patch'],
    why: 'patch: the agent adds a finalizer, and removes it when the objects of the ManifestWork are deleted.',
  },
  {
    groups: [WORK_GROUP],
    resources: ['manifestworks/status'],
    verbs: ['patch'],
    why: 'patch: the agent writes conditions and feedback to the status.',
  },
];

/** On the managed cluster, for the agent itself. */
const CLUSTER: readonly Permission[] = [
  {
    groups: [WORK_GROUP],
    resources: ['appliedmanifestworks'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
    why: 'get, list, watch, create, patch: the agent records which objects it applied; delete: it starts the deletion of these objects.',
  },
  {
    groups: [WORK_GROUP],
    resources: ['appliedmanifestworks/status'],
    verbs: ['patch'],
    why: 'patch: the agent writes the applied objects and the start time of an eviction to the status.',
  },
];

/** Only where works name executors. */
const EXECUTORS: readonly Permission[] = [
  {
    groups: ['authorization.k8s.io'],
    resources: ['subjectaccessreviews'],
    verbs: ['create'],
    why: 'create: the agent checks the permissions of the executor of a ManifestWork.',
  },
  {
    groups: [''],
    resources: ['serviceaccounts'],
    verbs: ['impersonate'],
    why: 'impersonate: the agent writes the RBAC objects of a ManifestWork as its executor, so that the executor cannot grant permissions that it does not have.',
  },
];

/** Only with `--executor-cache`. */
const EXECUTOR_CACHE: readonly Permission[] = [
  {
    groups: ['rbac.authorization.k8s.io'],
    resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
    verbs: ['list', 'watch'],
    why: 'list, watch: the agent invalidates cached answers when the permissions of an executor change.',
  },
];

/** On the managed cluster, for every kind that works carry: the part to adapt. */
const MANIFESTS: Permission = {
  groups: ['', 'apps', 'batch'],
  resources: ['namespaces', 'configmaps', 'secrets', 'services', 'serviceaccounts', 'deployments', 'jobs'],
  verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  why: 'get, create, update, patch: the agent applies objects; list, watch: it detects drift and reads feedback; delete: it deletes objects that left their ManifestWork.',
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
      '# On the managed cluster: permissions that the agent always needs.',
      ...renderRole({ kind: 'ClusterRole', name: 'berth-agent' }, CLUSTER),
    ],
    [
      '# On the managed cluster: only needed if ManifestWorks name executors.',
      ...renderRole({ kind: 'ClusterRole', name: 'berth-agent-executors' }, EXECUTORS),
    ],
    [
      '# On the managed cluster: only needed with --executor-cache.',
      ...renderRole({ kind: 'ClusterRole', name: 'berth-agent-executor-cache' }, EXECUTOR_CACHE),
    ],
    [
      '# On the managed cluster: this role aggregates every ClusterRole with the label. Add one for each kind in your ManifestWorks.',
      ...renderAggregatedRole('berth-agent-manifests', AGGREGATE_LABEL),
    ],
    [
      '# An example. Change it to the kinds in your ManifestWorks.',
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
