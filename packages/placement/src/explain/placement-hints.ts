import type { Placement, ScoreCoordinate } from '@berth/ocm/kind/placement';
import {
  MISSING_SCORES_ANNOTATION,
  MISSING_SCORES_RULES,
  missingScoresText,
  parseMissingScores,
} from '../prioritize/missing-scores.ts';
import { BUILT_IN_PRIORITIZERS } from '../prioritize/registry.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { closestName } from '@berth/runtime/text/closest-name';

/**
 * Hints for names in a placement that do not exist: sets, bindings, prioritizers, scores,
 * operators. They are not errors, because the objects may be created later.
 */
export function placementHints(snapshot: Snapshot, placement: Placement): readonly string[] {
  const { spec } = placement;
  return [
    ...(spec?.clusterSets ?? []).flatMap((set) => setHints(snapshot, placement, set)),
    ...modeHints(spec?.prioritizerPolicy?.mode),
    ...(spec?.prioritizerPolicy?.configurations ?? []).flatMap(({ scoreCoordinate }) =>
      scoreCoordinate === undefined ? [] : scoreHints(snapshot, scoreCoordinate),
    ),
    ...missingScoresHints(placement),
    ...operatorHints(placement),
  ];
}

function missingScoresHints(placement: Placement): string[] {
  const text = missingScoresText(placement);
  if (text === undefined || parseMissingScores(text) !== undefined) return [];
  return [
    `${MISSING_SCORES_ANNOTATION} is ${MISSING_SCORES_RULES.join(', ')}, not ${JSON.stringify(text)}, and counts as neutral${meant(text, MISSING_SCORES_RULES)}`,
  ];
}

function setHints({ clusterSets, bindings }: Snapshot, { metadata }: Placement, set: string): string[] {
  const names = clusterSets.map((one) => one.metadata.name);
  if (!names.includes(set)) return [`there is no ManagedClusterSet ${set}${meant(set, names)}`];
  const bound = bindings.some(
    (one) => one.metadata.name === set && (one.metadata.namespace ?? '') === (metadata.namespace ?? ''),
  );
  return bound
    ? []
    : [
        `ManagedClusterSet ${set} is not bound to namespace ${metadata.namespace ?? ''}: it takes a ManagedClusterSetBinding ${set} there`,
      ];
}

const MODES = ['Additive', 'Exact'];

function modeHints(mode: string | undefined): string[] {
  if (mode === undefined || mode === '' || MODES.includes(mode)) return [];
  return [`prioritizerPolicy.mode is ${MODES.join(' or ')}, not ${mode}${meant(mode, MODES)}`];
}

function scoreHints({ scores }: Snapshot, { type, builtIn = '', addOn }: ScoreCoordinate): string[] {
  if (type !== 'AddOn')
    return BUILT_IN_PRIORITIZERS.includes(builtIn)
      ? []
      : [
          `there is no built-in prioritizer ${builtIn} but ${BUILT_IN_PRIORITIZERS.join(', ')}${meant(builtIn, BUILT_IN_PRIORITIZERS)}`,
        ];
  const { resourceName = '', scoreName = '' } = addOn ?? {};
  const objects = scores.filter(({ metadata }) => metadata.name === resourceName);
  if (objects.length === 0)
    return [
      `no cluster has an AddOnPlacementScore ${resourceName}${meant(resourceName, new Set(scores.map(({ metadata }) => metadata.name)))}`,
    ];
  const names = new Set(objects.flatMap(({ status }) => (status?.scores ?? []).map(({ name }) => name)));
  return names.has(scoreName)
    ? []
    : [`no AddOnPlacementScore ${resourceName} holds a score ${scoreName}${meant(scoreName, names)}`];
}

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'];

function operatorHints({ spec }: Placement): string[] {
  const requirements = (spec?.predicates ?? []).flatMap(({ requiredClusterSelector: selector }) => [
    ...(selector?.labelSelector?.matchExpressions ?? []),
    ...(selector?.claimSelector?.matchExpressions ?? []),
  ]);
  return requirements
    .filter(({ operator }) => !OPERATORS.includes(operator))
    .map(({ key, operator }) => `key ${key}: ${operator} is no operator${meant(operator, OPERATORS)}`);
}

function meant(name: string, candidates: Iterable<string>): string {
  const near = closestName(name, candidates);
  return near === undefined ? '' : `, did you mean ${near}?`;
}
