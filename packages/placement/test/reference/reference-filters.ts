import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import { CLUSTER_SET_LABEL } from '@berth/ocm/kind/managed-cluster';
import type { ClusterSelector, Placement, Toleration } from '@berth/ocm/kind/placement';
import { compileLabelSelector, matchesLabels } from '@berth/kube/model/selector/label-selector-compile';
import { addSeconds, compareInstants, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { Instant } from '@berth/kube/model/rfc3339';
import { COST_BUDGET } from '@berth/kube-cel/value/cel-cost';
import type { CompileCel } from '../../src/filter/cel-hook.ts';
import type { Snapshot } from '../../src/snapshot/snapshot.ts';

/** Section 2 and 3 of the rules, read literally: lists of clusters are filtered one cluster at a time. */

export function validBindingNames(snapshot: Snapshot, placement: Placement): string[] {
  const sets = new Set(snapshot.clusterSets.map((set) => set.metadata.name));
  return snapshot.bindings
    .filter((binding) => (binding.metadata.namespace ?? '') === (placement.metadata.namespace ?? ''))
    .map((binding) => binding.metadata.name)
    .filter((name) => sets.has(name));
}

export function eligibleSetNames(snapshot: Snapshot, placement: Placement): string[] {
  const wanted = placement.spec?.clusterSets ?? [];
  const bound = [...new Set(validBindingNames(snapshot, placement))];
  return bound.filter((name) => wanted.length === 0 || wanted.includes(name)).sort(byText);
}

export function isMember(snapshot: Snapshot, cluster: ManagedCluster, setName: string): boolean {
  const selector = snapshot.clusterSets.findLast((set) => set.metadata.name === setName)?.spec
    ?.clusterSelector;
  const type = selector?.selectorType ?? '';
  if (type === '' || type === 'ExclusiveClusterSetLabel')
    return ownValue(cluster.metadata.labels, CLUSTER_SET_LABEL) === setName;
  if (type !== 'LabelSelector' || selector?.labelSelector === undefined) return false;
  const compiled = compileLabelSelector(selector.labelSelector);
  return compiled.ok && matchesLabels(compiled.selector, cluster.metadata.labels);
}

export function availableClusters(snapshot: Snapshot, eligible: readonly string[]): ManagedCluster[] {
  const byName = new Map(snapshot.clusters.map((cluster) => [cluster.metadata.name, cluster]));
  return [...byName.values()]
    .filter((cluster) => cluster.metadata.deletionTimestamp === undefined)
    .filter((cluster) => eligible.some((set) => isMember(snapshot, cluster, set)))
    .sort((left, right) => byText(left.metadata.name, right.metadata.name));
}

export type Filtered =
  | { readonly clusters: ManagedCluster[] }
  | { readonly plugin: string; readonly message: string };

export function filterByPredicates(
  snapshot: Snapshot,
  placement: Placement,
  clusters: ManagedCluster[],
  compileCel: CompileCel,
): Filtered {
  const predicates = placement.spec?.predicates ?? [];
  if (predicates.length === 0 || clusters.length === 0) return { clusters };
  const tests: ((cluster: ManagedCluster) => boolean)[] = [];
  for (const predicate of predicates) {
    const test = selectorTest(snapshot, predicate.requiredClusterSelector ?? {}, compileCel);
    if (typeof test === 'string') return { plugin: 'Predicate', message: test };
    tests.push(test);
  }
  return { clusters: clusters.filter((cluster) => tests.some((test) => test(cluster))) };
}

/** A test for one cluster, or what is wrong with the selector. */
export function selectorTest(
  snapshot: Snapshot,
  selector: ClusterSelector,
  compileCel: CompileCel,
): ((cluster: ManagedCluster) => boolean) | string {
  const labels = compileLabelSelector(selector.labelSelector ?? {});
  if (!labels.ok) return labels.error;
  const claims = compileLabelSelector({ matchExpressions: selector.claimSelector?.matchExpressions });
  if (!claims.ok) return claims.error;
  const programs = (selector.celSelector?.celExpressions ?? []).map((text) => compileCel(text));
  const broken = programs.find((program) => !program.ok);
  if (broken !== undefined && !broken.ok) return broken.error;
  return (cluster) => {
    if (!matchesLabels(labels.selector, cluster.metadata.labels)) return false;
    if (!matchesLabels(claims.selector, claimMap(cluster))) return false;
    let cost = 0;
    return programs.every((program) => {
      if (!program.ok) return false;
      const outcome = program.evaluate(cluster, (name) =>
        snapshot.scores.findLast(
          ({ metadata }) => metadata.namespace === cluster.metadata.name && metadata.name === name,
        ),
      );
      cost += outcome.cost;
      return outcome.matched && cost <= COST_BUDGET;
    });
  };
}

export function claimMap(cluster: ManagedCluster): Record<string, string> {
  return Object.fromEntries((cluster.status?.clusterClaims ?? []).map(({ name, value }) => [name, value]));
}

export function filterByTaints(
  snapshot: Snapshot,
  placement: Placement,
  clusters: ManagedCluster[],
  decided: ReadonlySet<string>,
): Filtered {
  if (clusters.length === 0) return { clusters };
  const tolerations = placement.spec?.tolerations ?? [];
  for (const toleration of tolerations) {
    const problem = tolerationProblem(toleration);
    if (problem !== undefined) return { plugin: 'TaintToleration', message: problem };
  }
  const now = parseRfc3339(snapshot.now) as Instant;
  return {
    clusters: clusters.filter(
      (cluster) =>
        toleratedUntil(cluster, tolerations, decided.has(cluster.metadata.name), now) !== undefined,
    ),
  };
}

function tolerationProblem({ key = '', operator = '', value = '' }: Toleration): string | undefined {
  if (key === '' && operator !== 'Exists') return 'If the key is empty, operator must be Exists.';
  if (operator === 'Exists' && value !== '') return 'If the operator is Exists, the value should be empty.';
  return undefined;
}

/** Undefined: not tolerated. Otherwise the times at which the tolerations that did the tolerating run out. */
export function toleratedUntil(
  cluster: ManagedCluster,
  tolerations: readonly Toleration[],
  decided: boolean,
  now: Instant,
): Instant[] | undefined {
  const ends: Instant[] = [];
  for (const taint of cluster.spec?.taints ?? []) {
    if (taint.effect === 'PreferNoSelect' || (taint.effect === 'NoSelectIfNew' && decided)) continue;
    const end = taintToleratedUntil(taint, tolerations, now);
    if (end === undefined) return undefined;
    if (end !== 'for good') ends.push(end);
  }
  return ends;
}

export function taintToleratedUntil(
  taint: Taint,
  tolerations: readonly Toleration[],
  now: Instant,
): Instant | 'for good' | undefined {
  for (const toleration of tolerations) {
    if (!matchesTaint(toleration, taint)) continue;
    if (toleration.tolerationSeconds === undefined) return 'for good';
    const added = parseRfc3339(taint.timeAdded ?? '') ?? { seconds: -62_135_596_800, nanos: 0 };
    const end = addSeconds(added, toleration.tolerationSeconds);
    if (compareInstants(now, end) < 0) return end;
  }
  return undefined;
}

function matchesTaint(toleration: Toleration, taint: Taint): boolean {
  if ((toleration.effect ?? '') !== '' && toleration.effect !== taint.effect) return false;
  if ((toleration.key ?? '') !== '' && toleration.key !== taint.key) return false;
  const operator = toleration.operator ?? '';
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && (toleration.value ?? '') === (taint.value ?? '');
}

export function ownValue(map: Readonly<Record<string, string>> | undefined, key: string): string | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}

/** Code-unit order, as Go compares ASCII names. */
export function byText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
