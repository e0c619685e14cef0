import type { AddOnDuty } from '../addon/addon-duties.ts';
import type { RegistrationDuty } from '../registration/duties.ts';

/** What Berth grants to agents: RBAC lets nobody grant rights that he does not have. */
export const GRANTED = 'granted';
/** The kinds that sources list. */
export const LISTED = 'listed';
export const NONE = 'none';

/** What flags turn on, as far as rights depend on it. */
export type Right =
  | 'applies'
  | 'decides'
  | 'works'
  | 'multicluster-decisions'
  | 'elects'
  | 'hands-over'
  | 'shares-works'
  | 'announces'
  | 'listens'
  | 'admission'
  | 'argocd-refresh'
  | 'argocd-waves'
  | 'argocd-clusters'
  | 'argocd-pull'
  | 'argocd-extension'
  | 'listed-kinds'
  | 'listed-addons'
  | `registration-${RegistrationDuty}`
  | `addons-${AddOnDuty}`;

/** A part of rights.yaml in a role. */
export interface RolePart {
  /** Or `granted`, or `listed`: rules that are computed. */
  readonly part: string;
  /** The part is in the role if one of them is on. Absent: always. */
  readonly any?: readonly Right[] | undefined;
  /** Only with `--embedded`, or only without. Absent: both. */
  readonly embedded?: boolean | undefined;
  /** The objects that the rules of the part name. */
  readonly names?: 'lease' | 'moves' | 'work-leases' | 'announcement' | undefined;
}

/** A role of the controller or of people. It exists if one of its parts does. */
export interface ControllerRole {
  readonly comment: string;
  readonly name: string;
  /** Absent: a ClusterRole. */
  readonly namespace?: 'own' | 'argocd' | undefined;
  /** Other ClusterRoles add its rules, by their label. */
  readonly aggregates?: true | undefined;
  /** Somebody else binds it to people. */
  readonly isForPeople?: true | undefined;
  readonly parts: readonly RolePart[];
}

/** The parts of rights.yaml that each registration controller needs. */
const REGISTRATION_PARTS: Readonly<Record<RegistrationDuty, readonly string[]>> = {
  acceptance: ['clusters', 'cluster-status', 'acceptance', 'certificate-requests', 'events', GRANTED],
  approval: ['certificate-requests', 'approval'],
  health: ['cluster-status', 'leases', 'events'],
  taints: ['clusters'],
  sets: ['sets', 'clusters', 'set-members', 'cluster-status'],
  cleanup: ['clusters', 'cluster-status', 'cleanup', 'events'],
};

/** The parts of rights.yaml that each duty of add-ons needs. */
const ADDON_PARTS: Readonly<Record<AddOnDuty, readonly string[]>> = {
  install: ['addons', 'addon-install', 'addon-status'],
  configuration: ['addons', 'addon-status', 'addon-configs'],
  deployment: ['addons', 'addon-status', 'addon-deployment'],
  registration: ['addons', 'addon-status', 'addon-registration'],
  health: ['addons', 'addon-status', 'clusters'],
};

/** Parts with the duties that need them. */
function neededParts<Duty extends string, Prefix extends string>(
  prefix: Prefix,
  needs: Readonly<Record<Duty, readonly string[]>>,
): readonly { readonly part: string; readonly any: readonly `${Prefix}-${Duty}`[] }[] {
  const duties = Object.keys(needs) as Duty[];
  return [...new Set(duties.flatMap((duty) => needs[duty]))].map((part) => ({
    part,
    any: duties.filter((duty) => needs[duty].includes(part)).map((duty) => `${prefix}-${duty}` as const),
  }));
}

/** The roles in the order in which they are printed. The roles for credentials of sources follow those for sources. */
export const CONTROLLER_ROLES: readonly ControllerRole[] = [
  {
    comment: 'Permissions that the controller needs with its flags.',
    name: 'berth',
    parts: [
      { part: 'inventory' },
      { part: 'publishing', any: ['decides'] },
      { part: 'decision-slices', any: ['multicluster-decisions'] },
      { part: 'works', any: ['works'] },
      { part: 'embedded-hub', any: ['applies'], embedded: true },
      { part: 'own-namespace', any: ['applies'], embedded: false },
    ],
  },
  {
    comment: 'The dashboard of --listen: who logs in, and what he may see.',
    name: 'berth-dashboard',
    parts: [{ part: 'dashboard', any: ['listens'] }],
  },
  {
    comment: 'Permissions of the leader election: only the leader writes to the hub.',
    ...{ name: 'berth-leader-election', namespace: 'own' },
    parts: [
      { part: 'leader-election', any: ['elects'], names: 'lease' },
      { part: 'handover', any: ['hands-over'], names: 'moves' },
      { part: 'work-shares', any: ['shares-works'], names: 'work-leases' },
    ],
  },
  {
    comment: 'What tells other controllers of this one.',
    ...{ name: 'berth-announcement', namespace: 'own' },
    parts: [{ part: 'announcement', any: ['announces'], names: 'announcement' }],
  },
  {
    comment:
      'Only needed if the hub runs the admission plugin OwnerReferencesPermissionEnforcement, as OpenShift does.',
    name: 'berth-owner-references',
    parts: [{ part: 'owner-references', any: ['decides'] }],
  },
  {
    comment:
      'Only needed if ManifestWorks name executors, or if the hub checks ManifestWorks without an executor (berth hub, and OCM with NilExecutorValidating).',
    name: 'berth-executors',
    parts: [{ part: 'executors', any: ['works', 'applies', 'argocd-pull', 'addons-deployment'] }],
  },
  {
    comment: 'What Berth keeps of removals by the pull model of Argo CD, and of add-ons.',
    ...{ name: 'berth-pull', namespace: 'own' },
    parts: [{ part: 'pull-removals', any: ['argocd-pull', 'addons-install'], embedded: false }],
  },
  {
    comment: 'What Berth does for Argo CD.',
    name: 'berth-argocd',
    parts: [
      { part: 'argocd-refresh', any: ['argocd-refresh'] },
      { part: 'argocd-waves', any: ['argocd-waves'] },
      { part: 'argocd-clusters', any: ['argocd-clusters'] },
      { part: 'argocd-pull', any: ['argocd-pull'] },
      { part: 'argocd-extension', any: ['argocd-extension'] },
    ],
  },
  {
    comment: 'The same, in the namespace of Argo CD.',
    ...{ name: 'berth-argocd', namespace: 'argocd' },
    parts: [
      { part: 'argocd-config-maps', any: ['argocd-refresh', 'argocd-waves'] },
      { part: 'argocd-secrets', any: ['argocd-clusters'] },
    ],
  },
  {
    comment:
      'Not needed if every GitOpsCluster has createBlankClusterSecrets. To restrict it, bind it in the namespaces of clusters.',
    name: 'berth-argocd-credentials',
    parts: [{ part: 'argocd-credentials', any: ['argocd-clusters'] }],
  },
  {
    comment: 'What Berth does for clusters that join.',
    name: 'berth-registration',
    parts: neededParts('registration', REGISTRATION_PARTS),
  },
  {
    comment: 'What Berth does for add-ons.',
    name: 'berth-addons',
    parts: neededParts('addons', ADDON_PARTS),
  },
  {
    comment: 'What the admission webhooks need.',
    name: 'berth-admission',
    parts: [{ part: 'admission', any: ['admission'] }],
  },
  {
    comment: 'The Secret with the certificate of the admission webhooks.',
    ...{ name: 'berth-admission', namespace: 'own' },
    parts: [{ part: 'admission-secret', any: ['admission'] }],
  },
  {
    comment: 'ConfigMaps that are the ApplySet parents of sources.',
    ...{ name: 'berth', namespace: 'own' },
    parts: [{ part: 'apply-set', any: ['applies'] }],
  },
  {
    comment: [
      'This role aggregates every ClusterRole with the label: for rights that no flag and no setting names.',
      'To apply roles and bindings, Berth also needs escalate and bind, or the permissions that they grant.',
    ].join('\n# '),
    ...{ name: 'berth-sources', aggregates: true },
    parts: [{ part: NONE, any: ['applies'] }],
  },
  {
    comment: 'The OCM kinds and namespaces. Remove the kinds that your repositories do not hold.',
    name: 'berth-sources-ocm',
    parts: [{ part: 'git-objects', any: ['applies'] }],
  },
  {
    comment: 'What clusters lose with a ClusterManagementAddOn that leaves Git.',
    name: 'berth-sources-addons',
    parts: [{ part: 'lost-addons', any: ['listed-addons'] }],
  },
  {
    comment: 'The kinds that the sources list.',
    name: 'berth-sources-kinds',
    parts: [{ part: LISTED, any: ['listed-kinds'] }],
  },
];

/** Roles for people who release held changes. The controller does not have them. */
export const PEOPLE_ROLES: readonly ControllerRole[] = [
  {
    comment:
      'For people who run berth release: bind this role to them in the namespaces of their Placements.',
    ...{ name: 'berth-release', isForPeople: true },
    parts: [{ part: 'release-placement', any: ['decides'] }],
  },
  {
    comment: 'For people who run berth release --source: bind this role to them.',
    ...{ name: 'berth-release', namespace: 'own', isForPeople: true },
    parts: [{ part: 'release-source', any: ['applies'] }],
  },
  {
    comment: 'For people who run berth release --addon: bind this role to them.',
    ...{ name: 'berth-release-addons', isForPeople: true },
    parts: [{ part: 'release-addons', any: ['addons-install'] }],
  },
  {
    comment: 'For people who run berth release --application-set or --applications: bind this role to them.',
    ...{ name: 'berth-release-pulled', isForPeople: true },
    parts: [{ part: 'release-removals', any: ['argocd-pull'] }],
  },
];
