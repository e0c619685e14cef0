import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { formatNameList } from '@berth/runtime/text/name-list';
import type { PublishedGroup, PublishedPlacement } from '../../publish/pages/published-placements.ts';
import { type ApplicationsByCluster, type ClusterHealth, clusterHealth } from './cluster-health.ts';
import type { WaveRule, WaveUses } from './wave-rule.ts';
import type { ClusterWave, PlacementWaves, WaveStates } from './wave-state.ts';

export interface WaveInputs {
  readonly rule: WaveRule;
  /** The clusters of the published decision. */
  readonly groups: readonly PublishedGroup[];
  /** The current state; undefined if there is none. */
  readonly before: PlacementWaves | undefined;
  /** By cluster, for clusters with Applications of the ApplicationSet. */
  readonly health: ReadonlyMap<string, ClusterHealth>;
  /** Why the health of all clusters is unknown; undefined if it is known. */
  readonly healthProblem: string | undefined;
  readonly nowMs: number;
}

export interface WavePlan {
  /** Must be recorded before clusters are served by it. */
  readonly waves: PlacementWaves;
  /** Undefined if every cluster is served. */
  readonly held: HeldWaves | undefined;
  /** The first wave that is not ready, even if no cluster waits; undefined if all waves are open. */
  readonly gate: ClosedGate | undefined;
  /** The time when the plan may change without any other change. */
  readonly againAfterMs: number | undefined;
}

export interface ClosedGate {
  readonly wave: number;
  readonly reason: HeldWaves['reason'];
  /** Why the wave is not ready: `is not healthy: …`. */
  readonly why: string;
}

export interface HeldWaves {
  /** Clusters that are not served, sorted. */
  readonly clusters: readonly string[];
  /** The first wave with a waiting cluster. */
  readonly wave: number;
  /** The wave that it waits for, and why that one is not ready. `failing`: a user should check it. */
  readonly waitsFor: number;
  readonly reason: 'progressing' | 'failing' | 'soaking';
  /** A sentence. */
  readonly message: string;
}

/**
 * The waves of a decision, and which of its clusters are served.
 *
 * A cluster keeps its wave while it is selected. A new one joins the wave of its decision group, or the last wave if
 * there are more groups. So a cluster that leaves, or a change of group numbers, does not affect other clusters. A
 * cluster that was served, or that has an Application, is served while it is selected. A new one is served when every
 * wave before its own is completely served and has been healthy for the soak time. Rejected: to open waves permanently.
 * Then clusters that join later would all get the content at the same time.
 */
export function planWaves(inputs: WaveInputs): WavePlan {
  const { rule, before } = inputs;
  const waveOf = assignWaves(inputs);
  const healthySinceMs: (number | undefined)[] = [];
  let blocked: BlockedWave | undefined;
  if (rule.soakMs !== undefined)
    for (let wave = 0; wave < rule.count && blocked === undefined; wave++) {
      const clusters = [...waveOf].filter(([, one]) => one.wave === wave);
      for (const [cluster, one] of clusters) waveOf.set(cluster, { ...one, isServed: true });
      const names = clusters.map(([cluster]) => cluster);
      const state = judgeWave(names, before?.healthySinceMs[wave], inputs, rule.soakMs);
      healthySinceMs.push(state.sinceMs);
      if (state.blocked !== undefined) blocked = { wave, ...state.blocked };
    }
  const held = blocked === undefined ? undefined : heldWaves(waveOf, blocked);
  return {
    // If no cluster waits, the health of Applications does not change the state.
    waves: { clusters: waveOf, healthySinceMs: held === undefined ? [] : healthySinceMs },
    held,
    gate: blocked,
    againAfterMs: held === undefined ? undefined : blocked?.againAfterMs,
  };
}

function assignWaves({ rule, groups, before, health }: WaveInputs): Map<string, ClusterWave> {
  const last = rule.count - 1;
  const waveOf = new Map<string, ClusterWave>();
  for (const { index, decisions } of groups)
    for (const { clusterName } of decisions) {
      const known = before?.clusters.get(clusterName);
      const isServed = rule.soakMs === undefined || known?.isServed === true || health.has(clusterName);
      waveOf.set(clusterName, { wave: Math.min(known?.wave ?? index, last), isServed });
    }
  return waveOf;
}

interface BlockedWave extends ClosedGate {
  readonly againAfterMs?: number | undefined;
}

interface WaveState {
  readonly sinceMs: number | undefined;
  readonly blocked: Omit<BlockedWave, 'wave'> | undefined;
}

function judgeWave(
  clusters: readonly string[],
  knownSinceMs: number | undefined,
  { health, healthProblem, nowMs }: WaveInputs,
  soakMs: number,
): WaveState {
  if (clusters.length === 0) return { sinceMs: undefined, blocked: undefined };
  const blockedBy = (reason: 'progressing' | 'failing', why: string): WaveState => ({
    sinceMs: undefined,
    blocked: { reason, why },
  });
  if (healthProblem !== undefined)
    return blockedBy('failing', `is not known to be healthy: ${healthProblem}`);
  const states = clusters.map((cluster): readonly [string, ClusterHealth | undefined] => [
    cluster,
    health.get(cluster),
  ]);
  const failing = states.flatMap(([, one]) => (one?.kind === 'failing' ? [one.why] : []));
  if (failing.length > 0) return blockedBy('failing', `is not healthy: ${formatNameList(failing)}`);
  const missing = states.flatMap(([cluster, one]) => (one === undefined ? [cluster] : []));
  if (missing.length > 0)
    return blockedBy('progressing', `has no Application yet for ${formatNameList(missing)}`);
  const progressing = states.flatMap(([, one]) => (one?.kind === 'progressing' ? [one.why] : []));
  if (progressing.length > 0)
    return blockedBy('progressing', `is not healthy yet: ${formatNameList(progressing)}`);
  const sinceMs = healthySince(
    states.map(([, one]) => (one?.kind === 'healthy' ? one.sinceMs : undefined)),
    knownSinceMs,
    nowMs,
  );
  const dueMs = sinceMs + soakMs;
  if (dueMs <= nowMs) return { sinceMs, blocked: undefined };
  const why = `is healthy, and soaks until ${formatRfc3339(instantFromEpochMs(dueMs))}`;
  return { sinceMs, blocked: { reason: 'soaking', why, againAfterMs: dueMs - nowMs } };
}

/**
 * The times that Argo CD reports count, even for a time when Berth did not run. If it reports none, the wave is healthy
 * since Berth first saw it healthy. A time in the future comes from another clock, and counts as now.
 */
function healthySince(
  reportedMs: readonly (number | undefined)[],
  knownMs: number | undefined,
  nowMs: number,
): number {
  const known = knownMs === undefined ? undefined : Math.min(knownMs, nowMs);
  const isComplete = reportedMs.every((time) => time !== undefined);
  const newest = reportedMs.reduce<number>((last, time) => Math.max(last, time ?? last), -Infinity);
  if (known === undefined) return isComplete ? Math.min(newest, nowMs) : nowMs;
  return Math.max(known, Math.min(newest, nowMs));
}

/** Undefined if no cluster waits. */
function heldWaves(
  waveOf: ReadonlyMap<string, ClusterWave>,
  { wave: waitsFor, reason, why }: BlockedWave,
): HeldWaves | undefined {
  const waiting = [...waveOf].filter(([, { isServed }]) => !isServed);
  if (waiting.length === 0) return undefined;
  const wave = Math.min(...waiting.map(([, one]) => one.wave));
  const clusters = waiting.map(([cluster]) => cluster).sort();
  const count = clusters.length === 1 ? '1 cluster waits' : `${clusters.length} clusters wait`;
  const message = `${count}, from wave w${wave} on: wave w${waitsFor} ${why}`;
  return { clusters, wave, waitsFor, reason, message };
}

interface WaveStateInputs extends WaveUses {
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
