import { compileClusterCel } from '@berth/placement/filter/cluster-cel';
import type { FieldPath } from '@berth/kube/model/field-path';
import { compileLabelSelector } from '@berth/kube/model/selector/label-selector-compile';
import type { LabelSelector } from '@berth/kube/model/selector/label-selector';
import type { ClusterClaimSelector, ClusterSelector } from '@berth/ocm/kind/placement';
import { fieldError } from './source-finding.ts';
import type { FieldFinding } from './source-finding.ts';

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
