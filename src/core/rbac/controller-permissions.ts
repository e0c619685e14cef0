import {
  ADDON_PLACEMENT_SCORE,
  CONFIG_MAP,
  CONTROLLER_REVISION,
  EVENT,
  type KindInfo,
  LEASE,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  NAMESPACE,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import { grant, type Permission } from './permission.ts';
import { RECORDS_NAME } from '../publish/record/compact-record.ts';

/** The OCM kinds in sources: Berth applies them, and deletes objects that were removed from Git. */
const GIT_KINDS: readonly KindInfo[] = [
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  ADDON_PLACEMENT_SCORE,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
];

/** Needed with every set of flags: the objects that decisions are computed from, and the decisions. */
export const INVENTORY_PERMISSIONS: readonly Permission[] = grant(
  [
    MANAGED_CLUSTER,
    MANAGED_CLUSTER_SET,
    MANAGED_CLUSTER_SET_BINDING,
    PLACEMENT,
    PLACEMENT_DECISION,
    ADDON_PLACEMENT_SCORE,
  ],
  ['list', 'watch'],
  'list, watch: Berth computes decisions from these objects, and serves the clusters in PlacementDecisions.',
).concat(
  grant(
    [MANIFEST_WORK],
    ['list', 'watch'],
    'list, watch: Berth moves a placement to a cluster when the ManifestWorks there are available.',
  ),
);

/** Needed with `--schedule berth`. */
export const PUBLISHING_PERMISSIONS: readonly Permission[] = [
  ...grant(
    [PLACEMENT_DECISION],
    ['create', 'patch', 'delete'],
    'create, delete: Berth writes the decisions of each Placement to PlacementDecisions; patch: it changes their labels, and marks one when the response to a write was lost.',
  ),
  ...grant(
    [PLACEMENT_DECISION],
    ['patch'],
    'patch: Berth writes the selected clusters to the status.',
    'status',
  ),
  ...grant(
    [PLACEMENT],
    ['patch'],
    'patch: Berth writes conditions and numbers of clusters to the status.',
    'status',
  ),
  ...grant(
    [PLACEMENT],
    ['patch'],
    'patch: Berth marks its placements, so that a second scheduler leaves them.',
  ),
  ...grant([EVENT], ['create'], 'create: Berth reports decisions on their placements.'),
];

/** Needed with `--schedule berth`. */
export const RECORDS_PERMISSIONS: readonly Permission[] = [
  ...grant(
    [CONFIG_MAP],
    ['create'],
    `create: Berth creates the ConfigMap ${RECORDS_NAME}; RBAC cannot restrict create to a name.`,
  ),
  ...grant([CONFIG_MAP], ['get', 'patch'], 'get, patch: Berth adds a record of each published decision.').map(
    (permission) => ({
      ...permission,
      names: [RECORDS_NAME],
    }),
  ),
];

/** Needed with `--schedule berth` on a hub that runs the admission plugin OwnerReferencesPermissionEnforcement. */
export const OWNER_REFERENCES_PERMISSIONS: readonly Permission[] = grant(
  [PLACEMENT],
  ['update'],
  'update: Berth sets the Placement as owner of its PlacementDecisions, with blockOwnerDeletion.',
  'finalizers',
);

/** Needed without `--no-works`. */
export const WORKS_PERMISSIONS: readonly Permission[] = [
  ...grant(
    [MANIFEST_WORK_REPLICA_SET],
    ['list', 'watch', 'patch'],
    'list, watch: Berth rolls out the template of each replica set; patch: it writes its finalizer and its annotations.',
  ),
  ...grant(
    [MANIFEST_WORK_REPLICA_SET],
    ['patch'],
    'patch: Berth writes conditions and the summary to the status.',
    'status',
  ),
  ...grant(
    [MANIFEST_WORK],
    ['get', 'create', 'update', 'delete'],
    'create, update, delete: Berth writes the ManifestWorks of replica sets; get: it reads the owner of a ManifestWork that exists already.',
  ),
  ...grant(
    [CONTROLLER_REVISION],
    ['get', 'create', 'delete'],
    'get, create, delete: Berth stores the last good template of replica sets with the annotation berth.dev/rollback.',
  ),
];

/** Needed for ManifestWorks that name an executor, and for those without one on a hub that checks `execute-as` for them. */
export const EXECUTORS_PERMISSIONS: readonly Permission[] = grant(
  [MANIFEST_WORK],
  ['execute-as'],
  'execute-as: Berth writes ManifestWorks that the agent applies as another service account, or as itself. To restrict it, set resourceNames: system:serviceaccount:NAMESPACE:NAME for an executor, system:serviceaccount::klusterlet-work-sa for ManifestWorks without executor.',
);

/** Needed with `--sync apply`, in Berth's own namespace. */
export const APPLY_SET_PERMISSIONS: readonly Permission[] = grant(
  [CONFIG_MAP],
  ['get', 'list', 'create', 'patch'],
  'get, create, patch: Berth writes the ApplySet parent of each source; list: it finds the source that owns an object.',
);

/** Needed with `--argocd-pull`, but not with `--embedded`, in Berth's own namespace. */
export const PULL_REMOVALS_PERMISSIONS: readonly Permission[] = grant(
  [CONFIG_MAP],
  ['get', 'create', 'update'],
  'get, create, update: Berth keeps the last removals of pulled works in the ConfigMap berth-pull-removals, for the next leader.',
);

/**
 * Needed with leader election, in Berth's own namespace.
 * @param name of the Lease
 */
export function leaseHolding(name: string): readonly Permission[] {
  return [
    ...grant([LEASE], ['create'], 'create: Berth creates the Lease; RBAC cannot restrict create to a name.'),
    ...grant(
      [LEASE],
      ['get', 'patch'],
      'get, patch: Berth reads who holds the Lease, acquires it, renews it and releases it.',
    ).map((permission) => ({ ...permission, names: [name] })),
  ];
}

/**
 * Needed by a controller that writes to the hub, in Berth's own namespace.
 * @param name of the Lease in which it says what it writes; undefined: it depends on the machine
 */
export function announcing(name: string | undefined): readonly Permission[] {
  return [
    ...grant(
      [LEASE],
      ['list', 'create'],
      'list: Berth notices other controllers that write the same; create: it creates a Lease of its own.',
    ),
    ...grant(
      [LEASE],
      ['get', 'patch'],
      'get, patch: Berth says in this Lease what it writes to the hub.',
    ).map((permission) => (name === undefined ? permission : { ...permission, names: [name] })),
  ];
}

/** Needed with `--sync apply`, but not with `--embedded`. */
export function namespaceLookup(namespace: string): readonly Permission[] {
  return grant([NAMESPACE], ['get'], 'get: Berth checks that its namespace exists.').map((permission) => ({
    ...permission,
    names: [namespace],
  }));
}

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

/** Needed with `--sync apply`: the objects in Git, of the OCM kinds and namespaces. */
export const GIT_OBJECTS_PERMISSIONS: readonly Permission[] = [
  ...grant(GIT_KINDS, APPLIED_KIND_PERMISSION.verbs, APPLIED_KIND_PERMISSION.why),
  ...grant(
    [NAMESPACE],
    ['list', 'watch', 'create', 'patch'],
    'create, patch: Berth applies namespaces by server-side apply; list: it compares the hub with Git, recognises a restored or replaced hub, and makes the namespace an owner of PlacementDecisions; watch: it waits for namespaces that objects in Git need. List the kind /Namespace to add delete, for namespaces with the annotation berth.dev/prune: enabled.',
  ),
  ...grant(
    [MANAGED_CLUSTER_SET],
    ['create'],
    'create: Berth adds clusters to cluster sets by their label.',
    'join',
  ),
  ...grant([MANAGED_CLUSTER_SET], ['create'], 'create: Berth binds cluster sets to namespaces.', 'bind'),
  {
    groups: ['register.open-cluster-management.io'],
    resources: ['managedclusters/accept'],
    verbs: ['update'],
    why: 'update: Berth sets hubAcceptsClient of ManagedClusters.',
  },
];

/** Needed with `--sync apply --embedded`. */
export const EMBEDDED_HUB_PERMISSIONS: readonly Permission[] = [
  ...grant(
    [NAMESPACE],
    ['get', 'create'],
    'get, create: Berth creates the namespaces of the objects that it applies.',
  ),
  ...grant(
    [MANAGED_CLUSTER, ADDON_PLACEMENT_SCORE],
    ['patch'],
    'patch: Berth writes the status that Git holds, because no agents report one.',
    'status',
  ),
];

/**
 * Needed for sources whose credentials are in Secrets.
 * @param names of the Secrets, in one namespace
 */
export function secretReading(names: readonly string[]): readonly Permission[] {
  const why = 'get: Berth reads the credentials of sources for each fetch.';
  return [{ groups: [''], resources: ['secrets'], verbs: ['get'], names, why }];
}
