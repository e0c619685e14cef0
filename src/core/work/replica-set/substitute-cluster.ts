import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';

/** On a ManifestWorkReplicaSet: `true` turns on the substitution of cluster values in its template. */
export const SUBSTITUTE_ANNOTATION = 'berth.dev/substitute';

export type Substituted =
  | { readonly ok: true; readonly spec: ManifestWorkSpec }
  | { readonly ok: false; readonly errors: readonly string[] };

/**
 * Replaces `${cluster.name}`, `${cluster.labels['key']}` and `${cluster.claims['key']}` in all
 * string values of the manifests, but not in keys. `:-text` after the expression is the default for
 * a missing value; `$${` is a literal `${`. There are no functions and no conditions, so that a
 * template can be reviewed by reading it.
 */
export function substituteCluster(spec: ManifestWorkSpec, cluster: ManagedCluster): Substituted {
  const errors = new Set<string>();
  const replaced = replaceTexts(spec.workload?.manifests ?? [], (text) =>
    replaceInText(text, cluster, (problem) => errors.add(problem)),
  ) as NonNullable<NonNullable<ManifestWorkSpec['workload']>['manifests']>;
  if (errors.size > 0) return { ok: false, errors: [...errors] };
  return { ok: true, spec: { ...spec, workload: { ...spec.workload, manifests: replaced } } };
}

const EXPRESSION = /\$\$\{|\$\{([^}]*)\}/g;
const VALUE = /^cluster\.(?:(name)|(labels|claims)\['([^']+)'\])(?::-(.*))?$/s;

function replaceInText(text: string, cluster: ManagedCluster, fail: (problem: string) => void): string {
  return text.replace(EXPRESSION, (all, inside: string | undefined) => {
    if (inside === undefined) return '${';
    const value = VALUE.exec(inside);
    if (value === null) {
      fail(unreadable(all));
      return all;
    }
    const [, name, source, key, fallback] = value;
    const found =
      name === undefined ? lookUp(cluster, source as string, key as string) : cluster.metadata.name;
    if (found === undefined && fallback === undefined)
      fail(
        `cluster ${cluster.metadata.name} has no ${source === 'labels' ? 'label' : 'claim'} "${key}" for ${all}`,
      );
    return found ?? fallback ?? all;
  });
}

function lookUp(cluster: ManagedCluster, source: string, key: string): string | undefined {
  if (source === 'claims') return cluster.status?.clusterClaims?.find((claim) => claim.name === key)?.value;
  const labels = cluster.metadata.labels ?? {};
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function replaceTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return value.includes('${') ? replace(value) : value;
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, replaceTexts(field, replace)]));
}

/** Invalid expressions in the manifests of a template. */
export function substitutionProblems(spec: ManifestWorkSpec): readonly string[] {
  const problems = new Set<string>();
  replaceTexts(spec.workload?.manifests ?? [], (text) => {
    for (const [all, inside] of text.matchAll(EXPRESSION))
      if (inside !== undefined && !VALUE.test(inside)) problems.add(unreadable(all));
    return text;
  });
  return [...problems];
}

function unreadable(expression: string): string {
  return `cannot read ${expression}: expected cluster.name, cluster.labels['key'] or cluster.claims['key']`;
}
