import type { Permission } from './permission.ts';

export interface RoleHead {
  readonly kind: 'Role' | 'ClusterRole';
  readonly name: string;
  /** Of a Role. */
  readonly namespace?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

export interface BindingHead {
  readonly kind: 'RoleBinding' | 'ClusterRoleBinding';
  /** Of the binding and of the role it binds. */
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly subjects: readonly RbacSubject[];
}

export type RbacSubject =
  | { readonly kind: 'ServiceAccount'; readonly name: string; readonly namespace: string }
  | { readonly kind: 'Group'; readonly name: string };

/** A role as YAML lines, with the reason above each rule. */
export function renderRole(head: RoleHead, permissions: readonly Permission[]): readonly string[] {
  return [...renderHead(head), ...(permissions.length === 0 ? ['rules: []'] : renderRules(permissions))];
}

/**
 * A ClusterRole that has the rules of every ClusterRole with the label. It has no `rules` field:
 * applying an empty list would remove the rules that the hub's controller has written.
 */
export function renderAggregatedRole(name: string, label: string): readonly string[] {
  return [
    ...renderHead({ kind: 'ClusterRole', name }),
    'aggregationRule:',
    '  clusterRoleSelectors:',
    '    - matchLabels:',
    `        ${label}: 'true'`,
  ];
}

export function renderBinding({ subjects, ...head }: BindingHead): readonly string[] {
  return [
    ...renderHead(head),
    'roleRef:',
    '  apiGroup: rbac.authorization.k8s.io',
    `  kind: ${head.kind === 'RoleBinding' ? 'Role' : 'ClusterRole'}`,
    `  name: ${head.name}`,
    'subjects:',
    ...subjects.flatMap((subject) => [
      `  - kind: ${subject.kind}`,
      `    name: ${subject.name}`,
      subject.kind === 'ServiceAccount'
        ? `    namespace: ${subject.namespace}`
        : '    apiGroup: rbac.authorization.k8s.io',
    ]),
  ];
}

interface Head {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

function renderHead({ kind, name, namespace, labels }: Head): readonly string[] {
  const labelLines = Object.entries(labels ?? {}).map(([key, value]) => `    ${key}: '${value}'`);
  return [
    'apiVersion: rbac.authorization.k8s.io/v1',
    `kind: ${kind}`,
    'metadata:',
    `  name: ${name}`,
    ...(namespace === undefined ? [] : [`  namespace: ${namespace}`]),
    ...(labelLines.length === 0 ? [] : ['  labels:', ...labelLines]),
  ];
}

function renderRules(permissions: readonly Permission[]): readonly string[] {
  const list = (items: readonly string[]): string => `[${items.map((item) => `'${item}'`).join(', ')}]`;
  return [
    'rules:',
    ...permissions.flatMap(({ groups, resources, verbs, names, why }) => [
      `  # ${why}`,
      `  - apiGroups: ${list(groups)}`,
      `    resources: ${list(resources)}`,
      ...(names === undefined ? [] : [`    resourceNames: ${list(names)}`]),
      `    verbs: ${list(verbs)}`,
    ]),
  ];
}
