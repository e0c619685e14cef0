import type { PrioritizerPolicy, ScoreCoordinate } from '@berth/ocm/kind/placement';
import { hasBit } from '../snapshot/bitset.ts';
import type { ResourceName } from '../snapshot/cluster-index.ts';
import { addOnScore, type MissingScoreRule } from './addon-score.ts';
import type { MissingScores } from './missing-scores.ts';
import { type Prioritizer, NO_WARNINGS } from './prioritizer.ts';

/** Scores 100 for clusters that the placement already selects, and 0 for all others. */
export const steady: Prioritizer = {
  name: 'Steady',
  decidedScore: 100,
  score({ clusters, decided }, out) {
    for (let i = 0; i < clusters.length; i++) out[i] = hasBit(decided, clusters[i] as number) ? 100 : 0;
    return NO_WARNINGS;
  },
};

export const resourceAllocatableCpu = resourceAllocatable('ResourceAllocatableCPU', 'cpu');
export const resourceAllocatableMemory = resourceAllocatable('ResourceAllocatableMemory', 'memory');

/**
 * Scores clusters with fewer decisions of other placements higher: 100 for none, −100 for the most.
 */
export const balance: Prioritizer = {
  name: 'Balance',
  countScore: scoreOf,
  score({ clusters, decisionCounts, ownDecisions, mostDecisions }, out) {
    // For a few clusters, scoring each one is faster than making a table.
    const table = clusters.length < mostDecisions ? undefined : scoresUpTo(mostDecisions);
    for (let i = 0; i < clusters.length; i++) {
      const cluster = clusters[i] as number;
      const count = (decisionCounts[cluster] as number) - (hasBit(ownDecisions, cluster) ? 1 : 0);
      out[i] = table === undefined ? scoreOf(count, mostDecisions) : (table[count] as number);
    }
    return NO_WARNINGS;
  },
};

/** All built-in prioritizers. Add a new one here. */
const BUILT_IN: ReadonlyMap<string, Prioritizer> = new Map(
  [balance, steady, resourceAllocatableCpu, resourceAllocatableMemory].map((one) => [one.name, one]),
);

export const BUILT_IN_PRIORITIZERS: readonly string[] = [...BUILT_IN.keys()];

/** The weights that the mode Additive starts with. */
const DEFAULT_WEIGHTS: readonly (readonly [string, number])[] = [
  [balance.name, 1],
  [steady.name, 1],
];

export interface WeightedPrioritizer {
  readonly prioritizer: Prioritizer;
  /** Never 0. */
  readonly weight: number;
}

export type PolicyResult =
  | { readonly ok: true; readonly prioritizers: readonly WeightedPrioritizer[] }
  | { readonly ok: false; readonly error: string };

/**
 * The prioritizers of a policy with a weight other than 0, sorted by name, or an error in the words
 * of OCM.
 * @param missingScores what counts if a cluster has no valid score of an add-on
 */
export function resolvePolicy(
  policy: PrioritizerPolicy = {},
  missingScores: MissingScores = 'neutral',
): PolicyResult {
  const mode = policy.mode ?? '';
  if (mode !== '' && mode !== 'Additive' && mode !== 'Exact')
    return { ok: false, error: `incorrect prioritizer policy mode: ${mode}` };
  const wanted = new Map<string, { weight: number; coordinate: ScoreCoordinate }>();
  if (mode !== 'Exact')
    for (const [builtIn, weight] of DEFAULT_WEIGHTS)
      wanted.set(builtIn, { weight, coordinate: { type: 'BuiltIn', builtIn } });
  for (const { scoreCoordinate: coordinate, weight = 0 } of policy.configurations ?? []) {
    if (coordinate === undefined) return { ok: false, error: 'scoreCoordinate field is required' };
    wanted.set(nameOf(coordinate), { weight, coordinate });
  }
  const prioritizers: WeightedPrioritizer[] = [];
  for (const name of [...wanted.keys()].sort()) {
    const { weight, coordinate } = wanted.get(name) as { weight: number; coordinate: ScoreCoordinate };
    if (weight === 0) continue;
    const prioritizer = resolvePrioritizer(coordinate, { rule: missingScores, weight });
    if (typeof prioritizer === 'string') return { ok: false, error: prioritizer };
    prioritizers.push({ prioritizer, weight });
  }
  return { ok: true, prioritizers };
}

function resolvePrioritizer(coordinate: ScoreCoordinate, without: MissingScoreRule): Prioritizer | string {
  if (coordinate.type === 'AddOn') {
    if (coordinate.addOn === undefined) return 'addOn should not be empty';
    return addOnScore(coordinate.addOn.resourceName ?? '', coordinate.addOn.scoreName ?? '', without);
  }
  const name = coordinate.builtIn ?? '';
  return BUILT_IN.get(name) ?? `incorrect builtin prioritizer: ${name}`;
}

function nameOf({ type, builtIn, addOn }: ScoreCoordinate): string {
  return type === 'AddOn' ? `AddOn/${addOn?.resourceName ?? ''}/${addOn?.scoreName ?? ''}` : (builtIn ?? '');
}

/**
 * Scores −100 for the smallest allocatable amount among the feasible clusters and 100 for the
 * largest. Clusters that do not report the amount get no score.
 */
function resourceAllocatable(name: string, resource: ResourceName): Prioritizer {
  return {
    name,
    resource,
    measure({ amounts: amountsOf, clusters }) {
      const amounts = amountsOf(resource);
      let [least, most] = [Infinity, -Infinity];
      for (let i = 0; i < clusters.length; i++) {
        const amount = amounts[clusters[i] as number] as number;
        if (amount < least) least = amount;
        if (amount > most) most = amount;
      }
      return { least, most };
    },
    score({ amounts: amountsOf, clusters }, out, { least, most }) {
      const amounts = amountsOf(resource);
      const span = most - least;
      for (let i = 0; i < clusters.length; i++) {
        const amount = amounts[clusters[i] as number] as number;
        if (Number.isNaN(amount)) out[i] = Number.NaN;
        else out[i] = span === 0 ? 100 : Math.trunc(((amount - least) / span - 0.5) * 200);
      }
      return NO_WARNINGS;
    },
  };
}

function scoreOf(count: number, most: number): number {
  return count === 0 ? 100 : 2 * Math.trunc(100 * (0.5 - count / most));
}

function scoresUpTo(most: number): Float64Array {
  return Float64Array.from({ length: most + 1 }, (_, count) => scoreOf(count, most));
}
