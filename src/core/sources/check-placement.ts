import type { FieldPath } from '@berth/kube/model/field-path';
import type { Placement, PrioritizerConfig, Toleration } from '@berth/ocm/kind/placement';
import { BUILT_IN_PRIORITIZERS } from '@berth/placement/prioritize/registry';
import { checkClaimSelector, checkClusterSelector, checkLabelSelector } from './check-selectors.ts';
import { closestName } from '@berth/runtime/text/closest-name';
import { fieldError } from './source-finding.ts';
import type { FieldFinding } from './source-finding.ts';

/** Of a label's value; Kubernetes. */
const MAX_LABEL_LENGTH = 63;

/** Checks that make a placement misconfigured, reported for the file before it is scheduled. */
export function checkPlacement({ metadata, spec }: Placement): FieldFinding[] {
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
