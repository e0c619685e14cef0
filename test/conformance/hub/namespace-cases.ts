import { readFileSync, writeFileSync } from 'node:fs';
import type { LooseJson } from '../../../packages/embedded-hub/test/loose-json.ts';

/** One request about an object whose metadata names a namespace, to its own place or to another. */
export interface NamespaceCase {
  readonly method: 'POST' | 'PUT' | 'PATCH';
  readonly path: string;
  readonly type: string;
  readonly body: LooseJson;
}

/** What a server answered. */
export interface NamespaceAnswer {
  readonly status: number;
  readonly message?: string;
  readonly namespace?: string;
}

export interface RecordedNamespaceCase extends NamespaceCase {
  readonly want: NamespaceAnswer;
}

interface Kind {
  readonly collection: string;
  readonly head: LooseJson;
  readonly rest: LooseJson;
}

const KINDS: readonly Kind[] = [
  {
    collection: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    head: { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' },
    rest: { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
  },
  {
    collection: '/api/v1/namespaces',
    head: { apiVersion: 'v1', kind: 'Namespace' },
    rest: {},
  },
  {
    collection: '/apis/cluster.open-cluster-management.io/v1/managedclusters',
    head: { apiVersion: 'cluster.open-cluster-management.io/v1', kind: 'ManagedCluster' },
    rest: { spec: { hubAcceptsClient: false } },
  },
  {
    collection: '/api/v1/namespaces/default/configmaps',
    head: { apiVersion: 'v1', kind: 'ConfigMap' },
    rest: { data: { a: 'b' } },
  },
  {
    collection: '/apis/cluster.open-cluster-management.io/v1beta1/namespaces/default/placements',
    head: { apiVersion: 'cluster.open-cluster-management.io/v1beta1', kind: 'Placement' },
    rest: { spec: {} },
  },
];

const JSON_TYPE = 'application/json';
const APPLY = 'application/apply-patch+yaml';

function casesOf({ collection, head, rest }: Kind): readonly NamespaceCase[] {
  const object = (name: string, more: LooseJson = {}): LooseJson => ({
    ...head,
    metadata: { name, ...more },
    ...rest,
  });
  const elsewhere = { namespace: 'elsewhere' };
  const marked = { ...elsewhere, labels: { changed: 'yes' } };
  const at = (name: string, manager = ''): string => `${collection}/${name}${manager}`;
  const patch = (type: string, body: LooseJson): NamespaceCase => ({
    method: 'PATCH',
    path: at('plain'),
    type,
    body,
  });
  const custom = collection.includes('open-cluster-management');
  return [
    { method: 'POST', path: collection, type: JSON_TYPE, body: object('posted', elsewhere) },
    { method: 'POST', path: collection, type: JSON_TYPE, body: object('plain') },
    ...(custom
      ? []
      : [{ method: 'PUT', path: at('plain'), type: JSON_TYPE, body: object('plain', marked) } as const]),
    patch('application/merge-patch+json', { metadata: marked }),
    patch('application/merge-patch+json', { metadata: { namespace: null } }),
    patch('application/json-patch+json', [{ op: 'add', path: '/metadata/namespace', value: 'elsewhere' }]),
    ...(custom ? [] : [patch('application/strategic-merge-patch+json', { metadata: marked })]),
    {
      method: 'PATCH',
      path: at('applied', '?fieldManager=a'),
      type: APPLY,
      body: object('applied', elsewhere),
    },
    { method: 'PATCH', path: at('applied', '?fieldManager=a'), type: APPLY, body: object('applied') },
    { method: 'PATCH', path: at('applied', '?fieldManager=a'), type: APPLY, body: object('applied', marked) },
    {
      method: 'PATCH',
      path: at('plain', '?fieldManager=a&force=true'),
      type: APPLY,
      body: object('plain', marked),
    },
  ];
}

export const NAMESPACE_CASES: readonly NamespaceCase[] = KINDS.flatMap(casesOf);

export function namespaceAnswer({
  status,
  body,
}: {
  readonly status: number;
  readonly body: LooseJson;
}): NamespaceAnswer {
  if (status >= 300) return { status, message: body.message };
  const { namespace } = body.metadata;
  return namespace === undefined ? { status } : { status, namespace };
}

const FILE = new URL('namespace-cases.json', import.meta.url);

/** What kube-apiserver 1.35.4 answered; `UPDATE_GOLDEN=1 npm run test:interop` records it again. */
export function readNamespaceCases(): readonly RecordedNamespaceCase[] {
  return JSON.parse(readFileSync(FILE, 'utf8')) as RecordedNamespaceCase[];
}

export function writeNamespaceCases(cases: readonly RecordedNamespaceCase[]): void {
  writeFileSync(FILE, `[\n${cases.map((one) => `  ${JSON.stringify(one)}`).join(',\n')}\n]\n`);
}
