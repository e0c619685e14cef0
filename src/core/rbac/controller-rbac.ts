import { DEFAULT_NAMESPACE } from '../sync/apply-set.ts';
import type { Permission } from './permission.ts';
import { renderDocuments } from './render-documents.ts';
import { renderAggregatedRole, renderBinding, renderRole } from './render-role.ts';
import {
  APPLY_SET,
  EMBEDDED,
  EXECUTORS,
  GIT_OBJECTS,
  INVENTORY,
  leaseHolding,
  namespaceLookup,
  OWNER_REFERENCES,
  PUBLISHING,
  RECORDS,
  RELEASE,
  RELEASE_SOURCE,
  secretReading,
  WORKS,
} from './controller-permissions.ts';

/** What the controller is asked to do, as far as it takes rights. */
export interface ControllerDuties {
  /** At least one source is applied by Berth. */
  readonly applies: boolean;
  readonly schedule: 'berth' | 'upstream';
  readonly works: boolean;
  readonly embedded: boolean;
  /** Name of the Lease; absent: nobody is elected. */
  readonly lease?: string | undefined;
  /** Secrets with credentials of sources. */
  readonly secrets: readonly { readonly namespace: string; readonly name: string }[];
}

const SUBJECT = { kind: 'ServiceAccount', name: 'berth', namespace: DEFAULT_NAMESPACE } as const;
const AGGREGATE_LABEL = 'berth.dev/aggregate-to-controller';

type Document = readonly string[];

/**
 * The least permissions that `berth serve` works with for these duties, as YAML with a reason at each rule, bound to its service account;
 * and roles for people who release held changes, bound to nobody. Nothing asks for `*`: what Git holds beside Berth's own kinds is granted
 * through the aggregated role.
 */
export function renderControllerRbac(duties: ControllerDuties): string {
  const decides = duties.schedule === 'berth';
  const own = [
    ...INVENTORY,
    ...(decides ? PUBLISHING : []),
    ...(decides && !duties.embedded ? RECORDS : []),
    ...(duties.works ? WORKS : []),
    ...(duties.applies ? (duties.embedded ? EMBEDDED : namespaceLookup(DEFAULT_NAMESPACE)) : []),
  ];
  return renderDocuments([
    ...bound('# What the controller needs for itself.', 'berth', own),
    ...(duties.lease === undefined
      ? []
      : bound(
          '# Which of several controllers writes.',
          'berth-leader-election',
          leaseHolding(duties.lease),
          DEFAULT_NAMESPACE,
        )),
    ...(decides
      ? bound(
          '# Only where the hub runs the admission plugin OwnerReferencesPermissionEnforcement, as OpenShift does.',
          'berth-owner-references',
          OWNER_REFERENCES,
        )
      : []),
    ...(duties.works || duties.applies
      ? bound(
          '# Only if works name executors, or the hub checks works without one (Berth’s own, OCM’s with NilExecutorValidating).',
          'berth-executors',
          EXECUTORS,
        )
      : []),
    ...(duties.applies ? sources() : []),
    ...secretNamespaces(duties).flatMap(([namespace, names]) =>
      bound('# Credentials of sources.', 'berth-credentials', secretReading(names), namespace),
    ),
    ...releases(duties),
  ]);
}

/** What Git holds: the kinds of Berth's own, and room for others. */
function sources(): readonly Document[] {
  const name = 'berth-sources';
  const head = { kind: 'ClusterRole', name: `${name}-ocm`, labels: { [AGGREGATE_LABEL]: 'true' } } as const;
  return [
    ...bound('# The parents of the ApplySets.', 'berth', APPLY_SET, DEFAULT_NAMESPACE),
    [
      '# Collects every ClusterRole with the label: what Git may hold. For each kind that is not below (add-ons, ConfigMaps, ApplicationSets …)',
      '# add one with list, create, patch and delete. Roles and bindings in Git also take escalate and bind, or the rights that they grant.',
      ...renderAggregatedRole(name, AGGREGATE_LABEL),
    ],
    [
      '# The kinds that Berth is about. Leave out what your Git does not hold.',
      ...renderRole(head, GIT_OBJECTS),
    ],
    renderBinding({ kind: 'ClusterRoleBinding', name, subject: SUBJECT }),
  ];
}

/** Not the controller's: it never releases anything by itself. */
function releases({ schedule, applies }: ControllerDuties): readonly Document[] {
  const name = 'berth-release';
  return [
    ...(schedule === 'berth'
      ? [
          [
            '# For people who call berth release: bind it to them, in the namespaces of their placements.',
            ...renderRole({ kind: 'ClusterRole', name }, RELEASE),
          ],
        ]
      : []),
    ...(applies
      ? [
          [
            '# For people who call berth release --source: bind it to them.',
            ...renderRole({ kind: 'Role', name, namespace: DEFAULT_NAMESPACE }, RELEASE_SOURCE),
          ],
        ]
      : []),
  ];
}

/** A role and its binding to the controller; in one namespace, or everywhere. */
function bound(
  note: string,
  name: string,
  permissions: readonly Permission[],
  namespace?: string,
): readonly Document[] {
  const [role, binding] =
    namespace === undefined
      ? (['ClusterRole', 'ClusterRoleBinding'] as const)
      : (['Role', 'RoleBinding'] as const);
  return [
    [note, ...renderRole({ kind: role, name, namespace }, permissions)],
    renderBinding({ kind: binding, name, namespace, subject: SUBJECT }),
  ];
}

function secretNamespaces({ secrets }: ControllerDuties): readonly (readonly [string, readonly string[]])[] {
  const namespaces = [...new Set(secrets.map(({ namespace }) => namespace))].sort();
  return namespaces.map((namespace) => {
    const names = secrets.filter((secret) => secret.namespace === namespace).map(({ name }) => name);
    return [namespace, [...new Set(names)].sort()];
  });
}
