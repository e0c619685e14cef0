import { type ListedPermissions, unnamedText } from './listed-kinds.ts';
import {
  namedRights,
  type Permission,
  renderAggregatedRole,
  renderBinding,
  renderDocuments,
  renderNamespace,
  renderRole,
  renderRules,
  renderServiceAccount,
  rights,
} from './render-role.ts';

/** The agent's verbs on each kind of object in works. */
export const CARRIED_KIND_PERMISSION: Pick<Permission, 'verbs' | 'why'> = {
  verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  why: 'get, create, update, patch: the agent applies objects; list, watch: it detects drift and reads feedback; delete: it deletes objects that left their ManifestWork.',
};

/** Example kinds, printed if the user does not list the kinds in works. */
const COMMON_KINDS: readonly Permission[] = [
  {
    groups: ['', 'apps', 'batch'],
    resources: ['namespaces', 'configmaps', 'secrets', 'services', 'serviceaccounts', 'deployments', 'jobs'],
    ...CARRIED_KIND_PERMISSION,
  },
];

const AGGREGATE_LABEL = 'open-cluster-management.io/aggregate-to-work';

export interface AgentDuties {
  readonly clusterName: string;
  /** Of the agent's service account on the managed cluster. */
  readonly namespace: string;
  readonly executorCache: boolean;
  /** The kinds in works. Absent: the example kinds. */
  readonly kinds?: ListedPermissions | undefined;
  /** Set if the agent registers the cluster. Absent: it is registered otherwise. */
  readonly registers?: Registering | undefined;
  /** For which API server. Absent: both. */
  readonly side?: 'hub' | 'managed' | undefined;
}

export interface Registering {
  /** The Secret with its certificate, where the agent runs. Absent: a folder. */
  readonly secret?: { readonly namespace: string; readonly name: string } | undefined;
}

/**
 * The least permissions of the agent, as YAML with a reason for each rule, with namespaces and
 * service accounts. No rule has `*`: the kinds in works are listed, or granted through the
 * aggregated role. RBAC objects in works also need `escalate` and `bind`, or that the agent has all
 * rights that they grant.
 */
export function renderAgentRbac(duties: AgentDuties): string {
  const { side } = duties;
  return renderDocuments([
    ...(side === 'managed' ? [] : hubDocuments(duties)),
    ...(side === 'hub' ? [] : managedDocuments(duties)),
  ]);
}

const ADDONS_COMMENT =
  'needed for add-ons, whose namespaces the hub chooses. If you know them, bind the role there, by RoleBindings, instead of everywhere.';

type Document = readonly string[];
/** The name of the agent's service account. The names of its roles begin with it. */
export const AGENT_ACCOUNT = 'berth-agent';
const NAME = AGENT_ACCOUNT;

function hubDocuments({ clusterName }: AgentDuties): readonly Document[] {
  const account = { kind: 'ServiceAccount', name: NAME, namespace: clusterName } as const;
  const group = { kind: 'Group', name: `system:open-cluster-management:${clusterName}` } as const;
  return [
    ["# On the hub: the cluster's namespace.", ...renderNamespace(clusterName)],
    [
      '# On the hub: an account for an agent that OCM’s registration gives none.',
      ...renderServiceAccount(NAME, clusterName),
    ],
    [
      '# On the hub.',
      ...renderRole({ kind: 'Role', name: NAME, namespace: clusterName }, rights('agent-hub')),
    ],
    [
      '# On the hub: the group is the one that OCM’s registration gives the agents of a cluster. Name the user of the hub kubeconfig if yours is another.',
      ...renderBinding({
        kind: 'RoleBinding',
        name: NAME,
        namespace: clusterName,
        subjects: [group, account],
      }),
    ],
  ];
}

/**
 * For an agent that does not run on the managed cluster: its permissions on the cluster that stores
 * its certificate.
 */
export function renderCredentialRbac(namespace: string, secret: string): string {
  return renderDocuments([
    renderNamespace(namespace),
    renderServiceAccount(NAME, namespace),
    ...credentialDocuments({ namespace, name: secret }, namespace),
  ]);
}

/** @param accountNamespace of the agent's account */
function credentialDocuments(
  secret: { readonly namespace: string; readonly name: string },
  accountNamespace: string,
): readonly Document[] {
  const name = `${NAME}-credentials`;
  const { namespace } = secret;
  const subjects = [{ kind: 'ServiceAccount', name: NAME, namespace: accountNamespace }] as const;
  return [
    [
      '# Where the agent keeps its certificate: on the managed cluster, or on that of --hosting-kubeconfig.',
      ...renderRole({ kind: 'Role', name, namespace }, namedRights('agent-credentials', [secret.name])),
    ],
    renderBinding({ kind: 'RoleBinding', name, namespace, subjects }),
  ];
}

function managedDocuments(duties: AgentDuties): readonly Document[] {
  const { namespace, executorCache, kinds, registers } = duties;
  const subjects = [{ kind: 'ServiceAccount', name: NAME, namespace }] as const;
  const bind = (name: string): Document => renderBinding({ kind: 'ClusterRoleBinding', name, subjects });
  const role = (comment: string, name: string, rules: readonly string[]): readonly Document[] => [
    [`# On the managed cluster: ${comment}`, ...renderRole({ kind: 'ClusterRole', name }, rules)],
    bind(name),
  ];
  return [
    ['# On the managed cluster: the namespace and the account of the agent.', ...renderNamespace(namespace)],
    renderServiceAccount(NAME, namespace),
    ...role('permissions that the agent always needs.', NAME, rights('agent')),
    ...role('only needed if ManifestWorks name executors.', `${NAME}-executors`, rights('agent-executors')),
    ...(registers === undefined
      ? []
      : [
          ...role('needed to register the cluster.', `${NAME}-registration`, rights('agent-registration')),
          ...role(ADDONS_COMMENT, `${NAME}-addons`, rights('agent-addons')),
        ]),
    ...(registers?.secret === undefined ? [] : credentialDocuments(registers.secret, namespace)),
    ...(executorCache
      ? role('needed with --executor-cache.', `${NAME}-executor-cache`, rights('agent-executor-cache'))
      : []),
    ...(kinds === undefined
      ? role(
          'an example of what ManifestWorks carry. Name your kinds with --kind instead.',
          `${NAME}-manifests-common`,
          renderRules(COMMON_KINDS),
        )
      : role(
          'the kinds that ManifestWorks carry.',
          `${NAME}-manifests-kinds`,
          renderRules(kinds.permissions),
        )),
    [
      '# On the managed cluster: this role aggregates every ClusterRole with the label, as OCM’s agent does: for rights that no flag names.',
      ...unnamedText(kinds?.unnamed ?? []),
      ...renderAggregatedRole(`${NAME}-manifests`, AGGREGATE_LABEL),
    ],
    bind(`${NAME}-manifests`),
  ];
}
