import { acceptedRules, REGISTRATION_RULES, WORK_RULES } from '../registration/acceptance/cluster-objects.ts';
import type { AddOnDuty } from '../addon/addon-duties.ts';
import type { RegistrationDuty } from '../registration/duties.ts';
import { DEFAULT_NAMESPACE } from '../sync/apply-set.ts';
import { movesConfigMap } from '../transition/unfinished-transition.ts';
import { workLeases } from '../work/replica-set/work-shares.ts';
import {
  CONTROLLER_ROLES,
  type ControllerRole,
  GRANTED,
  LISTED,
  NONE,
  PEOPLE_ROLES,
  type Right,
  type RolePart,
} from './controller-roles.ts';
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

/** The flags of `berth serve` that decide which permissions the controller needs. */
export interface ControllerDuties {
  /** At least one source has `sync: apply`. */
  readonly applies: boolean;
  readonly schedule: 'berth' | 'upstream';
  readonly works: boolean;
  readonly embedded: boolean;
  readonly multiclusterDecisions?: boolean | undefined;
  /** Absent: no access to Argo CD. */
  readonly argocd?:
    | {
        readonly namespace: string;
        readonly refresh: boolean;
        readonly waves?: boolean | undefined;
        readonly clusterSecrets: boolean;
        readonly pull: boolean;
        readonly extension?: boolean | undefined;
      }
    | undefined;
  /** Absent: another controller handles registration. */
  readonly registration?: { readonly duties: readonly RegistrationDuty[] } | undefined;
  /** Absent: another controller manages add-ons. */
  readonly addons?: { readonly duties: readonly AddOnDuty[] } | undefined;
  /** It serves the dashboard. */
  readonly listens?: boolean | undefined;
  /** Absent: Berth serves no admission webhooks. */
  readonly admission?: object | undefined;
  /**
   * The Lease in which the controller says what it writes, with its name unless that depends on the machine.
   * Absent: it writes nothing.
   */
  readonly announcement?: { readonly lease: string | undefined } | undefined;
  /** Name of the Lease of the leader election. Absent: leader election is off. */
  readonly lease?: string | undefined;
  /** Every process writes works. Default: the leader. */
  readonly sharesWorks?: boolean | undefined;
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
  const on = rightsOf(duties);
  const documents = (roles: readonly ControllerRole[]): readonly Document[] =>
    roles.flatMap((role) => {
      const parts = role.parts.filter((part) => isNeeded(part, on, duties.embedded));
      if (parts.length === 0) return [];
      return roleDocuments(role, {
        rules: parts.flatMap((part) => partRules(part, duties)),
        argocdNamespace: duties.argocd?.namespace,
        unnamed: duties.kinds?.unnamed,
      });
    });
  return renderDocuments([
    ['# The namespace and the service account of the controller.', ...renderNamespace(DEFAULT_NAMESPACE)],
    renderServiceAccount(SUBJECT.name, DEFAULT_NAMESPACE),
    ...documents(CONTROLLER_ROLES),
    ...secretNamespaces(duties).flatMap(([namespace, names]) => credentialDocuments(namespace, names)),
    ...documents(PEOPLE_ROLES),
  ]);
}

function isNeeded({ any, embedded }: RolePart, on: ReadonlySet<Right>, isEmbedded: boolean): boolean {
  return (
    (any === undefined || any.some((right) => on.has(right))) &&
    (embedded === undefined || embedded === isEmbedded)
  );
}

function rightsOf(duties: ControllerDuties): ReadonlySet<Right> {
  const { argocd, registration, addons, kinds } = duties;
  const when = (isOn: boolean | undefined, right: Right): readonly Right[] => (isOn === true ? [right] : []);
  const listed = duties.applies ? (kinds?.permissions ?? []) : [];
  return new Set<Right>([
    ...when(duties.applies, 'applies'),
    ...when(duties.schedule === 'berth', 'decides'),
    ...when(duties.works, 'works'),
    ...when(duties.multiclusterDecisions, 'multicluster-decisions'),
    ...when(duties.lease !== undefined, 'elects'),
    ...when(duties.lease !== undefined && duties.schedule === 'berth', 'hands-over'),
    ...when(duties.sharesWorks, 'shares-works'),
    ...when(duties.announcement !== undefined, 'announces'),
    ...when(duties.listens, 'listens'),
    ...when(duties.admission !== undefined, 'admission'),
    ...when(argocd?.refresh, 'argocd-refresh'),
    ...when(argocd?.waves, 'argocd-waves'),
    ...when(argocd?.clusterSecrets, 'argocd-clusters'),
    ...when(argocd?.pull, 'argocd-pull'),
    ...when(argocd?.extension, 'argocd-extension'),
    ...when(listed.length > 0, 'listed-kinds'),
    ...when(
      listed.some(({ resources }) => resources.includes('clustermanagementaddons')),
      'listed-addons',
    ),
    ...(registration?.duties ?? []).map((duty): Right => `registration-${duty}`),
    ...(addons?.duties ?? []).map((duty): Right => `addons-${duty}`),
  ]);
}

/** The objects beside a Lease of the leader election, by its name. */
const NAMES_BESIDE = {
  lease: (lease: string) => [lease],
  moves: (lease: string) => [movesConfigMap(lease)],
  'work-leases': workLeases,
};

/** The rules of a part, as YAML lines. */
export function partRules(
  { part, names }: RolePart,
  { lease, announcement, kinds }: Pick<ControllerDuties, 'lease' | 'announcement' | 'kinds'>,
): readonly string[] {
  if (part === NONE) return [];
  if (part === GRANTED) return grantedToAgents();
  if (part === LISTED) return renderRules(kinds?.permissions ?? []);
  if (names === undefined) return rights(part);
  const [name, named] =
    names === 'announcement' ? [announcement?.lease, NAMES_BESIDE.lease] : [lease, NAMES_BESIDE[names]];
  return namedRights(part, name === undefined ? undefined : named(name));
}

interface RoleText {
  /** YAML lines. */
  readonly rules: readonly string[];
  readonly argocdNamespace: string | undefined;
  /** Kinds that a role without wildcards cannot name. */
  readonly unnamed?: readonly string[] | undefined;
}

/** A role and its binding, as YAML lines. */
export function roleDocuments(
  { comment, name, namespace: place, aggregates, isForPeople }: ControllerRole,
  { rules, argocdNamespace, unnamed = [] }: RoleText,
): readonly Document[] {
  const namespace = place === 'argocd' ? argocdNamespace : place && DEFAULT_NAMESPACE;
  const [role, binding] =
    namespace === undefined
      ? (['ClusterRole', 'ClusterRoleBinding'] as const)
      : (['Role', 'RoleBinding'] as const);
  const lines = aggregates
    ? [...unnamedText(unnamed), ...renderAggregatedRole(name, AGGREGATE_LABEL)]
    : renderRole({ kind: role, name, namespace }, rules);
  return [
    [`# ${comment}`, ...lines],
    ...(isForPeople ? [] : [renderBinding({ kind: binding, name, namespace, subjects: [SUBJECT] })]),
  ];
}

/** The role for credentials of sources in Secrets of a namespace. */
function credentialDocuments(namespace: string, names: readonly string[]): readonly Document[] {
  const head = { name: 'berth-credentials', namespace };
  return [
    [
      '# Secrets with the credentials of sources.',
      ...renderRole({ kind: 'Role', ...head }, namedRights('secrets', names)),
    ],
    renderBinding({ kind: 'RoleBinding', ...head, subjects: [SUBJECT] }),
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
