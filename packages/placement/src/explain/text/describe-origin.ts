import type { MissingScores } from '../../prioritize/missing-scores.ts';
import type { ScoreOrigin } from '../../prioritize/prioritizer.ts';

/** Why the score of an add-on counts as it does: `valid until 2026-03-01T12:00:00Z`. '': it never expires. */
export function describeOrigin(origin: ScoreOrigin): string {
  switch (origin.kind) {
    case 'valid':
      return origin.validUntil === undefined ? '' : `valid until ${origin.validUntil}`;
    case 'expired':
      return `expired ${origin.validUntil ?? ''}: ${EXPIRED[origin.rule]}${origin.rule === 'last' ? '' : `, not the ${origin.reported} it reported`}`;
    case 'no-object':
      return `the cluster has no such AddOnPlacementScore: ${MISSING[origin.rule]}`;
    case 'no-value':
      return `its AddOnPlacementScore has no such score: ${MISSING[origin.rule]}`;
  }
}

/** One word for a table; nothing for a valid score. */
export function originWord(origin: ScoreOrigin | undefined): string {
  if (origin === undefined || origin.kind === 'valid') return '';
  if (origin.kind !== 'expired') return ' (missing)';
  return origin.rule === 'last' ? ' (last, expired)' : ' (expired)';
}

const EXPIRED: Readonly<Record<MissingScores, string>> = {
  neutral: 'the neutral value counts',
  worst: 'the worst value counts',
  last: 'the last value counts',
};

const MISSING: Readonly<Record<MissingScores, string>> = {
  ...EXPIRED,
  last: 'there is no last value, the neutral one counts',
};
