/** One permission and why the agent needs it. */
interface Permission {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly why: string;
}

const WORK_GROUP = 'work.open-cluster-management.io';

/** On the hub, in the cluster's namespace. */
const HUB: readonly Permission[] = [
  {
    groups: [WORK_GROUP],
    resources: ['manifestworks'],
    verbs: ['get', 'list', 'watch'],
    why: 'learn what to apply',
  },
  {
    groups: [WORK_GROUP],
    resources: ['manifestworks'],
    verbs: ['update', 'patch'],
    why: 'add and remove the finalizer that keeps a work until its objects are gone',
  },
  {
    groups: [WORK_GROUP],
    resources: ['manifestworks/status'],
    verbs: ['patch'],
    why: 'report conditions and feedback',
  },
];

/** On the managed cluster, for the agent itself. */
const CLUSTER: readonly Permission[] = [
  {
    groups: [WORK_GROUP],
    resources: ['appliedmanifestworks'],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
    why: 'record what was applied; deleting one begins its clean-up',
  },
  {
    groups: [WORK_GROUP],
    resources: ['appliedmanifestworks/status'],
    verbs: ['patch'],
    why: 'record the list of applied objects and the start of an eviction',
  },
  {
    groups: [WORK_GROUP],
    resources: ['appliedmanifestworks/finalizers'],
    verbs: ['update'],
    why: 'own objects where OwnerReferencesPermissionEnforcement is on',
  },
  {
    groups: ['authorization.k8s.io'],
    resources: ['subjectaccessreviews'],
    verbs: ['create'],
    why: 'ask whether an executor may do what a work wants',
  },
  {
    groups: ['rbac.authorization.k8s.io'],
    resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
    verbs: ['get', 'list', 'watch'],
    why: 'with --executor-cache only: notice when the rights of an executor change',
  },
  {
    groups: [''],
    resources: ['serviceaccounts'],
    verbs: ['impersonate'],
    why: "try an executor's RBAC objects as a dry run, so that it cannot grant more than it has",
  },
];

/** On the managed cluster, for every kind that works carry: the part to adapt. */
const MANIFESTS: Permission = {
  groups: ['', 'apps', 'batch'],
  resources: ['namespaces', 'configmaps', 'secrets', 'services', 'serviceaccounts', 'deployments', 'jobs'],
  verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  why: 'apply the manifests, watch them for drift and feedback (list, watch), remove what left the works (delete)',
};

export interface RbacNames {
  readonly clusterName: string;
  readonly namespace: string;
}

/**
 * The least permissions the agent works with, as YAML with a reason at each rule. Nothing asks for `*`: grant the kinds that
 * works carry through the aggregated role. RBAC objects in works also need `escalate` and `bind`, or the agent holding what they grant.
 */
export function renderAgentRbac({ clusterName, namespace }: RbacNames): string {
  const hub = [
    '# On the hub: bind it to the user in the agent’s hub kubeconfig.',
    ...header('Role', 'berth-agent', clusterName),
    ...rules(HUB),
  ];
  const agent = [
    '# On the managed cluster: what the agent needs for itself.',
    ...header('ClusterRole', 'berth-agent', undefined),
    ...rules(CLUSTER),
  ];
  const collected = [
    '# On the managed cluster: collects every ClusterRole with the label; add one per kind of object your works carry.',
    ...header('ClusterRole', 'berth-agent-manifests', undefined),
    'aggregationRule:',
    '  clusterRoleSelectors:',
    '    - matchLabels:',
    "        open-cluster-management.io/aggregate-to-work: 'true'",
    'rules: []',
  ];
  const example = [
    '# An example to adapt.',
    ...header('ClusterRole', 'berth-agent-manifests-common', undefined),
    '  labels:',
    "    open-cluster-management.io/aggregate-to-work: 'true'",
    ...rules([MANIFESTS]),
  ];
  const bindings = ['berth-agent', 'berth-agent-manifests'].map((role) => binding(role, namespace));
  return `${[hub, agent, collected, example, ...bindings].map((part) => part.join('\n')).join('\n---\n')}\n`;
}

function header(kind: string, name: string, namespace: string | undefined): readonly string[] {
  return [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${kind}`,
    'metadata:',
    `  name: ${name}`,
    ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
  ];
}

function rules(permissions: readonly Permission[]): readonly string[] {
  const list = (items: readonly string[]): string => `[${items.map((item) => `'${item}'`).join(', ')}]`;
  return [
    'rules:',
    ...permissions.flatMap(({ groups, resources, verbs, why }) => [
      `  # ${why}`,
      `  - apiGroups: ${list(groups)}`,
      `    resources: ${list(resources)}`,
      `    verbs: ${list(verbs)}`,
    ]),
  ];
}

function binding(role: string, namespace: string): readonly string[] {
  return [
    ...header('ClusterRoleBinding', role, undefined),
    'roleRef:',
    '  apiGroup: rbac.authorization.k8s.io',
    '  kind: ClusterRole',
    `  name: ${role}`,
    'subjects:',
    '  - kind: ServiceAccount',
    '    name: berth-agent',
    `    namespace: ${namespace}`,
  ];
}
