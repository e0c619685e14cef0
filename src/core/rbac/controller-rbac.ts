import { acceptedRules, REGISTRATION_RULES, WORK_RULES } from '../registration/acceptance/agent-rules.ts';
import type { AddOnDuty } from '../addon/addon-duties.ts';
import type { RegistrationDuty } from '../registration/duties.ts';
import { DEFAULT_NAMESPACE } from '../sync/apply-set.ts';
import { type ListedPermissions, unnamedText } from './listed-kinds.ts';
import {
  type Permission,
  renderAggregatedRole,
  renderBinding,
  renderDocuments,
  renderNamespace,
  renderRole,
  renderRules,
  renderServiceAccount,
} from './render-role.ts';
import { namedRights, rights } from './rights.ts';

/** The verbs to apply objects of a kind, and to delete those that were removed from Git. */
export const APPLIED_KIND_PERMISSION: Pick<Permission, 'verbs' | 'why'> = {
  verbs: ['list', 'create', 'patch', 'delete'],
  why: 'list: Berth compares the hub with Git; create, patch: it applies objects by server-side apply; delete: it deletes objects that left Git.',
};

/** The verbs on the kinds of sources whose pull requests are planned. */
export const PREVIEWED_KIND_PERMISSION: Pick<Permission, 'verbs' | 'why'> = {
  verbs: ['list', 'watch', 'create', 'patch', 'delete'],
  why: `${APPLIED_KIND_PERMISSION.why.slice(0, -1)}; watch: plans of pull requests know which objects the hub has.`,
};

/** What Berth grants to agents: RBAC lets nobody grant rights that he does not have. */
const GRANTED = 'granted';

/** The flags of `berth serve` that decide which permissions the controller needs. */
export interface ControllerDuties {
  /** At least one source has `sync: apply`. */
  readonly applies: boolean;
  readonly schedule: 'berth' | 'upstream';
  readonly works: boolean;
  readonly embedded: boolean;
  /** Absent: no access to Argo CD. */
  readonly argocd?:
    | {
        readonly namespace: string;
        readonly refresh: boolean;
        readonly waves?: boolean | undefined;
        readonly clusterSecrets: boolean;
        readonly pull: boolean;
      }
    | undefined;
  /** Absent: another controller handles registration. */
  readonly registration?: { readonly duties: readonly RegistrationDuty[] } | undefined;
  /** Absent: another controller manages add-ons. */
  readonly addons?: { readonly duties: readonly AddOnDuty[] } | undefined;
  /** Absent: Berth serves no admission webhooks. */
  readonly admission?: object | undefined;
  /**
   * The Lease in which the controller says what it writes, with its name unless that depends on the machine.
   * Absent: it writes nothing.
   */
  readonly announcement?: { readonly lease: string | undefined } | undefined;
  /** Name of the Lease of the leader election. Absent: leader election is off. */
  readonly lease?: string | undefined;
  /**
   * Additional kinds of sources, besides those of OCM and namespaces, with their resources if
   * known. Absent: none.
   */
  readonly kinds?: ListedPermissions | undefined;
  /** Secrets with the credentials of sources. */
  readonly secrets: readonly { readonly namespace: string; readonly name: string }[];
}

const SUBJECT = { kind: 'ServiceAccount', name: 'berth', namespace: DEFAULT_NAMESPACE } as const;
const AGGREGATE_LABEL = 'berth.dev/aggregate-to-controller';

type Document = readonly string[];

/**
 * Renders the least permissions that `berth serve` needs, as YAML with a comment above each rule: roles that are bound to its service
 * account, and unbound roles for people who release held changes. No rule has `*`: permissions for kinds other than OCM's are
 * added to an aggregated ClusterRole.
 */
export function renderControllerRbac(duties: ControllerDuties): string {
  const decides = duties.schedule === 'berth';
  const own = rights(
    'inventory',
    ...(decides ? ['publishing'] : []),
    ...(duties.works ? ['works'] : []),
    ...(duties.applies ? [duties.embedded ? 'embedded-hub' : 'own-namespace'] : []),
  );
  return renderDocuments([
    ['# The namespace and the service account of the controller.', ...renderNamespace(DEFAULT_NAMESPACE)],
    renderServiceAccount(SUBJECT.name, DEFAULT_NAMESPACE),
    ...boundRole('# Permissions that the controller needs with its flags.', 'berth', own),
    ...leaseRoles(duties),
    ...(decides
      ? boundRole(
          '# Only needed if the hub runs the admission plugin OwnerReferencesPermissionEnforcement, as OpenShift does.',
          'berth-owner-references',
          rights('owner-references'),
        )
      : []),
    ...(duties.works || duties.applies || duties.argocd?.pull === true || deploysAddOns(duties)
      ? boundRole(
          '# Only needed if ManifestWorks name executors, or if the hub checks ManifestWorks without an executor (berth hub, and OCM with NilExecutorValidating).',
          'berth-executors',
          rights('executors'),
        )
      : []),
    ...((duties.argocd?.pull === true || installsAddOns(duties)) && !duties.embedded
      ? boundRole(
          '# What Berth keeps of removals by the pull model of Argo CD, and of add-ons.',
          'berth-pull',
          rights('pull-removals'),
          DEFAULT_NAMESPACE,
        )
      : []),
    ...(duties.argocd === undefined ? [] : argocdRoles(duties.argocd)),
    ...(duties.registration === undefined
      ? []
      : boundRole(
          '# What Berth does for clusters that join.',
          'berth-registration',
          registrationRights(duties.registration.duties),
        )),
    ...(duties.addons === undefined
      ? []
      : boundRole('# What Berth does for add-ons.', 'berth-addons', addOnRights(duties.addons.duties))),
    ...(duties.admission === undefined ? [] : admissionRoles()),
    ...(duties.applies ? sourceRoles(duties) : []),
    ...secretNamespaces(duties).flatMap(([namespace, names]) =>
      boundRole(
        '# Secrets with the credentials of sources.',
        'berth-credentials',
        namedRights('secrets', names),
        namespace,
      ),
    ),
    ...releaseRoles(duties),
  ]);
}

function installsAddOns({ addons }: Pick<ControllerDuties, 'addons'>): boolean {
  return addons?.duties.includes('install') === true;
}

function admissionRoles(): readonly Document[] {
  const name = 'berth-admission';
  const secretComment = '# The Secret with the certificate of the admission webhooks.';
  return [
    ...boundRole('# What the admission webhooks need.', name, rights('admission')),
    ...boundRole(secretComment, name, rights('admission-secret'), DEFAULT_NAMESPACE),
  ];
}

function argocdRoles(duties: NonNullable<ControllerDuties['argocd']>): readonly Document[] {
  const { namespace, refresh, waves = false, clusterSecrets, pull } = duties;
  const name = 'berth-argocd';
  const everywhere = rights(
    ...(refresh ? ['argocd-refresh'] : []),
    ...(waves ? ['argocd-waves'] : []),
    ...(clusterSecrets ? ['argocd-clusters'] : []),
    ...(pull ? ['argocd-pull'] : []),
  );
  const within = rights(
    ...(refresh || waves ? ['argocd-config-maps'] : []),
    ...(clusterSecrets ? ['argocd-secrets'] : []),
  );
  return [
    ...boundRole('# What Berth does for Argo CD.', name, everywhere),
    ...(within.length === 0
      ? []
      : boundRole('# The same, in the namespace of Argo CD.', name, within, namespace)),
    ...(clusterSecrets
      ? boundRole(
          '# Not needed if every GitOpsCluster has createBlankClusterSecrets. To restrict it, bind it in the namespaces of clusters.',
          'berth-argocd-credentials',
          rights('argocd-credentials'),
        )
      : []),
  ];
}

/** Roles for the objects in Git: one for OCM's kinds, and an aggregated one for other kinds. */
function sourceRoles({ kinds = NO_KINDS }: ControllerDuties): readonly Document[] {
  const name = 'berth-sources';
  return [
    ...boundRole(
      '# ConfigMaps that are the ApplySet parents of sources.',
      'berth',
      rights('apply-set'),
      DEFAULT_NAMESPACE,
    ),
    [
      '# This role aggregates every ClusterRole with the label: for rights that no flag and no setting names.',
      '# To apply roles and bindings, Berth also needs escalate and bind, or the permissions that they grant.',
      ...unnamedText(kinds.unnamed),
      ...renderAggregatedRole(name, AGGREGATE_LABEL),
    ],
    renderBinding({ kind: 'ClusterRoleBinding', name, subjects: [SUBJECT] }),
    ...boundRole(
      '# The OCM kinds and namespaces. Remove the kinds that your repositories do not hold.',
      `${name}-ocm`,
      rights('git-objects'),
    ),
    ...(kinds.permissions.some(({ resources }) => resources.includes('clustermanagementaddons'))
      ? boundRole(
          '# What clusters lose with a ClusterManagementAddOn that leaves Git.',
          `${name}-addons`,
          rights('lost-addons'),
        )
      : []),
    ...(kinds.permissions.length === 0
      ? []
      : boundRole('# The kinds that the sources list.', `${name}-kinds`, renderRules(kinds.permissions))),
  ];
}

const NO_KINDS: ListedPermissions = { permissions: [], unnamed: [] };

/** What the controller writes into Leases of its own namespace. */
function leaseRoles({ lease, announcement }: ControllerDuties): readonly Document[] {
  const election =
    lease === undefined
      ? []
      : boundRole(
          '# Permissions of the leader election: only the leader writes to the hub.',
          'berth-leader-election',
          namedRights('leader-election', [lease]),
          DEFAULT_NAMESPACE,
        );
  if (announcement === undefined) return election;
  const why = '# What tells other controllers of this one.';
  const rules = namedRights(
    'announcement',
    announcement.lease === undefined ? undefined : [announcement.lease],
  );
  return [...election, ...boundRole(why, 'berth-announcement', rules, DEFAULT_NAMESPACE)];
}

/** Roles for people who release held changes. The controller does not have them. */
function releaseRoles({ schedule, applies, argocd, addons }: ControllerDuties): readonly Document[] {
  const name = 'berth-release';
  return [
    ...(schedule === 'berth'
      ? [
          [
            '# For people who run berth release: bind this role to them in the namespaces of their Placements.',
            ...renderRole({ kind: 'ClusterRole', name }, rights('release-placement')),
          ],
        ]
      : []),
    ...(applies
      ? [
          [
            '# For people who run berth release --source: bind this role to them.',
            ...renderRole({ kind: 'Role', name, namespace: DEFAULT_NAMESPACE }, rights('release-source')),
          ],
        ]
      : []),
    ...(installsAddOns({ addons })
      ? [
          [
            '# For people who run berth release --addon: bind this role to them.',
            ...renderRole({ kind: 'ClusterRole', name: `${name}-addons` }, rights('release-addons')),
          ],
        ]
      : []),
    ...(argocd?.pull === true
      ? [
          [
            '# For people who run berth release --application-set or --applications: bind this role to them.',
            ...renderRole({ kind: 'ClusterRole', name: `${name}-pulled` }, rights('release-removals')),
          ],
        ]
      : []),
  ];
}

/** A role and its binding to the service account of the controller: in one namespace, or else cluster-wide. */
function boundRole(
  comment: string,
  name: string,
  rules: readonly string[],
  namespace?: string,
): readonly Document[] {
  const [role, binding] =
    namespace === undefined
      ? (['ClusterRole', 'ClusterRoleBinding'] as const)
      : (['Role', 'RoleBinding'] as const);
  return [
    [comment, ...renderRole({ kind: role, name, namespace }, rules)],
    renderBinding({ kind: binding, name, namespace, subjects: [SUBJECT] }),
  ];
}

/** Names of the Secrets by namespace, both sorted. */
function secretNamespaces({ secrets }: ControllerDuties): readonly (readonly [string, readonly string[]])[] {
  const namespaces = [...new Set(secrets.map(({ namespace }) => namespace))].sort();
  return namespaces.map((namespace) => {
    const names = secrets.filter((secret) => secret.namespace === namespace).map(({ name }) => name);
    return [namespace, [...new Set(names)].sort()];
  });
}

/** The parts of rights.yaml that each registration controller needs. */
const NEEDED: Readonly<Record<RegistrationDuty, readonly string[]>> = {
  acceptance: ['clusters', 'cluster-status', 'acceptance', 'certificate-requests', 'events', GRANTED],
  approval: ['certificate-requests', 'approval'],
  health: ['cluster-status', 'leases', 'events'],
  taints: ['clusters'],
  sets: ['sets', 'clusters', 'set-members', 'cluster-status'],
  cleanup: ['clusters', 'cluster-status', 'cleanup', 'events'],
};

/** Needed with `--registration`: rules as YAML lines. */
export function registrationRights(duties: readonly RegistrationDuty[]): readonly string[] {
  const parts = new Set(duties.flatMap((duty) => NEEDED[duty]));
  return [...parts].flatMap((part) => (part === GRANTED ? grantedToAgents() : rights(part)));
}

function grantedToAgents(): readonly string[] {
  const why =
    'Berth grants this to the agents of accepted clusters, each in its own namespace, and must hold it for that.';
  return renderRules(
    [...acceptedRules(''), ...REGISTRATION_RULES, ...WORK_RULES].map(({ apiGroups, ...rule }) => ({
      ...{ groups: apiGroups, resources: rule.resources, verbs: rule.verbs },
      why,
    })),
  );
}

function deploysAddOns({ addons }: ControllerDuties): boolean {
  return addons?.duties.includes('deployment') === true;
}

/** The parts of rights.yaml that each duty of add-ons needs. */
const ADDON_PARTS: Readonly<Record<AddOnDuty, readonly string[]>> = {
  install: ['addons', 'addon-install', 'addon-status'],
  configuration: ['addons', 'addon-status', 'addon-configs'],
  deployment: ['addons', 'addon-status', 'addon-deployment'],
  registration: ['addons', 'addon-status', 'addon-registration'],
  health: ['addons', 'addon-status', 'clusters'],
};

/** Needed with `--addons`: rules as YAML lines. */
function addOnRights(duties: readonly AddOnDuty[]): readonly string[] {
  return rights(...new Set(duties.flatMap((duty) => ADDON_PARTS[duty])));
}
