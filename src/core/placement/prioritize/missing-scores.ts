import type { Placement } from '../../model/kind/placement.ts';

/**
 * What counts where a cluster has no valid score of an add-on. OCM counts 0, in the middle of −100..100: a cluster whose add-on died is
 * preferred to one that reports −1.
 */
export const MISSING_SCORES_ANNOTATION = 'berth.dev/missing-scores';

/** `neutral`: 0. `worst`: the value that gives the fewest points. `last`: the value of the expired score; 0 where there is none at all. */
export type MissingScores = (typeof MISSING_SCORES_RULES)[number];

export const MISSING_SCORES_RULES = ['neutral', 'worst', 'last'] as const;

/** The rule of a placement; `neutral` for a value that is none, which checks and `explain` tell of. */
export function missingScoresOf(placement: Placement): MissingScores {
  return parseMissingScores(missingScoresText(placement) ?? '') ?? 'neutral';
}

/** The annotation as it is written; undefined: not set. */
export function missingScoresText({ metadata: { annotations } }: Placement): string | undefined {
  return annotations !== undefined && Object.hasOwn(annotations, MISSING_SCORES_ANNOTATION)
    ? annotations[MISSING_SCORES_ANNOTATION]
    : undefined;
}

export function parseMissingScores(text: string): MissingScores | undefined {
  return MISSING_SCORES_RULES.find((rule) => rule === text);
}
