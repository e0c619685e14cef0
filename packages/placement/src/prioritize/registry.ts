import type { PrioritizerPolicy, ScoreCoordinate } from '@berth/ocm/kind/placement';
import { addOnScore, type MissingScoreRule } from './addon-score.ts';
import { balance } from './balance.ts';
import type { MissingScores } from './missing-scores.ts';
import type { Prioritizer } from './prioritizer.ts';
import { resourceAllocatableCpu, resourceAllocatableMemory } from './resource-allocatable.ts';
import { steady } from './steady.ts';

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
