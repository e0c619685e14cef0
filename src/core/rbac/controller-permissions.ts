import {
  ADDON_PLACEMENT_SCORE,
  CONFIG_MAP,
  CONTROLLER_REVISION,
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
} from '../model/kinds.ts';
import type { Permission } from './permission.ts';
import { RECORDS_NAME } from '../publish/record/compact-record.ts';

/** The kinds that a repository of Berth's own is made of, which it may apply and, but for namespaces, delete. */
const GIT_KINDS: readonly KindInfo[] = [
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  ADDON_PLACEMENT_SCORE,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
];

/** Always: what decisions are made from, or what is answered from those of others. */
export const INVENTORY: readonly Permission[] = grant(
  [
    MANAGED_CLUSTER,
    MANAGED_CLUSTER_SET,
    MANAGED_CLUSTER_SET_BINDING,
    PLACEMENT,
    PLACEMENT_DECISION,
    ADDON_PLACEMENT_SCORE,
  ],
  ['list', 'watch'],
  'list, watch: what decisions depend on, and the decisions',
).concat(
  grant([MANIFEST_WORK], ['list', 'watch'], 'list, watch: whether what a placement carries runs (moves)'),
);

/** `--schedule berth`. */
export const PUBLISHING: readonly Permission[] = [
  ...grant(
    [PLACEMENT_DECISION],
    ['create', 'patch', 'delete'],
    'create, delete: the pages; patch: their decision group, and a fence after a write whose answer was lost',
  ),
  ...grant([PLACEMENT_DECISION], ['patch'], 'patch: the clusters on a page', 'status'),
  ...grant([PLACEMENT], ['patch'], 'patch: conditions and counts', 'status'),
];

/** `--schedule berth` on a hub that is not embedded. */
export const RECORDS: readonly Permission[] = [
  ...grant([CONFIG_MAP], ['create'], `create: ${RECORDS_NAME} (RBAC cannot tie a creation to a name)`),
  ...grant([CONFIG_MAP], ['get', 'patch'], 'get, patch: add what was published').map((permission) => ({
    ...permission,
    names: [RECORDS_NAME],
  })),
];

/** `--schedule berth` where the hub runs the admission plugin that guards owner references. */
export const OWNER_REFERENCES: readonly Permission[] = grant(
  [PLACEMENT],
  ['update'],
  'update: make a placement the owner that its pages go with (blockOwnerDeletion)',
  'finalizers',
);

/** Unless `--no-works`. */
export const WORKS: readonly Permission[] = [
  ...grant(
    [MANIFEST_WORK_REPLICA_SET],
    ['list', 'watch', 'patch'],
    'list, watch: learn what to roll out; patch: finalizer and Berth’s annotations',
  ),
  ...grant([MANIFEST_WORK_REPLICA_SET], ['patch'], 'patch: conditions and summary', 'status'),
  ...grant(
    [MANIFEST_WORK],
    ['get', 'create', 'update', 'delete'],
    'create, update, delete: the works; get: whose a work is that was there already',
  ),
  ...grant(
    [CONTROLLER_REVISION],
    ['get', 'create', 'delete'],
    'get, create, delete: the last good template, only for replica sets with berth.dev/rollback',
  ),
];

/** Where works name executors, from Git or in replica sets, and on hubs that ask for the right to leave the executor out. */
export const EXECUTORS: readonly Permission[] = grant(
  [MANIFEST_WORK],
  ['execute-as'],
  'execute-as: write works that act as another account, or as the agent itself; resourceNames with system:serviceaccount:NAMESPACE:NAME, or system:serviceaccount::klusterlet-work-sa for works without executor, narrow it',
);

/** `--sync apply`, in Berth's own namespace. */
export const APPLY_SET: readonly Permission[] = grant(
  [CONFIG_MAP],
  ['get', 'list', 'create', 'patch'],
  'get, create, patch: the parent of each source’s ApplySet; list: name the source that holds an object already',
);

/** Where processes are elected, in Berth's own namespace. */
export function leaseHolding(name: string): readonly Permission[] {
  return [
    ...grant(
      [LEASE],
      ['create'],
      'create: the Lease of the one that leads (RBAC cannot tie a creation to a name)',
    ),
    ...grant(
      [LEASE],
      ['get', 'patch'],
      'get, patch: see who leads, take the Lease, renew it, release it',
    ).map((permission) => ({ ...permission, names: [name] })),
  ];
}

/** `--sync apply`, for itself. */
export function namespaceLookup(namespace: string): readonly Permission[] {
  return grant([NAMESPACE], ['get'], 'get: is Berth’s own namespace there').map((permission) => ({
    ...permission,
    names: [namespace],
  }));
}

/** `--sync apply`: the objects in Git, of the kinds that Berth itself is about. */
export const GIT_OBJECTS: readonly Permission[] = [
  ...grant(
    GIT_KINDS,
    ['list', 'create', 'patch', 'delete'],
    'list: what the source has on the hub; create, patch: server-side apply; delete: what left Git',
  ),
  ...grant(
    [NAMESPACE],
    ['list', 'create', 'patch'],
    'as above, and list: recognise a restored or replaced hub; add delete if namespaces in Git say berth.dev/prune: enabled',
  ),
  ...grant([MANAGED_CLUSTER_SET], ['create'], 'create: put clusters into sets (label in Git)', 'join'),
  ...grant([MANAGED_CLUSTER_SET], ['create'], 'create: bind sets to namespaces', 'bind'),
  {
    groups: ['register.open-cluster-management.io'],
    resources: ['managedclusters/accept'],
    verbs: ['update'],
    why: 'update: accept clusters (hubAcceptsClient in Git)',
  },
];

/** `--sync apply --embedded`. */
export const EMBEDDED: readonly Permission[] = [
  ...grant([NAMESPACE], ['get', 'create'], 'get, create: namespaces that objects need'),
  ...grant(
    [MANAGED_CLUSTER, ADDON_PLACEMENT_SCORE],
    ['patch'],
    'patch: status as recorded in Git, for there are no agents',
    'status',
  ),
];

/** Of those who call `berth release` for a placement. */
export const RELEASE: readonly Permission[] = grant(
  [PLACEMENT],
  ['get', 'patch'],
  'get: what is held; patch: the token of the release and who gave it',
);

/** Of those who call `berth release --source`, in Berth's own namespace. */
export const RELEASE_SOURCE: readonly Permission[] = grant(
  [CONFIG_MAP],
  ['get', 'patch'],
  'get: what is held; patch: the token of the release on the source’s ApplySet',
);

/** Of sources whose credentials are Secrets. */
export function secretReading(names: readonly string[]): readonly Permission[] {
  const why = 'get: credentials of sources, read for every fetch';
  return [{ groups: [''], resources: ['secrets'], verbs: ['get'], names, why }];
}

/** One rule for each API group. */
function grant(
  kinds: readonly KindInfo[],
  verbs: readonly string[],
  why: string,
  subresource?: string,
): readonly Permission[] {
  const groups = [...new Set(kinds.map(({ group }) => group))];
  const ending = subresource === undefined ? '' : `/${subresource}`;
  return groups.map((group) => ({
    groups: [group],
    resources: kinds.filter((kind) => kind.group === group).map(({ plural }) => `${plural}${ending}`),
    verbs,
    why,
  }));
}
