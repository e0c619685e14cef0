import type { Toleration } from '@berth/ocm/kind/placement';
import type { MissingScores } from '../../prioritize/missing-scores.ts';
import type { ScoreOrigin } from '../../prioritize/prioritizer.ts';
import type { PlacementRef, SnapshotChange } from '../snapshot/snapshot-change.ts';

/** A change as an instruction to a person: `add label tier=gold to cluster cluster1`. */
export function describeChange(change: SnapshotChange): string {
  switch (change.kind) {
    case 'set-label':
      return `set label ${change.key}=${change.value} on cluster ${change.cluster}`;
    case 'remove-label':
      return `remove label ${change.key} from cluster ${change.cluster}`;
    case 'set-claim':
      return `have cluster ${change.cluster} claim ${change.name}=${change.value}`;
    case 'remove-claim':
      return `have cluster ${change.cluster} no longer claim ${change.name}`;
    case 'add-taint':
      return `taint cluster ${change.cluster} with ${describeTaint(change.taint)}`;
    case 'remove-taint':
      return `remove taint ${describeTaint(change)} from cluster ${change.cluster}`;
    case 'set-score':
      return `have cluster ${change.cluster} score ${change.scoreName}=${change.value} in AddOnPlacementScore ${change.resourceName}`;
    case 'add-cluster':
      return `add cluster ${change.cluster.metadata.name}`;
    case 'remove-cluster':
      return `remove cluster ${change.cluster}`;
    case 'bind-cluster-set':
      return `bind cluster set ${change.clusterSet} to namespace ${change.namespace}`;
    case 'pass-time':
      return `wait ${change.seconds} s`;
    default:
      return describePlacementChange(change);
  }
}

function describePlacementChange(
  change: Extract<SnapshotChange, { readonly placement: PlacementRef }>,
): string {
  const placement = `placement ${change.placement.namespace}/${change.placement.name}`;
  switch (change.kind) {
    case 'set-number-of-clusters':
      return `set numberOfClusters of ${placement} to ${change.numberOfClusters}`;
    case 'add-toleration':
      return `let ${placement} tolerate ${describeToleration(change.toleration)}`;
    case 'add-cluster-set':
      return `add cluster set ${change.clusterSet} to spec.clusterSets of ${placement}`;
    case 'drop-predicate-part':
      return `drop the ${PART_WORDS[change.part.part]} ${change.part.key} from predicate ${change.part.predicate + 1} of ${placement}`;
    case 'relax-spread':
      return `let ${placement} schedule anyway when ${change.topologyKey} cannot be spread`;
    case 'enable-scheduling':
      return `remove the annotation that disables scheduling from ${placement}`;
  }
}

const PART_WORDS = {
  label: 'requirement on label',
  claim: 'requirement on claim',
  cel: 'CEL expression',
} as const;

/** `key=value:Effect`, as kubectl writes taints. */
export function describeTaint(taint: {
  readonly key: string;
  readonly value?: string | undefined;
  readonly effect?: string | undefined;
}): string {
  const value = taint.value === undefined || taint.value === '' ? '' : `=${taint.value}`;
  return `${taint.key}${value}${taint.effect === undefined ? '' : `:${taint.effect}`}`;
}

export function describeToleration(toleration: Toleration): string {
  const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration;
  const what = key === '' ? 'every taint' : operator === 'Exists' || value === '' ? key : `${key}=${value}`;
  const scope = effect === '' ? '' : `:${effect}`;
  return `${what}${scope}${tolerationSeconds === undefined ? '' : ` for ${tolerationSeconds} s`}`;
}

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
