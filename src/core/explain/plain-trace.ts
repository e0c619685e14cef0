import { compileClusterCel } from '../cel/cluster-cel.ts';
import { compileLabelSelector } from '../model/label-selector-compile.ts';
import { matchesRequirement } from '../model/label-selector-requirement.ts';
import type { LabelMap } from '../model/label-selector-requirement.ts';
import type { LabelSelector } from '../model/label-selector.ts';
import type { ManagedCluster, Taint } from '../model/managed-cluster.ts';
import type { Placement, Toleration } from '../model/placement.ts';
import type { Instant } from '../model/rfc3339.ts';
import { epochMsOf, parseRfc3339 } from '../model/rfc3339.ts';
import type { CaseResult } from '../placement/case-result.ts';
import {
  claimMap,
  isMember,
  taintToleratedUntil,
  validBindingNames,
} from '../placement/plain/reference-filters.ts';
import { schedulePlainly } from '../placement/plain/reference-schedule.ts';
import { compileCel } from '../placement/schedule-all.ts';
import type { World } from '../snapshot/world.ts';
import type { DecisionTrace, TraceFailure, TraceTaint, WhatIf } from './decision-trace.ts';
import { recordedClusters } from './recorded-decisions.ts';

/** A trace of the plain scheduler: every answer is computed when it is asked for. */
export function plainTrace(world: World, placement: Placement, result: CaseResult): DecisionTrace {
  const byName = new Map(world.clusters.map((cluster) => [cluster.metadata.name, cluster]));
  const available = new Set(result.available);
  const afterPredicate = stage(result, 'Predicate');
  const afterTaints = stage(result, 'Predicate,TaintToleration');
  const ranking = Object.keys(result.scores).sort(
    (a, b) => (result.scores[b] ?? 0) - (result.scores[a] ?? 0) || (a < b ? -1 : 1),
  );
  const ranks = new Map(ranking.map((name, index) => [name, index + 1]));
  return {
    eligibleSets: result.eligibleClusterSets,
    validBindings: validBindingNames(world, placement).toSorted(),
    prioritizers: result.prioritizers,
    setsOf: (name) => setsOf(world, byName.get(name)),
    isAvailable: (name) => available.has(name),
    passesPredicate: (name) => afterPredicate.has(name),
    passesTaints: (name) => afterTaints.has(name),
    available: () => result.available,
    afterPredicate: () => [...afterPredicate],
    afterTaints: () => [...afterTaints],
    predicateFailures: (name) => predicateFailures(world, placement, byName.get(name)),
    taintVerdicts: (name) => taintVerdicts(world, placement, byName.get(name)),
    score: (name) => scoreOf(result, name),
    rank: (name) => ranks.get(name),
    spreadRefusal: () => undefined,
    whatIf: (change) => whatIf({ world, placement }, afterTaints, change),
  };
}

function stage(result: CaseResult, name: string): ReadonlySet<string> {
  return new Set(result.filters.find((filter) => filter.name === name)?.filteredClusters ?? []);
}

function setsOf(world: World, cluster: ManagedCluster | undefined): readonly string[] {
  if (cluster === undefined) return [];
  const names = world.clusterSets.map(({ metadata }) => metadata.name);
  return names.filter((name) => isMember(world, cluster, name)).toSorted();
}

function scoreOf(result: CaseResult, name: string) {
  if (!Object.hasOwn(result.scores, name)) return undefined;
  const parts = result.prioritizers.map((one) => ({
    name: one.name,
    weight: one.weight,
    score: Object.hasOwn(one.scores, name) ? (one.scores[name] ?? 0) : 0,
  }));
  return { total: result.scores[name] ?? 0, parts };
}

function predicateFailures(world: World, placement: Placement, cluster: ManagedCluster | undefined) {
  if (cluster === undefined) return [];
  return (placement.spec?.predicates ?? []).map(({ requiredClusterSelector: selector = {} }, predicate) => [
    ...selectorFailures({ part: 'label', predicate }, selector.labelSelector, cluster.metadata.labels ?? {}),
    ...selectorFailures({ part: 'claim', predicate }, selector.claimSelector, claimMap(cluster)),
    ...(selector.celSelector?.celExpressions ?? []).flatMap((expression) =>
      celFailures(world, cluster, { expression, predicate }),
    ),
  ]);
}

function selectorFailures(
  at: { readonly part: 'label' | 'claim'; readonly predicate: number },
  selector: LabelSelector | undefined,
  actual: LabelMap,
): readonly TraceFailure[] {
  const compiled = compileLabelSelector(selector ?? {});
  if (!compiled.ok) return [];
  return compiled.selector.requirements
    .filter((requirement) => !matchesRequirement(requirement, actual))
    .map((requirement) => ({
      ...at,
      requirement,
      actual: Object.hasOwn(actual, requirement.key) ? actual[requirement.key] : undefined,
    }));
}

function celFailures(
  world: World,
  cluster: ManagedCluster,
  { expression, predicate }: { readonly expression: string; readonly predicate: number },
): readonly TraceFailure[] {
  const compiled = compileClusterCel(expression);
  if (!compiled.ok) return [];
  const outcome = compiled.program.evaluate(cluster, (name) => {
    const found = world.scores.findLast(
      ({ metadata }) => metadata.namespace === cluster.metadata.name && metadata.name === name,
    );
    return found === undefined ? undefined : (found.status?.scores ?? []);
  });
  return outcome.matched ? [] : [{ predicate, part: 'cel', expression, failure: outcome.failure }];
}

function taintVerdicts(
  world: World,
  placement: Placement,
  cluster: ManagedCluster | undefined,
): readonly TraceTaint[] {
  if (cluster === undefined) return [];
  const ref = { namespace: placement.metadata.namespace ?? '', name: placement.metadata.name };
  const decided = recordedClusters(world, ref).includes(cluster.metadata.name);
  const now = parseRfc3339(world.now) ?? { seconds: 0, nanos: 0 };
  return (cluster.spec?.taints ?? []).map((taint) =>
    judge(taint, placement.spec?.tolerations ?? [], { decided, now }),
  );
}

function judge(
  taint: Taint,
  tolerations: readonly Toleration[],
  { decided, now }: { readonly decided: boolean; readonly now: Instant },
): TraceTaint {
  if (taint.effect === 'PreferNoSelect') return { taint, verdict: 'prefer-only' };
  if (taint.effect === 'NoSelectIfNew' && decided) return { taint, verdict: 'already-decided' };
  for (const toleration of tolerations) {
    const until = taintToleratedUntil(taint, [toleration], now);
    if (until !== undefined)
      return {
        taint,
        verdict: 'tolerated',
        toleration,
        untilMs: until === 'for good' ? undefined : epochMsOf(until),
      };
  }
  const expired = tolerations.find((one) =>
    taintToleratedUntil(taint, [{ ...one, tolerationSeconds: undefined }], now),
  );
  return expired === undefined
    ? { taint, verdict: 'refused' }
    : { taint, verdict: 'expired', toleration: expired, untilMs: expiry(taint, expired) };
}

function expiry(taint: Taint, { tolerationSeconds = 0 }: Toleration): number | undefined {
  const added = parseRfc3339(taint.timeAdded ?? '');
  return added === undefined ? undefined : epochMsOf(added) + tolerationSeconds * 1000;
}

const EVERYBODY = 'everybody';

/** Ranks the clusters that passed the filters, and one more, as a world in which nothing is left to filter. */
function whatIf(
  { world, placement }: { readonly world: World; readonly placement: Placement },
  passed: ReadonlySet<string>,
  { include, numberOfClusters, addOnScore }: WhatIf,
) {
  const included = include?.metadata.name;
  const clusters = world.clusters
    .filter(({ metadata: { name } }) => passed.has(name) || name === included)
    .map((cluster) => (cluster.metadata.name === included && include !== undefined ? include : cluster))
    .map((cluster) => ({ ...cluster, spec: { ...cluster.spec, taints: [] } }));
  const { prioritizerPolicy, spreadPolicy } = placement.spec ?? {};
  const { name, namespace } = placement.metadata;
  const open: World = {
    ...world,
    clusters,
    scores: withScore(world, included, addOnScore),
    clusterSets: [everybodySet()],
    bindings: [everybodyBinding(namespace)],
  };
  const spec = {
    prioritizerPolicy,
    spreadPolicy,
    ...(numberOfClusters === undefined ? {} : { numberOfClusters }),
  };
  const result = schedulePlainly(open, { ...placement, metadata: { name, namespace }, spec }, compileCel);
  return { selected: result.selected, total: (cluster: string) => result.scores[cluster] };
}

function everybodySet(): World['clusterSets'][number] {
  return {
    apiVersion: '',
    kind: 'ManagedClusterSet',
    metadata: { name: EVERYBODY },
    spec: { clusterSelector: { selectorType: 'LabelSelector', labelSelector: {} } },
  };
}

function everybodyBinding(namespace: string | undefined): World['bindings'][number] {
  return { apiVersion: '', kind: 'ManagedClusterSetBinding', metadata: { name: EVERYBODY, namespace } };
}

function withScore(world: World, cluster: string | undefined, score: WhatIf['addOnScore']): World['scores'] {
  if (cluster === undefined || score === undefined) return world.scores;
  const { resourceName: name, scoreName, value } = score;
  const others = world.scores.filter(
    ({ metadata }) => metadata.namespace !== cluster || metadata.name !== name,
  );
  const made = { metadata: { namespace: cluster, name }, status: { scores: [{ name: scoreName, value }] } };
  return [...others, { apiVersion: '', kind: 'AddOnPlacementScore', ...made }];
}
