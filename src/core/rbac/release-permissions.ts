import { APPLICATION } from '../argocd/argocd-kinds.ts';
import { CONFIG_MAP, MANAGED_CLUSTER, MANIFEST_WORK, PLACEMENT } from '@berth/kube/model/kinds';
import { grant, type Permission } from './permission.ts';

/** Permissions of a person who runs `berth release` for a Placement. */
export const RELEASE_PLACEMENT: readonly Permission[] = [
  ...grant(
    [PLACEMENT],
    ['get', 'patch'],
    'get: berth release reads the held change; patch: it writes the plan token and the name of the person.',
  ),
  ...grant(
    [CONFIG_MAP],
    ['list'],
    'list: berth history reads the records of the namespace; RBAC cannot restrict list to their label. Remove it if ConfigMaps there are not for these people.',
  ),
];

/** Permissions of a person who runs `berth release --source`, in Berth's own namespace. */
export const RELEASE_SOURCE: readonly Permission[] = grant(
  [CONFIG_MAP],
  ['get', 'patch'],
  'get: berth release reads the held change; patch: it writes the plan token to the ApplySet parent of the source.',
);

/** Permissions of a person who runs `berth release --application-set` or `--applications`. */
export const RELEASE_REMOVALS: readonly Permission[] = [
  ...grant(
    [MANIFEST_WORK],
    ['list', 'patch'],
    'list: berth release finds what would be removed; patch: it writes the plan token and the name of the person to one of the ManifestWorks. Who may patch ManifestWorks may change what they carry.',
  ),
  ...grant([APPLICATION], ['get'], 'get: berth release reads the Applications of these ManifestWorks.'),
  ...grant([MANAGED_CLUSTER], ['list'], 'list: it reads which clusters the hub knows.'),
];
