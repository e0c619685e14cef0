import { parseGoDuration } from '@berth/kube/model/go-duration';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { parseAnnotationList } from '../publish/approval/annotation-list.ts';
import {
  MOVE_ABORT_ANNOTATION,
  MOVE_DEADLINE_ANNOTATION,
  MOVE_POLICY_ANNOTATION,
  RELEASE_ANNOTATION,
  REMOVAL_BUDGET_ANNOTATION,
} from '../publish/approval/publish-annotations.ts';
import { parseRemovalBudget } from '../publish/judge/removal-budget.ts';
import {
  MISSING_SCORES_ANNOTATION,
  MISSING_SCORES_RULES,
  parseMissingScores,
} from '@berth/placement/prioritize/missing-scores';
import { PRUNE_ANNOTATION } from '../sync/applied/departure.ts';
import { fieldError, type FieldFinding } from './source-finding.ts';

interface Rule {
  readonly annotation: string;
  readonly expected: string;
  readonly isRight: (value: string, object: KubeObject) => boolean;
}

const TOKEN = /^[0-9a-f]{12}$/;

const RULES: readonly Rule[] = [
  {
    annotation: PRUNE_ANNOTATION,
    expected: 'disabled or enabled',
    isRight: (value) => value === 'disabled' || value === 'enabled',
  },
  {
    annotation: RELEASE_ANNOTATION,
    expected: 'plan tokens of 12 hexadecimal digits, with commas between them',
    isRight: (_value, { metadata }) =>
      parseAnnotationList(metadata, RELEASE_ANNOTATION).every((word) => TOKEN.test(word)),
  },
  {
    annotation: MOVE_ABORT_ANNOTATION,
    expected: 'a plan token of 12 hexadecimal digits',
    isRight: (value) => value === '' || TOKEN.test(value),
  },
  {
    annotation: REMOVAL_BUDGET_ANNOTATION,
    expected: 'a number of clusters, or 0% to 100%',
    isRight: (value) => parseRemovalBudget(value) !== undefined,
  },
  {
    annotation: MOVE_POLICY_ANNOTATION,
    expected: 'MakeBeforeBreak',
    isRight: (value) => value === 'MakeBeforeBreak',
  },
  {
    annotation: MISSING_SCORES_ANNOTATION,
    expected: MISSING_SCORES_RULES.join(', '),
    isRight: (value) => parseMissingScores(value) !== undefined,
  },
  {
    annotation: MOVE_DEADLINE_ANNOTATION,
    expected: 'a duration such as 10m',
    isRight: (value) => parseGoDuration(value) !== undefined,
  },
];

/** Checks annotations that protect workloads. A misspelt one would have no effect, without an error elsewhere. */
export function checkAnnotations(object: KubeObject): readonly FieldFinding[] {
  const { annotations = {} } = object.metadata;
  return RULES.flatMap(({ annotation, expected, isRight }) => {
    const value = annotations[annotation];
    if (value === undefined || isRight(value, object)) return [];
    return fieldError(
      'annotation.value',
      ['metadata', 'annotations', annotation],
      `got ${JSON.stringify(value)}, expected ${expected}`,
    );
  });
}
