import type { FieldPath } from '@berth/kube/model/field-path';
import {
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
} from '@berth/kube/model/kinds';
import { compileLabelSelector, type LabelSelector } from '@berth/kube/model/selector/label-selector-compile';
import { CLUSTER_SET_LABEL, type ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import type { ManagedClusterSet, ManagedClusterSetBinding } from '@berth/ocm/kind/managed-cluster-set';
import type { ClusterClaimSelector, ClusterSelector, Placement } from '@berth/ocm/kind/placement';
import { DEFAULT_SETS } from '@berth/ocm/registration/default-sets';
import { compileClusterCel } from '@berth/placement/filter/cluster-cel';
import { closestName } from '@berth/runtime/text/closest-name';
import {
  fieldError,
  type FieldFinding,
  fieldWarning,
  findingsAbout,
  type SourceFinding,
} from './source-finding.ts';
import type { ObjectsByKind, SourceReferences } from './source-references.ts';

/**
 * Checks references to cluster sets and bindings. An undefined name is an error only if the fleet
 * defines objects of that kind, because sets and bindings may be managed on the hub. Every hub has
 * the default sets.
 */
export function checkClusterSets(fleet: ObjectsByKind, references: SourceReferences): SourceFinding[] {
  const { clusterSets: known, bindings: bound } = references;
  return [
    ...fleet
      .ofKind<ManagedClusterSet>(MANAGED_CLUSTER_SET)
      .flatMap((source) => findingsAbout(source, checkSet(source.object))),
    ...fleet
      .ofKind<ManagedClusterSetBinding>(MANAGED_CLUSTER_SET_BINDING)
      .flatMap((source) => findingsAbout(source, checkBinding(source.object, known))),
    ...fleet
      .ofKind<Placement>(PLACEMENT)
      .flatMap((source) => findingsAbout(source, checkUsedSets(source.object, known, bound))),
    ...fleet
      .ofKind<ManagedCluster>(MANAGED_CLUSTER)
      .flatMap((source) => findingsAbout(source, checkMember(source.object, known))),
  ];
}

function checkSet({ spec }: ManagedClusterSet): FieldFinding[] {
  const selector = spec?.clusterSelector;
  const path = ['spec', 'clusterSelector', 'labelSelector'];
  if (selector?.selectorType === 'LabelSelector') {
    if (selector.labelSelector === undefined)
      return [
        fieldWarning(
          'cluster-set.no-selector',
          path,
          'is missing: the set has no members',
          'use {} for all clusters',
        ),
      ];
    return checkLabelSelector(selector.labelSelector, path);
  }
  return selector?.labelSelector === undefined
    ? []
    : [
        fieldWarning(
          'cluster-set.unused-selector',
          path,
          'has no effect with selectorType ExclusiveClusterSetLabel',
        ),
      ];
}

function checkBinding(
  { metadata, spec }: ManagedClusterSetBinding,
  known: ReadonlySet<string>,
): FieldFinding[] {
  const clusterSet = spec?.clusterSet ?? '';
  const path = ['spec', 'clusterSet'];
  if (clusterSet !== metadata.name)
    return [
      fieldError(
        'binding.name',
        path,
        `got ${JSON.stringify(clusterSet)} in a binding named ${JSON.stringify(metadata.name)}, expected the same name`,
      ),
    ];
  return unknownSet(clusterSet, path, known, 'binding.unknown-cluster-set');
}

function checkUsedSets(
  { metadata, spec }: Placement,
  known: ReadonlySet<string>,
  bound: ReadonlyMap<string, ReadonlySet<string>>,
): FieldFinding[] {
  if (bound.size === 0 && known.size === 0) return [];
  const namespace = metadata.namespace ?? '';
  const here = bound.get(namespace);
  if (here === undefined) {
    if (bound.size === 0) return [];
    const message = `there is no ManagedClusterSetBinding in namespace ${namespace}: nothing can be selected`;
    return [fieldWarning('placement.no-binding', ['metadata', 'namespace'], message)];
  }
  return (spec?.clusterSets ?? []).flatMap((name, index) => {
    const path = ['spec', 'clusterSets', index];
    const unknown = unknownSet(name, path, known, 'placement.unknown-cluster-set');
    if (unknown.length > 0 || here.has(name)) return unknown;
    const message = `cluster set ${JSON.stringify(name)} is not bound to namespace ${namespace}`;
    const hint = `add a ManagedClusterSetBinding ${namespace}/${name}`;
    return [fieldError('placement.cluster-set-not-bound', path, message, hint)];
  });
}

function checkMember({ metadata }: ManagedCluster, known: ReadonlySet<string>): FieldFinding[] {
  const set = metadata.labels?.[CLUSTER_SET_LABEL];
  if (set === undefined) return [];
  const path = ['metadata', 'labels', CLUSTER_SET_LABEL];
  return unknownSet(set, path, known, 'cluster.unknown-cluster-set').map((finding) => ({
    ...finding,
    severity: 'warning' as const,
  }));
}

function unknownSet(
  name: string,
  path: FieldFinding['path'],
  known: ReadonlySet<string>,
  code: string,
): FieldFinding[] {
  if (known.size === 0 || known.has(name) || DEFAULT_SETS.has(name)) return [];
  const meant = closestName(name, [...known, ...DEFAULT_SETS.keys()]);
  const hint = meant === undefined ? undefined : `did you mean ${meant}?`;
  return [fieldError(code, path, `got unknown cluster set ${JSON.stringify(name)}`, hint)];
}

/** Checks each requirement on its own, so that every wrong one is reported. */
export function checkLabelSelector(selector: LabelSelector | undefined, path: FieldPath): FieldFinding[] {
  const findings: FieldFinding[] = [];
  for (const [key, value] of Object.entries(selector?.matchLabels ?? {}))
    findings.push(...selectorFinding({ matchLabels: { [key]: value } }, [...path, 'matchLabels', key]));
  findings.push(...checkExpressions(selector, path));
  return findings;
}

export function checkClaimSelector(
  selector: ClusterClaimSelector | undefined,
  path: FieldPath,
): FieldFinding[] {
  return checkExpressions(selector, path);
}

/** Checks all three parts of a predicate's selector. */
export function checkClusterSelector(selector: ClusterSelector | undefined, path: FieldPath): FieldFinding[] {
  const expressions = selector?.celSelector?.celExpressions ?? [];
  return [
    ...checkLabelSelector(selector?.labelSelector, [...path, 'labelSelector']),
    ...checkClaimSelector(selector?.claimSelector, [...path, 'claimSelector']),
    ...expressions.flatMap((expression, index) =>
      checkClusterCel(expression, [...path, 'celSelector', 'celExpressions', index]),
    ),
  ];
}

function checkExpressions(selector: ClusterClaimSelector | undefined, path: FieldPath): FieldFinding[] {
  return (selector?.matchExpressions ?? []).flatMap((requirement, index) =>
    selectorFinding({ matchExpressions: [requirement] }, [...path, 'matchExpressions', index]),
  );
}

function selectorFinding(selector: LabelSelector, path: FieldPath): FieldFinding[] {
  const compiled = compileLabelSelector(selector);
  return compiled.ok ? [] : [fieldError('selector.invalid', path, compiled.error)];
}

function checkClusterCel(expression: string, path: FieldPath): FieldFinding[] {
  const compiled = compileClusterCel(expression);
  if (compiled.ok) return [];
  const { message, line, column } = compiled.problem;
  const place = expression.includes('\n') ? `line ${line}, column ${column}` : `column ${column}`;
  return [fieldError('cel.compile', path, `CEL does not compile: ${message} (${place} of the expression)`)];
}
