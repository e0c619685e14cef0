import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import { CLUSTER_SET_LABEL } from '@berth/ocm/kind/managed-cluster';
import type { ClusterVerdict, PredicateFailure, PredicateFinding } from '../verdict/explanation.ts';
import { sortByFewestFailures } from '../text/refusal-text.ts';
import type { PlacementRef, SnapshotChange } from '../snapshot/snapshot-change.ts';

/** Changes that together resolve one refusal. */
export type Fix = readonly SnapshotChange[];

export interface FixSubject {
  readonly placement: PlacementRef;
  readonly cluster: string;
  readonly clusterSets: readonly ManagedClusterSet[];
}

const MAX_SETS = 3;
const MAX_VALUES = 3;

/**
 * Changes that could resolve the refusal of a filter, those of the cluster before those of the
 * placement. They are proposals: explain-pair.ts tries each by scheduling with it.
 */
export function proposeFixes(verdict: ClusterVerdict, subject: FixSubject): readonly Fix[] {
  switch (verdict.kind) {
    case 'not-in-eligible-set':
      return eligibilityFixes(verdict, subject);
    case 'predicate':
      return predicateFixes(verdict.predicates, subject);
    case 'tainted':
      return taintFixes(verdict, subject);
    case 'spread':
      return [
        [{ kind: 'relax-spread', placement: subject.placement, topologyKey: verdict.constraint.topologyKey }],
      ];
    default:
      return [];
  }
}

type NotEligible = Extract<ClusterVerdict, { kind: 'not-in-eligible-set' }>;

function eligibilityFixes(verdict: NotEligible, subject: FixSubject): readonly Fix[] {
  const { memberOf, eligible } = verdict;
  const joins = eligible.flatMap((name) => joinFixes(name, subject)).slice(0, MAX_SETS);
  const makeEligible = memberOf.slice(0, MAX_SETS).map((name) => makeEligibleFix(name, verdict, subject));
  if (joins.length > 0 || makeEligible.length > 0) return [...joins, ...makeEligible];
  // No set is eligible and the cluster is in none: make one eligible and add the cluster to it.
  return subject.clusterSets
    .slice(0, MAX_SETS)
    .flatMap(({ metadata }) =>
      joinFixes(metadata.name, subject).map((join) => [
        ...makeEligibleFix(metadata.name, verdict, subject),
        ...join,
      ]),
    );
}

/** Makes the cluster a member of the set. */
function joinFixes(setName: string, { cluster, clusterSets }: FixSubject): readonly Fix[] {
  const selector = clusterSets.find(({ metadata }) => metadata.name === setName)?.spec?.clusterSelector;
  if (selector?.selectorType !== 'LabelSelector')
    return [[{ kind: 'set-label', cluster, key: CLUSTER_SET_LABEL, value: setName }]];
  const { matchLabels = {}, matchExpressions = [] } = selector.labelSelector ?? {};
  const wanted = [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] })),
    ...matchExpressions,
  ];
  const edits = wanted.flatMap(({ key, operator, values = [] }) =>
    clusterEdits({ part: 'label', key, operator, values, actual: undefined }, cluster).slice(0, 1),
  );
  return edits.length === 0 ? [] : [edits];
}

/** Makes the set eligible for the placement. */
function makeEligibleFix(setName: string, { bound, wanted }: NotEligible, { placement }: FixSubject): Fix {
  const fix: SnapshotChange[] = [];
  if (!bound.includes(setName))
    fix.push({ kind: 'bind-cluster-set', namespace: placement.namespace, clusterSet: setName });
  if (wanted.length > 0 && !wanted.includes(setName))
    fix.push({ kind: 'add-cluster-set', placement, clusterSet: setName });
  return fix;
}

/**
 * Fixes for the predicates that are closest to matching; each needs a fix for every failing part.
 */
function predicateFixes(predicates: readonly PredicateFinding[], subject: FixSubject): readonly Fix[] {
  const sorted = sortByFewestFailures(predicates);
  const fewest = sorted[0]?.failures.length ?? 0;
  const nearest = sorted.filter(({ failures }) => failures.length === fewest);
  return nearest.flatMap((finding) => [
    ...changeClusterFixes(finding.failures, subject),
    dropPartsFix(finding, subject),
  ]);
}

function changeClusterFixes(failures: readonly PredicateFailure[], { cluster }: FixSubject): readonly Fix[] {
  const edits = failures.map((failure) => clusterEdits(failure, cluster));
  const [only] = edits;
  if (edits.length === 1 && only !== undefined) return only.slice(0, MAX_VALUES).map((edit) => [edit]);
  const first = edits.map((alternatives) => alternatives[0]);
  return first.every((edit) => edit !== undefined) ? [first] : [];
}

/**
 * Alternatives, each of which makes the cluster pass this part; none for CEL, whose inputs are not
 * known.
 */
function clusterEdits(failure: PredicateFailure, cluster: string): readonly SnapshotChange[] {
  if (failure.part === 'cel') return [];
  const { part, key, operator, values } = failure;
  const set = (value: string): SnapshotChange =>
    part === 'label'
      ? { kind: 'set-label', cluster, key, value }
      : { kind: 'set-claim', cluster, name: key, value };
  switch (operator) {
    case 'In':
      return values.map(set);
    case 'Exists':
      return [set('true')];
    case 'NotIn':
    case 'DoesNotExist':
      return [
        part === 'label'
          ? { kind: 'remove-label', cluster, key }
          : { kind: 'remove-claim', cluster, name: key },
      ];
    default:
      return [];
  }
}

function dropPartsFix({ predicate, failures }: PredicateFinding, { placement }: FixSubject): Fix {
  const keys = new Set<string>();
  const fix: SnapshotChange[] = [];
  for (const failure of failures) {
    const { part } = failure;
    const key = part === 'cel' ? failure.expression : failure.key;
    if (keys.has(`${part} ${key}`)) continue;
    keys.add(`${part} ${key}`);
    fix.push({ kind: 'drop-predicate-part', placement, part: { predicate, part, key } });
  }
  return fix;
}

function taintFixes(
  verdict: Extract<ClusterVerdict, { kind: 'tainted' }>,
  subject: FixSubject,
): readonly Fix[] {
  const { cluster, placement } = subject;
  const refusing = verdict.taints.filter(({ verdict: kind }) => kind === 'refused' || kind === 'expired');
  return [
    refusing.map(({ taint: { key, effect } }) => ({ kind: 'remove-taint', cluster, key, effect })),
    refusing.map(({ taint: { key, effect } }) => ({
      kind: 'add-toleration',
      placement,
      toleration: { key, operator: 'Exists', effect },
    })),
  ];
}
