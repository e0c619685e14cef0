import { BugError } from '@berth/runtime/errors';
import text from './rights.yaml';

/** One rule of a Role or ClusterRole, and its reason. */
export interface Permission {
  readonly groups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  /** Full sentence for users: the comment above the rule. */
  readonly why: string;
}

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

/** YAML documents, each given as its lines, as one text. */
export function renderDocuments(documents: readonly (readonly string[])[]): string {
  return `${documents.map((lines) => lines.join('\n')).join('\n---\n')}\n`;
}

/** A Namespace as YAML lines. */
export function renderNamespace(name: string): readonly string[] {
  return ['apiVersion: v1', 'kind: Namespace', 'metadata:', `  name: ${name}`];
}

/** A ServiceAccount as YAML lines. */
export function renderServiceAccount(name: string, namespace: string): readonly string[] {
  return [
    'apiVersion: v1',
    'kind: ServiceAccount',
    'metadata:',
    `  name: ${name}`,
    `  namespace: ${namespace}`,
  ];
}

/** A role as YAML lines. @param rules as `rights` gives them */
export function renderRole(head: RoleHead, rules: readonly string[]): readonly string[] {
  return [...renderHead(head), ...(rules.length === 0 ? ['rules: []'] : ['rules:', ...rules])];
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

/** Rules that depend on what a user lists, as lines of the same form. */
export function renderRules(permissions: readonly Permission[]): readonly string[] {
  const list = (items: readonly string[]): string => `[${items.map((item) => `'${item}'`).join(', ')}]`;
  return permissions.flatMap(({ groups, resources, verbs, why }) => [
    `  # ${why}`,
    `  - apiGroups: ${list(groups)}`,
    `    resources: ${list(resources)}`,
    `    verbs: ${list(verbs)}`,
  ]);
}

/** The lines of each part of rights.yaml, by its name: rules of a role, with the reason above each rule. */
const PARTS = new Map(
  text.split(/^(?=\w)/m).map((part) => {
    const [name = '', ...lines] = part.split('\n');
    return [name.slice(0, -1), lines.filter((line) => line.startsWith('  '))];
  }),
);

/** The rules of some parts of rights.yaml, one after the other, as YAML lines. */
export function rights(...parts: readonly string[]): readonly string[] {
  return parts.flatMap((part) => {
    const lines = PARTS.get(part);
    if (lines === undefined)
      throw new BugError('is no part of rights.yaml', { code: 'rbac.rights', subject: part });
    return lines;
  });
}

/** The rules of a part whose objects have names. @param names undefined: they are not known, and no rule names any */
export function namedRights(part: string, names: readonly string[] | undefined): readonly string[] {
  const lines = rights(part);
  if (names === undefined) return lines.filter((line) => !line.includes("'NAME'"));
  return lines.map((line) => line.replace("'NAME'", () => names.map((name) => `'${name}'`).join(', ')));
}
