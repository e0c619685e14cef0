import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { ManifestWorkReplicaSet } from '@berth/ocm/kind/manifest-work-replica-set';
import { splitManifests } from '../manifests/inline-manifests.ts';
import type { ClusterLookup, ClusterSpecs } from './replica-set-plan.ts';

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

/**
 * The work specs of each cluster: the template, split if it is too large for one work, and with the
 * cluster's values if the replica set uses substitution.
 */
export function clusterSpecs(
  replicaSet: ManifestWorkReplicaSet,
  template: ManifestWorkSpec,
  lookup: ClusterLookup,
): (cluster: string) => ClusterSpecs {
  if (replicaSet.metadata.annotations?.[SUBSTITUTE_ANNOTATION] !== 'true') {
    const shared = splitCached(template);
    return () => shared;
  }
  const known = new Map<string, ClusterSpecs>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const made = forCluster(template, name, lookup);
    known.set(name, made);
    return made;
  };
}

function forCluster(template: ManifestWorkSpec, name: string, lookup: ClusterLookup): ClusterSpecs {
  const cluster = lookup(name);
  if (cluster === undefined)
    return { ok: false, error: `ManagedCluster ${name} does not exist: its values are not known` };
  const substituted = substituteCluster(template, cluster);
  return substituted.ok ? split(substituted.spec) : { ok: false, error: substituted.errors.join('; ') };
}

/**
 * The same template object gives the same spec objects, because comparisons of works are cached by
 * identity.
 */
const SPLIT = new WeakMap<ManifestWorkSpec, ClusterSpecs>();

function splitCached(template: ManifestWorkSpec): ClusterSpecs {
  const known = SPLIT.get(template) ?? split(template);
  SPLIT.set(template, known);
  return known;
}

function split(template: ManifestWorkSpec): ClusterSpecs {
  const manifests = template.workload?.manifests ?? [];
  const parts = splitManifests(manifests);
  if (!parts.ok) {
    const { kind, metadata } = manifests[parts.index] ?? { kind: '', metadata: { name: '' } };
    const text = `manifest ${parts.index} (${kind} ${metadata.name}) has ${parts.sizeBytes} bytes, more than one work can hold`;
    return { ok: false, error: text };
  }
  if (parts.parts.length === 1) return { ok: true, specs: [template] };
  return { ok: true, specs: parts.parts.map((part) => ({ ...template, workload: { manifests: part } })) };
}
