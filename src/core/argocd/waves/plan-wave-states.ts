import type { PublishedPlacement } from '../../publish/pages/published-placements.ts';
import type { ApplicationsByCluster } from './application-clusters.ts';
import { clusterHealth } from './cluster-health.ts';
import { type HeldWaves, planWaves } from './plan-waves.ts';
import { type PlacementWaves, type WaveStates } from './wave-state.ts';
import type { WaveUses } from './wave-use.ts';

export interface WaveStateInputs extends WaveUses {
  /** The current state; undefined if there is none. */
  readonly before: WaveStates | undefined;
  readonly publishedOf: (placement: string) => PublishedPlacement | undefined;
  readonly applications: ApplicationsByCluster;
  /** Why the health of Applications is unknown. */
  readonly healthProblem: string | undefined;
  readonly nowMs: number;
}

export interface WaveStatePlan {
  readonly states: WaveStates;
  /** By placement. */
  readonly held: ReadonlyMap<string, HeldWaves>;
  /** By placement: clusters that are served now and were not before, sorted. */
  readonly opened: ReadonlyMap<string, readonly string[]>;
  /** Problems that a user must correct, as sentences. */
  readonly problems: readonly string[];
  readonly againAfterMs: number | undefined;
}

/** The waves of all placements of one ApplicationSet. Waves that cannot be planned now keep their state. */
export function planWaveStates(inputs: WaveStateInputs): WaveStatePlan {
  const { rules, refused, before, applications, publishedOf } = inputs;
  const health = new Map(
    [...applications.byCluster].map(([cluster, ofCluster]) => [cluster, clusterHealth(ofCluster)]),
  );
  const states = new Map<string, PlacementWaves>();
  const held = new Map<string, HeldWaves>();
  const opened = new Map<string, readonly string[]>();
  const problems = [...refused].map(([placement, problem]) => `placement ${placement}: ${problem}`);
  const waits: number[] = [];
  for (const placement of [...rules.keys(), ...refused.keys()].sort()) {
    const written = before?.get(placement);
    const rule = rules.get(placement);
    const published = publishedOf(placement);
    if (rule === undefined || published === undefined) {
      // Argo CD keeps the Applications of a placement without a published decision.
      if (written !== undefined) states.set(placement, written);
      continue;
    }
    if (written === undefined && applications.unassigned.length > 0) {
      problems.push(
        `placement ${placement}: it is not known for which clusters these Applications are: ${applications.unassigned.slice(0, MAX_NAMES).join(', ')}; set spec.destination.name to the name of the cluster`,
      );
      continue;
    }
    const plan = planWaves({ ...inputs, rule, groups: published.groups, before: written, health });
    states.set(placement, plan.waves);
    if (plan.held !== undefined) held.set(placement, plan.held);
    if (plan.againAfterMs !== undefined) waits.push(plan.againAfterMs);
    opened.set(placement, openedClusters(written, plan.waves));
  }
  const againAfterMs = waits.length === 0 ? undefined : Math.min(...waits);
  return { states, held, opened, problems, againAfterMs };
}

const MAX_NAMES = 5;

function openedClusters(before: PlacementWaves | undefined, after: PlacementWaves): readonly string[] {
  return [...after.clusters]
    .filter(([cluster, { isServed }]) => isServed && before?.clusters.get(cluster)?.isServed !== true)
    .map(([cluster]) => cluster)
    .sort();
}
