import { epochMsOf, formatMicroTime, instantFromEpochMs, parseRfc3339 } from '@berth/kube/model/rfc3339';
import { isObject } from '@berth/runtime/json/json-value';

/**
 * On an ApplicationSet: the wave of each cluster, and whether it is served. The endpoint answers from it, so every
 * process gives the same response, also after a restart or a change of the leader.
 */
export const WAVES_ANNOTATION = 'berth.dev/waves';

export interface ClusterWave {
  /** From 0. */
  readonly wave: number;
  /** False: the endpoint omits the cluster until the earlier waves are healthy. */
  readonly isServed: boolean;
}

/** The waves of one placement. */
export interface PlacementWaves {
  readonly clusters: ReadonlyMap<string, ClusterWave>;
  /**
   * By wave: the time since when all its clusters are healthy, milliseconds since the epoch. Recorded only while a wave
   * is held.
   */
  readonly healthySinceMs: readonly (number | undefined)[];
}

/** By placement, `namespace/name`. */
export type WaveStates = ReadonlyMap<string, PlacementWaves>;

/** The limit for all annotations of an object is 256 KiB. */
const MAX_LENGTH = 160 * 1024;

/** Undefined if it is too long for an annotation. Equal states give equal text. */
export function renderWaves(states: WaveStates): string | undefined {
  const placements = [...states].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify(Object.fromEntries(placements.map(([name, waves]) => [name, wavesOf(waves)])));
  return text.length > MAX_LENGTH ? undefined : text;
}

/** Undefined if the text is not valid. */
export function parseWaves(text: string): WaveStates | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const states = new Map<string, PlacementWaves>();
  for (const [placement, waves] of Object.entries(value)) {
    const parsed = parsePlacementWaves(waves);
    if (parsed === undefined) return undefined;
    states.set(placement, parsed);
  }
  return states;
}

interface WrittenWave {
  readonly served?: readonly string[];
  readonly held?: readonly string[];
  /** RFC 3339 */
  readonly healthySince?: string;
}

function wavesOf({ clusters, healthySinceMs }: PlacementWaves): readonly WrittenWave[] {
  const count = Math.max(0, ...[...clusters.values()].map(({ wave }) => wave + 1));
  const names = Array.from({ length: count }, () => ({ served: [] as string[], held: [] as string[] }));
  for (const [cluster, { wave, isServed }] of clusters)
    names[wave]?.[isServed ? 'served' : 'held'].push(cluster);
  return names.map(({ served, held }, wave) => {
    const sinceMs = healthySinceMs[wave];
    return {
      ...(served.length > 0 && { served: served.sort() }),
      ...(held.length > 0 && { held: held.sort() }),
      ...(sinceMs !== undefined && { healthySince: formatMicroTime(instantFromEpochMs(sinceMs)) }),
    };
  });
}

function parsePlacementWaves(value: unknown): PlacementWaves | undefined {
  if (!Array.isArray(value)) return undefined;
  const clusters = new Map<string, ClusterWave>();
  const healthySinceMs: (number | undefined)[] = [];
  for (const [wave, one] of (value as readonly unknown[]).entries()) {
    if (!isObject(one)) return undefined;
    const { served = [], held = [], healthySince } = one;
    if (!isNames(served) || !isNames(held)) return undefined;
    for (const name of served) clusters.set(name, { wave, isServed: true });
    // A cluster in both lists was served.
    for (const name of held) if (!clusters.has(name)) clusters.set(name, { wave, isServed: false });
    const since = typeof healthySince === 'string' ? parseRfc3339(healthySince) : undefined;
    healthySinceMs.push(since === undefined ? undefined : Math.round(epochMsOf(since)));
  }
  return { clusters, healthySinceMs };
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

/** What changed for one placement of an ApplicationSet. */
export interface WaveEvent {
  /** `namespace/name` */
  readonly applicationSet: string;
  /** `namespace/name` */
  readonly placement: string;
  /** Clusters that are served from now on. */
  readonly served: readonly string[];
  /** Number of waiting clusters. */
  readonly waiting: number;
  /** Why they wait; undefined if none does. */
  readonly message: string | undefined;
}
