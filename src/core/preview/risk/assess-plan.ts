import { PLACEMENT, MANIFEST_WORK } from '@berth/kube/model/kinds';
import { identityOf, namespacedName, objectIdentity } from '@berth/kube/model/object-ref';
import { parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { Placement } from '@berth/ocm/kind/placement';
import { hasExpired } from '@berth/placement/prioritize/addon-score';
import { type MissingScores, missingScoresOf } from '@berth/placement/prioritize/missing-scores';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { compareText } from '@berth/runtime/text/compare-text';
import type { PlanSide } from '../plan-input.ts';
import { formatCount, lostFileText } from '../plan-text.ts';
import type { FindingCode, PlanFinding } from '../plan-verdict.ts';
import type { Plan, PlacementPlan, ObjectChange } from '../plan.ts';
import { planWorkloads, publishedOf } from '../workload-plans.ts';
import { dataRisks } from './data-risks.ts';
import { type Locate, locator, type RiskInput } from './risk-input.ts';
import { workloadRisks } from './workload-risks.ts';

/** The most dangerous first. */
const ORDER: readonly FindingCode[] = [
  'cluster-unregistered',
  'data-lost',
  'placement-emptied',
  'last-cluster',
  'removals-over-budget',
  'deletions-held',
  'file-lost',
  'work-stranded',
  'held',
  'misconfigured',
  'applicationset-fails',
  'unknown-to-argocd',
  'unknown-cluster',
  'grows-much',
  'unsatisfied',
  'unknown-set',
  'unknown-score',
  'score-expired',
];

const SEVERITIES: readonly PlanFinding['severity'][] = ['danger', 'warning', 'notice'];

/**
 * The risks of a change, the most dangerous first. Only risks that the change introduces. Those that it has only when what
 * would be held is approved say so.
 */
export function assessPlan(input: RiskInput): readonly PlanFinding[] {
  const locate = locator(input);
  const sure = [
    ...placementRisks(input, locate),
    ...contentRisks(input, locate),
    ...referenceRisks(input, locate),
  ];
  const said = new Set(sure.map(textOf));
  const approved = approvedChange(input);
  const later = (approved === undefined ? [] : contentRisks(approved, locate)).filter(
    (finding) => !said.has(textOf(finding)),
  );
  return [...sure, ...later.map(ifApproved)].sort(
    (a, b) =>
      SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
      ORDER.indexOf(a.code) - ORDER.indexOf(b.code) ||
      compareText(a.subject, b.subject) ||
      compareText(a.message, b.message),
  );
}

/** What happens to workloads and to their data. */
function contentRisks(input: RiskInput, locate: Locate): readonly PlanFinding[] {
  return [...workloadRisks(input, locate), ...dataRisks(input, locate)];
}

/** Before a risk that a change has only when somebody approves what would be held. */
export const IF_APPROVED = 'If approved: ';

function ifApproved(finding: PlanFinding): PlanFinding {
  const message = finding.message.replace(/^(It|All|The) /, (word) => word.toLowerCase());
  return { ...finding, ifApproved: true, message: `${IF_APPROVED}${message}` };
}

function textOf({ code, subject, message }: PlanFinding): string {
  return `${code} ${subject} ${message}`;
}

/** Placements that are emptied, held, broken or short of clusters, and deletions that wait. */
function placementRisks({ plan }: RiskInput, locate: Locate): readonly PlanFinding[] {
  return [
    ...plan.placements.flatMap((placement) => risksOf(placement, locate)),
    ...plan.deletionsHeld.map(
      ({ source, message }): PlanFinding => ({
        code: 'deletions-held',
        severity: 'danger',
        subject: `source ${source}`,
        message,
      }),
    ),
    ...plan.addOnsHeld.map(
      ({ addOn, message }): PlanFinding => ({
        code: 'held',
        severity: 'danger',
        subject: `add-on ${addOn}`,
        message: `${WOULD_BE_HELD}: ${message}`,
      }),
    ),
    ...plan.lostFiles.map(
      (lost): PlanFinding => ({
        code: 'file-lost',
        severity: 'danger',
        subject: `file ${lost.file}`,
        message: lostFileText(lost),
      }),
    ),
  ];
}

function risksOf(placement: PlacementPlan, locate: Locate): readonly PlanFinding[] {
  const { namespace, name } = placement;
  const location = locate('Placement', namespace, name);
  const about = {
    subject: `Placement ${namespace}/${name}`,
    ...(location === undefined ? {} : { location }),
  };
  return [...lossOf(placement), ...growthOf(placement), ...shortageOf(placement)].map((risk) => ({
    ...about,
    ...risk,
  }));
}

type Risk = Pick<PlanFinding, 'code' | 'severity' | 'message'>;

/** Before the reason of a hold. */
export const WOULD_BE_HELD = 'Would be held';

function lossOf({ change, before, after, held }: PlacementPlan): readonly Risk[] {
  if (held !== undefined) {
    const code = held.reason === 'RemovalBudgetExceeded' ? 'removals-over-budget' : 'held';
    return [{ code, severity: 'danger', message: `${WOULD_BE_HELD} (${held.reason}): ${held.message}` }];
  }
  const had = before?.selected ?? 0;
  if (had === 0 || (after?.selected ?? 0) > 0) return [];
  const message =
    change === 'deleted'
      ? `It is deleted and has ${formatCount(had, 'cluster')}.`
      : `It loses ${had === 1 ? 'its only cluster' : `all of its ${had} clusters`}.`;
  return [{ code: 'placement-emptied', severity: 'danger', message }];
}

/** A slip in a selector often selects the whole fleet. No budget limits what is added. */
const [MIN_GROWTH, GROWTH_FACTOR] = [10, 2] as const;

function growthOf({ before, added }: PlacementPlan): readonly Risk[] {
  const had = before?.selected ?? 0;
  if (had === 0 || added.length < MIN_GROWTH || added.length < had * GROWTH_FACTOR) return [];
  const message = `${formatCount(had, 'cluster')} before the merge, ${had + added.length} after it. All of them are added at the merge: what is added is never held.`;
  return [{ code: 'grows-much', severity: 'warning', message }];
}

function shortageOf({ before, after }: PlacementPlan): readonly Risk[] {
  if (after === undefined) return [];
  if (after.outcome === 'misconfigured')
    return before?.outcome === 'misconfigured'
      ? []
      : [{ code: 'misconfigured', severity: 'warning', message: oneLine(after.message) }];
  const missing = after.unscheduled - (before?.unscheduled ?? 0);
  if (after.outcome !== 'unsatisfied' || missing <= 0) return [];
  const message = `It asks for ${formatCount(after.selected + after.unscheduled, 'cluster')} and has ${after.selected}.`;
  return [{ code: 'unsatisfied', severity: 'warning', message }];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Sets, scores and clusters that changed objects name and that do not exist, and expired scores. */
function referenceRisks(input: RiskInput, locate: Locate): readonly PlanFinding[] {
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

function unknownSets({ spec }: Placement, sets: ReadonlySet<string>): readonly Risk[] {
  return (spec?.clusterSets ?? [])
    .filter((set) => !sets.has(set))
    .map((set) => ({
      code: 'unknown-set',
      severity: 'warning',
      message: `There is no ManagedClusterSet ${set}.`,
    }));
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

/** The change with everything that would be held as published and deleted. Undefined if nothing would be held. */
function approvedChange(input: RiskInput): RiskInput | undefined {
  const { plan, base } = input;
  const placements = plan.placements.filter(({ held }) => held !== undefined);
  const deletions = plan.objects.filter(({ held }) => held === true);
  if (placements.length + deletions.length === 0) return undefined;
  const head = approvedSide(input.head, placements, deletions);
  return { ...input, head, plan: { ...plan, workloads: planWorkloads(base, head) } };
}

function approvedSide(head: PlanSide, placements: Plan['placements'], deletions: Plan['objects']): PlanSide {
  const published = new Map(publishedOf(head));
  for (const { namespace, name, after } of placements)
    published.set(namespacedName({ namespace, name }), after?.clusters ?? []);
  for (const { ref } of deletions) if (ref.kind === PLACEMENT.kind) published.delete(namespacedName(ref));
  const gone = new Set(deletions.map(({ ref }) => objectIdentity(ref)));
  return {
    ...head,
    published,
    onHub: (head.onHub ?? head.objects).filter(({ object }) => !gone.has(identityOf(object))),
    results: head.results.filter(({ placement }) => published.has(namespacedName(placement.metadata))),
  };
}
