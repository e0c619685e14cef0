import { NAMESPACE, SECRET, SUBJECT_ACCESS_REVIEW } from '@berth/kube/model/kinds';
import {
  ADMISSION_NAME,
  MUTATING_CONFIGURATION,
  VALIDATING_CONFIGURATION,
} from '../registration/webhooks/webhook-configurations.ts';
import { grant, type Permission } from './permission.ts';

const CONFIGURATIONS = [MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION];

/** Needed with `--admission-listen`. */
export const ADMISSION_PERMISSIONS: readonly Permission[] = [
  ...grant(
    [SUBJECT_ACCESS_REVIEW],
    ['create'],
    'create: Berth asks the hub whether a user may accept a cluster, join a set or bind it.',
  ),
  ...grant([NAMESPACE], ['get'], 'get: Berth refuses to accept a cluster whose namespace is being deleted.'),
  ...grant(
    CONFIGURATIONS,
    ['create'],
    `create: Berth makes the hub ask it, by the configurations ${ADMISSION_NAME}; RBAC cannot restrict create to a name.`,
  ),
  ...named(
    grant(
      CONFIGURATIONS,
      ['get', 'update'],
      'get, update: it keeps them, with the authority that it is trusted by.',
    ),
  ),
];

/** The same, in Berth's own namespace. */
export const ADMISSION_SECRET_PERMISSIONS: readonly Permission[] = [
  ...grant(
    [SECRET],
    ['create'],
    'create: Berth makes its certificate; RBAC cannot restrict create to a name.',
  ),
  ...named(
    grant([SECRET], ['get', 'update'], 'get, update: every replica serves with it, and one renews it.'),
  ),
];

function named(permissions: readonly Permission[]): readonly Permission[] {
  return permissions.map((permission) => ({ ...permission, names: [ADMISSION_NAME] }));
}
