import { COST_BUDGET } from '@berth/kube-cel/value/cel-cost';
import type { CompiledSelector } from '@berth/kube/model/selector/label-selector-compile';
import { compileLabelSelector, matchesLabels } from '@berth/kube/model/selector/label-selector-compile';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ClusterSelector } from '@berth/ocm/kind/placement';
import { type Bitset, intersectWith, putBit, readBits } from '../snapshot/bitset.ts';
import { claimMapOf, type ClusterIndex } from '../snapshot/cluster-index.ts';
import type { CelEvaluation, CompileCel, FindScore } from './cel-hook.ts';

/** A valid selector of clusters. A cluster must match all three parts. */
export interface CompiledClusterSelector {
  readonly labels: CompiledSelector;
  readonly claims: CompiledSelector;
  readonly cel: readonly CelExpression[];
}

export interface CelExpression {
  readonly text: string;
  readonly evaluate: CelEvaluation;
}

export type ClusterSelectorCompilation =
  | { readonly ok: true; readonly selector: CompiledClusterSelector }
  | { readonly ok: false; readonly error: string };

/**
 * Compiles labels, then claims, then CEL, and reports the first problem. An absent part matches
 * every cluster.
 */
export function compileClusterSelector(
  selector: ClusterSelector,
  compileCel: CompileCel,
): ClusterSelectorCompilation {
  const labels = compileLabelSelector(selector.labelSelector ?? {});
  if (!labels.ok) return labels;
  const claims = compileLabelSelector({ matchExpressions: selector.claimSelector?.matchExpressions });
  if (!claims.ok) return claims;
  const cel: CelExpression[] = [];
  for (const text of selector.celSelector?.celExpressions ?? []) {
    const compiled = compileCel(text);
    if (!compiled.ok) return compiled;
    cel.push({ text, evaluate: compiled.evaluate });
  }
  return { ok: true, selector: { labels: labels.selector, claims: claims.selector, cel } };
}

/**
 * The clusters of a fleet that match the selector. Labels and claims are matched with bitsets
 * first. CEL is evaluated only for the remaining clusters.
 */
export function selectClusters(selector: CompiledClusterSelector, clusterIndex: ClusterIndex): Bitset {
  const bits = clusterIndex.labels.select(selector.labels.requirements);
  if (selector.claims.requirements.length > 0)
    intersectWith(bits, clusterIndex.claims.select(selector.claims.requirements));
  if (selector.cel.length === 0) return bits;
  const left = new Uint32Array(clusterIndex.size);
  const count = readBits(bits, left);
  for (let i = 0; i < count; i++) {
    const number = left[i] as number;
    if (!matchesCel(selector, clusterIndex.cluster(number), scoreFinderFor(clusterIndex, number)))
      putBit(bits, number, false);
  }
  return bits;
}

/** Whether one cluster object matches the selector. The cluster need not be in a fleet. */
export function matchesCluster(
  selector: CompiledClusterSelector,
  cluster: ManagedCluster,
  findScore: FindScore,
): boolean {
  if (!matchesLabels(selector.labels, cluster.metadata.labels)) return false;
  if (selector.claims.requirements.length > 0 && !matchesLabels(selector.claims, claimMapOf(cluster)))
    return false;
  return matchesCel(selector, cluster, findScore);
}

export function scoreFinderFor(clusterIndex: ClusterIndex, cluster: number): FindScore {
  return (name) => clusterIndex.scoresOf(clusterIndex.names[cluster] as string).get(name);
}

/** Whether all expressions are true within the cost budget that they share for one cluster. */
function matchesCel(
  selector: CompiledClusterSelector,
  cluster: ManagedCluster,
  findScore: FindScore,
): boolean {
  let cost = 0;
  for (const { evaluate } of selector.cel) {
    const outcome = evaluate(cluster, findScore);
    cost += outcome.cost;
    if (!outcome.matched || cost > COST_BUDGET) return false;
  }
  return true;
}
