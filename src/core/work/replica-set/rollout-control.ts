import type { ManifestWorkReplicaSet } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { RolloutRules } from '../../rollout/rollout-plan.ts';
import { hashText } from './replica-set-child.ts';
import { canonicalWorkSpec } from '@berth/ocm/kind/same-work-spec';

/** `pause`: nothing new starts. `abort`: clusters go back to the last good template until the template changes. */
export const ROLLOUT_ANNOTATION = 'berth.dev/rollout';
/**
 * `manual` or `automatic`: the last template that every cluster succeeded with is kept. `automatic` also goes back to it
 * when more clusters fail than maxFailures allows.
 */
export const ROLLBACK_ANNOTATION = 'berth.dev/rollback';
/**
 * `upstream` or `berth`: the rules to use (see RolloutRules); absent: those of the controller's
 * flag.
 */
export const RULES_ANNOTATION = 'berth.dev/rollout-rules';
/**
 * Written by Berth: hash of the template that failed. While the template has this hash, the last
 * good one is used.
 */
export const ROLLED_BACK_ANNOTATION = 'berth.dev/rolled-back-template';
/** Written by Berth: hash of the last template that every cluster succeeded with. */
export const LAST_GOOD_ANNOTATION = 'berth.dev/last-good-template';

export interface RolloutControl {
  readonly paused: boolean;
  readonly aborted: boolean;
  readonly rollback: 'off' | 'manual' | 'automatic';
  /** Whether the current template was rolled back. */
  readonly rolledBack: boolean;
  readonly templateHash: string;
  readonly rules: RolloutRules | undefined;
}

/**
 * The rollout annotations of a replica set. Unknown values count as not set; `controlProblems`
 * reports them.
 */
export function readRolloutControl(replicaSet: ManifestWorkReplicaSet): RolloutControl {
  const annotations = replicaSet.metadata.annotations ?? {};
  const rollback = annotations[ROLLBACK_ANNOTATION];
  const rules = annotations[RULES_ANNOTATION];
  const templateHash = hashText(canonicalWorkSpec(replicaSet.spec.manifestWorkTemplate));
  return {
    paused: annotations[ROLLOUT_ANNOTATION] === 'pause',
    aborted: annotations[ROLLOUT_ANNOTATION] === 'abort',
    rollback: rollback === 'manual' || rollback === 'automatic' ? rollback : 'off',
    rolledBack: annotations[ROLLED_BACK_ANNOTATION] === templateHash,
    templateHash,
    rules: rules === 'upstream' || rules === 'berth' ? rules : undefined,
  };
}

/** Unknown values of Berth's annotations, as text for a condition. */
export function controlProblems(replicaSet: ManifestWorkReplicaSet): readonly string[] {
  const annotations = replicaSet.metadata.annotations ?? {};
  const check = (name: string, allowed: readonly string[]): readonly string[] => {
    const value = annotations[name];
    if (value === undefined || allowed.includes(value)) return [];
    return [`annotation ${name} is "${value}", expected one of ${allowed.join(', ')}`];
  };
  return [
    ...check(ROLLOUT_ANNOTATION, ['pause', 'abort', '']),
    ...check(ROLLBACK_ANNOTATION, ['manual', 'automatic', 'off']),
    ...check(RULES_ANNOTATION, ['berth', 'upstream']),
  ];
}

/** The template that clusters should have now. */
export function effectiveTemplate(
  replicaSet: ManifestWorkReplicaSet,
  control: RolloutControl,
  lastGood: ManifestWorkSpec | undefined,
): ManifestWorkSpec {
  const goBack = control.rolledBack || control.aborted;
  return goBack && lastGood !== undefined ? lastGood : replicaSet.spec.manifestWorkTemplate;
}
