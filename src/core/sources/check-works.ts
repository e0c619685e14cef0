import { MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import type { ManifestWorkReplicaSet } from '@berth/ocm/kind/manifest-work-replica-set';
import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import { parseFieldPath } from '@berth/kube/model/field-path';
import type { FieldPath } from '@berth/kube/model/field-path';
import { parseRolloutStrategy } from '../rollout/parse-strategy.ts';
import { controlProblems } from '../work/replica-set/rollout-control.ts';
import { SUBSTITUTE_ANNOTATION, substitutionProblems } from '../work/replica-set/substitute-cluster.ts';
import { validateWorkSpec } from '@berth/agent/rules/manifests/validate-work';
import { closestName } from '@berth/runtime/text/closest-name';
import type { ObjectsByKind } from './objects-by-kind.ts';
import { memoizePerObject } from './memoize-per-object.ts';
import { fieldError, fieldWarning, findingsAbout } from './source-finding.ts';
import type { FieldFinding, SourceFinding } from './source-finding.ts';
import type { SourceReferences } from './source-references.ts';

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
