import type { WaveExplanation, WavesExplanation } from '@berth/placement/explain/verdict/explanation';
import type { Application } from '../argocd-kinds.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { PublishedGroup } from '../../publish/pages/published-placements.ts';
import { decisionUses } from '../refresh/decision-use.ts';
import { applicationsByCluster, clusterHealth } from './cluster-health.ts';
import { type ClosedGate, planWaves } from './plan-waves.ts';
import { parseWaves, type PlacementWaves, WAVES_ANNOTATION } from './wave-state.ts';
import { type WaveRule, waveUses } from './wave-rule.ts';

export interface WavesToExplain {
  /** `namespace/name` */
  readonly placement: string;
  /** The published decision; undefined if there is none. */
  readonly groups: readonly PublishedGroup[] | undefined;
  readonly clusters: readonly ManagedCluster[];
  readonly nowMs: number;
}

export interface ApplicationsRead {
  readonly applications: readonly Application[];
  /** Why they could not be read. */
  readonly problem: string | undefined;
}

/**
 * The rule of an ApplicationSet for the placement, or why its rule is invalid; undefined if it requests no waves of it.
 */
export function waveRuleOf(
  applicationSet: KubeObject,
  placement: string,
): WaveRule | { readonly problem: string } | undefined {
  const uses = decisionUses(applicationSet['spec']);
  const plugins = new Set(uses.flatMap((use) => (use.kind === 'plugin' ? [use.configMap] : [])));
  const { rules, refused } = waveUses(uses, plugins);
  const problem = refused.get(placement);
  return problem === undefined ? rules.get(placement) : { problem };
}

/**
 * Returns the wave of each cluster of the decision, as recorded on the ApplicationSet, and which waves are open.
 * @param read the Applications that the ApplicationSet owns
 */
export function explainWaves(
  applicationSet: KubeObject,
  asked: WavesToExplain,
  read: ApplicationsRead,
): WavesExplanation | undefined {
  const { placement, groups, clusters, nowMs } = asked;
  const rule = waveRuleOf(applicationSet, placement);
  if (rule === undefined) return undefined;
  const name = namespacedName(applicationSet.metadata);
  const unknown = (problem: string): WavesExplanation => ({ applicationSet: name, waves: [], problem });
  if ('problem' in rule) return unknown(rule.problem);
  if (groups === undefined) return unknown('no decision is published');
  const written = applicationSet.metadata.annotations?.[WAVES_ANNOTATION];
  const before = written === undefined ? undefined : parseWaves(written)?.get(placement);
  if (before === undefined)
    return unknown('they are not written on the ApplicationSet: berth serve --argocd-waves writes them');
  const byCluster = [...applicationsByCluster(read.applications, () => clusters).byCluster];
  const health = new Map(byCluster.map(([cluster, own]) => [cluster, clusterHealth(own)]));
  const healthProblem = read.problem;
  const plan = planWaves({ rule, groups, before, health, healthProblem, nowMs });
  return { applicationSet: name, waves: wavesOf(rule, plan.waves, before, plan.gate), problem: undefined };
}

/** The recorded waves are the served ones. The plan is the next state. */
function wavesOf(
  { count }: WaveRule,
  planned: PlacementWaves,
  written: PlacementWaves,
  gate: ClosedGate | undefined,
): readonly WaveExplanation[] {
  const byName = [...planned.clusters].sort(([a], [b]) => (a < b ? -1 : 1));
  return Array.from({ length: count }, (_, wave) => {
    const own = byName.filter(([, one]) => one.wave === wave).map(([cluster]) => cluster);
    const isServed = (cluster: string): boolean => written.clusters.get(cluster)?.isServed === true;
    const isClosed = gate !== undefined && wave > gate.wave;
    return {
      wave,
      isOpen: !isClosed,
      why: isClosed ? `wave w${gate.wave} ${gate.why}` : undefined,
      served: own.filter(isServed),
      waiting: own.filter((cluster) => !isServed(cluster)),
    };
  });
}
