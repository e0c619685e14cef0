import { MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { Placement } from '@berth/ocm/kind/placement';
import { namespacedName } from '@berth/kube/model/object-ref';
import { parseRfc3339 } from '@berth/kube/model/rfc3339';
import { hasExpired } from '@berth/placement/prioritize/addon-score';
import { type MissingScores, missingScoresOf } from '@berth/placement/prioritize/missing-scores';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { ObjectChange } from '../plan.ts';
import { formatCount } from '../plan-text.ts';
import type { PlanFinding } from '../plan-verdict.ts';
import type { Locate, RiskInput } from './risk-input.ts';

/** Sets, scores and clusters that changed objects name and that do not exist, and expired scores. */
export function referenceRisks(input: RiskInput, locate: Locate): readonly PlanFinding[] {
  const { plan, head } = input;
  const changed = new Set(plan.placements.map((placement) => namespacedName(placement)));
  const placements = head.snapshot.placements.filter(({ metadata }) => changed.has(namespacedName(metadata)));
  const scores = new ScoreIndex(head.snapshot);
  const sets = new Set(head.snapshot.clusterSets.map(({ metadata }) => metadata.name));
  return [
    ...placements.flatMap((placement) => {
      const { namespace = '', name } = placement.metadata;
      const location = locate('Placement', namespace, name);
      const about = {
        subject: `Placement ${namespace}/${name}`,
        ...(location === undefined ? {} : { location }),
      };
      return [...unknownSets(placement, sets), ...scores.risksOf(placement)].map((risk) => ({
        ...about,
        ...risk,
      }));
    }),
    ...unknownClusters(input),
  ];
}

type Risk = Pick<PlanFinding, 'code' | 'severity' | 'message'>;

function unknownSets({ spec }: Placement, sets: ReadonlySet<string>): readonly Risk[] {
  return (spec?.clusterSets ?? [])
    .filter((set) => !sets.has(set))
    .map((set) => ({
      code: 'unknown-set',
      severity: 'warning',
      message: `There is no ManagedClusterSet ${set}.`,
    }));
}

class ScoreIndex {
  /** By resource name: how many clusters have the score, and for how many it has expired. */
  readonly #resources = new Map<string, { total: number; expired: number }>();

  constructor({ scores, now }: Snapshot) {
    const instant = parseRfc3339(now);
    for (const score of scores) {
      const { name } = score.metadata;
      const known = this.#resources.get(name) ?? { total: 0, expired: 0 };
      known.total += 1;
      if (instant !== undefined && hasExpired(score, instant)) known.expired += 1;
      this.#resources.set(name, known);
    }
  }

  risksOf(placement: Placement): readonly Risk[] {
    const { spec } = placement;
    const rule = missingScoresOf(placement);
    const used = (spec?.prioritizerPolicy?.configurations ?? []).flatMap(({ scoreCoordinate }) =>
      scoreCoordinate?.type === 'AddOn' ? [scoreCoordinate.addOn?.resourceName ?? ''] : [],
    );
    return [...new Set(used)].flatMap((name): readonly Risk[] => {
      const found = this.#resources.get(name);
      if (found === undefined)
        return [
          {
            code: 'unknown-score',
            severity: 'warning',
            message: `No cluster has an AddOnPlacementScore ${name}: every cluster scores ${MISSING[rule]}.`,
          },
        ];
      if (found.expired === 0) return [];
      const message = `AddOnPlacementScore ${name} has expired on ${found.expired} of ${formatCount(found.total, 'cluster')}: there ${EXPIRED[rule]}.`;
      return [{ code: 'score-expired', severity: 'warning', message }];
    });
  }
}

const MISSING: Readonly<Record<MissingScores, string>> = {
  neutral: '0',
  worst: 'the worst value',
  last: '0',
};

const EXPIRED: Readonly<Record<MissingScores, string>> = {
  neutral: 'it counts as 0',
  worst: 'the worst value counts',
  last: 'its last value counts',
};

const LEAVES: ReadonlySet<ObjectChange['change']> = new Set(['deleted', 'withdrawn']);

/** Works for missing clusters are never applied. */
function unknownClusters({ plan, head }: RiskInput): readonly PlanFinding[] {
  if (head.snapshot.clusters.length === 0) return [];
  const known = new Set(head.snapshot.clusters.map(({ metadata }) => metadata.name));
  return plan.objects.flatMap(({ change, ref, location }): readonly PlanFinding[] => {
    if (ref.kind !== MANIFEST_WORK.kind || LEAVES.has(change) || known.has(ref.namespace)) return [];
    const message = `There is no ManagedCluster ${ref.namespace}: nobody applies this work.`;
    return [
      {
        code: 'unknown-cluster',
        severity: 'warning',
        subject: `ManifestWork ${ref.namespace}/${ref.name}`,
        message,
        ...(location === undefined ? {} : { location }),
      },
    ];
  });
}
