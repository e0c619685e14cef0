import { validateWorkSpec } from '@berth/agent/rules/manifests/validate-work';
import { changedPositions } from '../sync/plan-increment.ts';
import { type FieldPath, parseFieldPath } from '@berth/kube/model/field-path';
import { parseGoDuration } from '@berth/kube/model/go-duration';
import { PLACEMENT, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { ManifestWorkReplicaSet } from '@berth/ocm/kind/manifest-work-replica-set';
import type { Placement, PrioritizerConfig, Toleration } from '@berth/ocm/kind/placement';
import {
  MISSING_SCORES_ANNOTATION,
  MISSING_SCORES_RULES,
  parseMissingScores,
} from '@berth/placement/prioritize/missing-scores';
import { BUILT_IN_PRIORITIZERS } from '@berth/placement/prioritize/registry';
import { closestName } from '@berth/runtime/text/closest-name';
import { planEntries, parseAnnotationList } from '../publish/approval/approved-plans.ts';
import {
  PLAN_ANNOTATION,
  HANDOVER_ABORT_ANNOTATION,
  HANDOVER_DEADLINE_ANNOTATION,
  HANDOVER_POLICY_ANNOTATION,
  RELEASE_ANNOTATION,
  REMOVAL_BUDGET_ANNOTATION,
} from '../publish/approval/publish-annotations.ts';
import { parseRemovalBudget } from '../publish/judge/removal-budget.ts';
import { parseRolloutStrategy } from '../rollout/rollout-plan.ts';
import { PRUNE_ANNOTATION } from '../sync/applied/departure.ts';
import { controlProblems } from '../work/replica-set/rollout-control.ts';
import { SUBSTITUTE_ANNOTATION, substitutionProblems } from '../work/replica-set/substitute-cluster.ts';
import {
  checkClaimSelector,
  checkClusterSelector,
  checkClusterSets,
  checkLabelSelector,
} from './check-cluster-sets.ts';
import {
  type SourceFinding,
  findingsAbout,
  fieldError,
  type FieldFinding,
  fieldWarning,
} from './source-finding.ts';
import { ObjectsByKind, type ReferredObject, SourceReferences } from './source-references.ts';

/** Of a label's value; Kubernetes. */
const MAX_LABEL_LENGTH = 63;

const CODE = /^[0-9a-f]{12}$/;

interface Checked {
  readonly objects: readonly SourceObject[];
  readonly references: SourceReferences;
  readonly findings: readonly SourceFinding[];
}

/**
 * Checks successive states of a fleet. If only the contents of a few objects changed, it checks only these.
 */
export class SourceChecker {
  #last: Checked | undefined;

  /**
   * @param elsewhere see `SourceReferences`; called if names may have changed
   * @returns the findings of `checkSources`, in any order
   */
  check(
    objects: readonly SourceObject[],
    elsewhere: () => readonly ReferredObject[] = () => [],
  ): readonly SourceFinding[] {
    const last = this.#last;
    const changed = last && changedPositions(last.objects, objects);
    this.#last =
      last === undefined || changed === undefined
        ? checkAll(objects, elsewhere())
        : checkAgain(last, objects, changed);
    return this.#last.findings;
  }
}

function checkAll(objects: readonly SourceObject[], elsewhere: readonly ReferredObject[]): Checked {
  const references = new SourceReferences(objects, elsewhere);
  return { objects, references, findings: checkSources(objects, references) };
}

function checkAgain(last: Checked, objects: readonly SourceObject[], changed: readonly number[]): Checked {
  const { references } = last;
  const replaced = new Set(changed.map((at) => last.objects[at]));
  const fresh = changed.map((at) => objects[at] as SourceObject);
  const kept = last.findings.filter(({ source }) => !replaced.has(source));
  return { objects, references, findings: [...kept, ...checkSources(fresh, references)] };
}

const checkOnePlacement = memoizePerObject(checkPlacement);

/**
 * Semantic checks of objects that have the right shape, including references.
 * @param references the names of the complete fleet, if the objects are only part of it
 */
export function checkSources(
  objects: readonly SourceObject[],
  references = new SourceReferences(objects),
): readonly SourceFinding[] {
  const fleet = new ObjectsByKind(objects);
  return [
    ...fleet
      .ofKind<Placement>(PLACEMENT)
      .flatMap((source) => findingsAbout(source, checkOnePlacement(source.object))),
    ...objects
      .filter(({ object }) => object.metadata.annotations?.[PLAN_ANNOTATION] !== undefined)
      .flatMap((source) => findingsAbout(source, checkApprovedPlans(source.object))),
    ...objects
      .filter(({ object }) => object.metadata.annotations !== undefined)
      .flatMap((source) => findingsAbout(source, checkAnnotations(source.object))),
    ...checkClusterSets(fleet, references),
    ...checkWorks(fleet, references),
  ];
}

/**
 * Caches the findings of a check for each object, until the object is garbage-collected. The check must depend on the object
 * alone. Files that a commit does not change keep their parsed objects, so most objects of a commit were checked before.
 */
function memoizePerObject<T extends object>(
  check: (object: T) => readonly FieldFinding[],
): (object: T) => readonly FieldFinding[] {
  const findingsByObject = new WeakMap<T, readonly FieldFinding[]>();
  return (object) => {
    let findings = findingsByObject.get(object);
    if (findings === undefined) findingsByObject.set(object, (findings = check(object)));
    return findings;
  };
}

/** Checks that make a placement misconfigured, reported for the file before it is scheduled. */
function checkPlacement({ metadata, spec }: Placement): FieldFinding[] {
  const groups = spec?.decisionStrategy?.groupStrategy?.decisionGroups ?? [];
  return [
    ...checkName(metadata.name),
    ...(spec?.predicates ?? []).flatMap(({ requiredClusterSelector }, index) =>
      checkClusterSelector(requiredClusterSelector, ['spec', 'predicates', index, 'requiredClusterSelector']),
    ),
    ...(spec?.tolerations ?? []).flatMap((toleration, index) =>
      checkToleration(toleration, ['spec', 'tolerations', index]),
    ),
    ...(spec?.prioritizerPolicy?.configurations ?? []).flatMap((config, index) =>
      checkPrioritizer(config, ['spec', 'prioritizerPolicy', 'configurations', index, 'scoreCoordinate']),
    ),
    ...groups.flatMap(({ groupClusterSelector }, index) => {
      const path = [
        'spec',
        'decisionStrategy',
        'groupStrategy',
        'decisionGroups',
        index,
        'groupClusterSelector',
      ];
      return [
        ...checkLabelSelector(groupClusterSelector?.labelSelector, [...path, 'labelSelector']),
        ...checkClaimSelector(groupClusterSelector?.claimSelector, [...path, 'claimSelector']),
      ];
    }),
  ];
}

/** The pages of a placement name it in a label: OCM's `cluster.open-cluster-management.io/placement`. */
function checkName(name: string): FieldFinding[] {
  if (name.length <= MAX_LABEL_LENGTH) return [];
  const message = `has ${name.length} characters, expected at most ${MAX_LABEL_LENGTH}: decisions name it in a label`;
  return [fieldError('placement.name', ['metadata', 'name'], message)];
}

function checkToleration({ key, operator, value }: Toleration, path: FieldPath): FieldFinding[] {
  const code = 'placement.toleration';
  if ((key === undefined || key === '') && operator !== 'Exists')
    return [
      fieldError(code, path, `got no key with operator ${operator || 'Equal'}, expected operator Exists`),
    ];
  if (operator === 'Exists' && value !== undefined && value !== '')
    return [
      fieldError(
        code,
        [...path, 'value'],
        `got value ${JSON.stringify(value)} with operator Exists, expected none`,
      ),
    ];
  return [];
}

function checkPrioritizer({ scoreCoordinate }: PrioritizerConfig, path: FieldPath): FieldFinding[] {
  const { type = 'BuiltIn', builtIn, addOn } = scoreCoordinate ?? {};
  if (type === 'AddOn')
    return addOn === undefined
      ? [
          fieldError(
            'placement.prioritizer',
            path,
            'got type AddOn without addOn, expected resourceName and scoreName',
          ),
        ]
      : [];
  if (builtIn !== undefined && BUILT_IN_PRIORITIZERS.includes(builtIn)) return [];
  const meant = closestName(builtIn ?? '', BUILT_IN_PRIORITIZERS);
  return [
    fieldError(
      'placement.prioritizer',
      [...path, 'builtIn'],
      `got ${builtIn === undefined ? 'nothing' : JSON.stringify(builtIn)}, expected ${BUILT_IN_PRIORITIZERS.join(', ')}`,
      meant === undefined ? undefined : `did you mean ${meant}?`,
    ),
  ];
}

/** Checks approvals. An invalid one would approve every change, without an error elsewhere. */
export function checkApprovedPlans(object: KubeObject): readonly FieldFinding[] {
  const bare = object.kind === 'Placement';
  return planEntries(object)
    .filter(({ code, placement }) => code === undefined || (placement === undefined && !bare))
    .map(({ text }) =>
      fieldError(
        'plan.approval',
        ['metadata', 'annotations', PLAN_ANNOTATION],
        `got ${JSON.stringify(text)}, expected NAMESPACE/NAME=CODE${bare ? ', or CODE' : ''} as berth plan prints it`,
      ),
    );
}

interface Rule {
  readonly annotation: string;
  readonly expected: string;
  readonly isRight: (value: string, object: KubeObject) => boolean;
}

const RULES: readonly Rule[] = [
  {
    annotation: PRUNE_ANNOTATION,
    expected: 'disabled or enabled',
    isRight: (value) => value === 'disabled' || value === 'enabled',
  },
  {
    annotation: RELEASE_ANNOTATION,
    expected: 'approval codes of 12 hexadecimal digits, with commas between them',
    isRight: (_value, { metadata }) =>
      parseAnnotationList(metadata, RELEASE_ANNOTATION).every((word) => CODE.test(word)),
  },
  {
    annotation: HANDOVER_ABORT_ANNOTATION,
    expected: 'an approval code of 12 hexadecimal digits',
    isRight: (value) => value === '' || CODE.test(value),
  },
  {
    annotation: REMOVAL_BUDGET_ANNOTATION,
    expected: 'a number of clusters, or 0% to 100%',
    isRight: (value) => parseRemovalBudget(value) !== undefined,
  },
  {
    annotation: HANDOVER_POLICY_ANNOTATION,
    expected: 'MakeBeforeBreak',
    isRight: (value) => value === 'MakeBeforeBreak',
  },
  {
    annotation: MISSING_SCORES_ANNOTATION,
    expected: MISSING_SCORES_RULES.join(', '),
    isRight: (value) => parseMissingScores(value) !== undefined,
  },
  {
    annotation: HANDOVER_DEADLINE_ANNOTATION,
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

/**
 * Checks works and replica sets: problems that the hub's admission would reject, and missing
 * references.
 */
export function checkWorks(fleet: ObjectsByKind, references: SourceReferences): SourceFinding[] {
  const { clusters, placements } = references;
  return [
    ...fleet
      .ofKind<ManifestWork>(MANIFEST_WORK)
      .flatMap((source) =>
        findingsAbout(source, [...checkOneWork(source.object), ...checkNamespace(source.object, clusters)]),
      ),
    ...fleet
      .ofKind<ManifestWorkReplicaSet>(MANIFEST_WORK_REPLICA_SET)
      .flatMap((source) => findingsAbout(source, checkReplicaSet(source.object, placements))),
  ];
}

const checkOneWork = memoizePerObject(({ spec }: ManifestWork) => checkSpec(spec, ['spec']));
const checkOneReplicaSet = memoizePerObject((replicaSet: ManifestWorkReplicaSet) => [
  ...checkSpec(replicaSet.spec.manifestWorkTemplate, ['spec', 'manifestWorkTemplate']),
  ...checkControl(replicaSet),
]);

function checkSpec(spec: ManifestWorkSpec | undefined, prefix: FieldPath): FieldFinding[] {
  return validateWorkSpec(spec).map(({ severity, code, field, message }) => ({
    severity,
    code,
    path: [...prefix, ...parseFieldPath(field)],
    message,
  }));
}

function checkNamespace({ metadata }: ManifestWork, clusters: ReadonlySet<string>): FieldFinding[] {
  const namespace = metadata.namespace ?? '';
  if (clusters.size === 0 || clusters.has(namespace)) return [];
  const meant = closestName(namespace, clusters);
  const message = `got ${JSON.stringify(namespace)}, expected the name of a managed cluster`;
  const hint = meant === undefined ? undefined : `did you mean ${meant}?`;
  return [fieldWarning('work.unknown-cluster', ['metadata', 'namespace'], message, hint)];
}

function checkReplicaSet(
  replicaSet: ManifestWorkReplicaSet,
  placements: ReadonlyMap<string, ReadonlySet<string>>,
): FieldFinding[] {
  const { metadata, spec } = replicaSet;
  const findings = [...checkOneReplicaSet(replicaSet)];
  if (placements.size === 0) return findings;
  const names = placements.get(metadata.namespace ?? '') ?? new Set();
  spec.placementRefs.forEach(({ name }, index) => {
    if (names.has(name)) return;
    const meant = closestName(name, names);
    findings.push(
      fieldError(
        'replica-set.unknown-placement',
        ['spec', 'placementRefs', index, 'name'],
        `got ${JSON.stringify(name)}, expected a Placement in namespace ${metadata.namespace ?? ''}`,
        meant === undefined ? undefined : `did you mean ${meant}?`,
      ),
    );
  });
  return findings;
}

/** Checks for unknown values of Berth's annotations, invalid expressions and unknown rollout strategies. */
function checkControl(replicaSet: ManifestWorkReplicaSet): FieldFinding[] {
  const { metadata, spec } = replicaSet;
  const annotations = ['metadata', 'annotations'];
  const findings = controlProblems(replicaSet).map((problem) =>
    fieldError('replica-set.annotation', annotations, problem),
  );
  if (metadata.annotations?.[SUBSTITUTE_ANNOTATION] === 'true')
    for (const problem of substitutionProblems(spec.manifestWorkTemplate))
      findings.push(fieldError('replica-set.substitution', annotations, problem));
  spec.placementRefs.forEach(({ rolloutStrategy }, index) => {
    const parsed = parseRolloutStrategy({ ...rolloutStrategy, type: rolloutStrategy?.type ?? 'All' });
    const problem = !parsed.ok
      ? parsed.error
      : parsed.value.type !== 'All' && !parsed.value.maxConcurrency.ok
        ? parsed.value.maxConcurrency.error
        : undefined;
    if (problem === undefined) return;
    findings.push(
      fieldError('replica-set.rollout', ['spec', 'placementRefs', index, 'rolloutStrategy'], problem),
    );
  });
  return findings;
}
