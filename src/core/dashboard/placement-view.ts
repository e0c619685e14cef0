import type { LabelSelector } from '@berth/kube/model/selector/label-selector-compile';
import type { Placement } from '@berth/ocm/kind/placement';
import { type DecisionTable, decisionTable } from '@berth/placement/explain/text/decision-table';
import type { PlacementExplanation } from '@berth/placement/explain/verdict/explanation';
import { formatNameList } from '@berth/runtime/text/name-list';
import { approvalEffect } from '../preview/placement-words.ts';
import { formatNames } from '../preview/plan-text.ts';
import { activeHold, holdCode, splitRemedy } from '../publish/approval/approval-code.ts';
import type { CompactRecord } from '../publish/record/compact-record.ts';
import type { TimelineStep } from '../timeline/timeline.ts';
import { type Sight, visibleTable } from './sight.ts';

/** What the screen of a placement shows. Plain JSON. */
export interface PlacementView {
  /** RFC 3339. */
  readonly now: string;
  readonly namespace: string;
  readonly name: string;
  /** `3 clusters of set prod with label region=eu, label tier=gold` */
  readonly asks: string;
  /** The decision as it is now: what `berth explain` and the report of a pull request show. */
  readonly table: DecisionTable;
  /** `3 of 40 clusters selected; 25 lack label tier=gold` */
  readonly summary: string;
  readonly hints: readonly string[];
  /** The published clusters, in the order of the pages. */
  readonly published: readonly string[];
  /** RFC 3339: when a toleration runs out. Absent: none does. */
  readonly reschedulesAt?: string | undefined;
  /** Absent: nothing is held. */
  readonly held?: PlacementHold | undefined;
}

export interface PlacementHold {
  readonly reason: string;
  readonly message: string;
  /** Approves exactly this change; absent for a hold that ends by itself. */
  readonly code?: string | undefined;
  /** What an approval does, as a sentence. */
  readonly effect: string;
  /** What an approval adds and removes. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** The history of a placement. The newest first. */
export interface HistoryView {
  readonly records: readonly CompactRecord[];
  readonly steps: readonly TimelineStep[];
}

export function placementView(
  explanation: PlacementExplanation,
  {
    placement,
    published,
    now,
  }: { readonly placement: Placement; readonly published: readonly string[]; readonly now: string },
  { sight, isVisible }: { readonly sight: Sight; readonly isVisible: (cluster: string) => boolean },
): PlacementView {
  const { summary, hints, reschedulesAt, selected } = explanation;
  const { namespace, name } = explanation.placement;
  const wanted = selected.map(({ cluster }) => cluster);
  return {
    ...{ now, namespace, name, asks: placementAsks(placement) },
    table: visibleTable(decisionTable(explanation), isVisible),
    summary,
    // A hint proposes names of objects that exist.
    hints: sight.allClusters ? hints : [],
    published,
    ...(reschedulesAt !== undefined && { reschedulesAt }),
    ...holdOf(placement, published, wanted),
  };
}

function holdOf(
  placement: Placement,
  published: readonly string[],
  wanted: readonly string[],
): { readonly held?: PlacementHold } {
  const condition = activeHold(placement);
  if (condition === undefined) return {};
  const { namespace = '', name } = placement.metadata;
  const code = holdCode(condition.message);
  const [before, after] = [new Set(published), new Set(wanted)];
  const added = wanted.filter((cluster) => !before.has(cluster));
  const removed = published.filter((cluster) => !after.has(cluster));
  const asMoves = (names: readonly string[]) => names.map((cluster) => ({ cluster }));
  const change = { after: { clusters: wanted }, added: asMoves(added), removed: asMoves(removed) };
  return {
    held: {
      reason: condition.reason,
      message: splitRemedy(condition.message)[0],
      ...{ code, added, removed },
      effect: `Approving ${approvalEffect(change, `${namespace}/${name}`, (names) => formatNames(names))}.`,
    },
  };
}

/** What a placement asks for, as a phrase: `3 clusters of set prod with label region=eu, label tier=gold`. */
export function placementAsks({ spec = {} }: Placement): string {
  const { numberOfClusters: count, clusterSets = [], predicates = [] } = spec;
  const many = count === undefined ? 'every cluster' : `${count} ${count === 1 ? 'cluster' : 'clusters'}`;
  const sets =
    clusterSets.length === 0
      ? ''
      : ` of ${clusterSets.length === 1 ? 'set' : 'sets'} ${formatNameList(clusterSets)}`;
  const wanted = predicates
    .map(({ requiredClusterSelector: selector = {} }) =>
      [
        ...termsOf('label', selector.labelSelector),
        ...termsOf('claim', selector.claimSelector),
        ...(selector.celSelector?.celExpressions ?? []).map((expression) => `CEL ${expression}`),
      ].join(', '),
    )
    .filter((text) => text !== '');
  return `${many}${sets}${wanted.length === 0 ? '' : ` with ${wanted.join('; or with ')}`}`;
}

function termsOf(what: 'label' | 'claim', selector: LabelSelector | undefined): readonly string[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return [
    ...Object.entries(matchLabels).map(([key, value]) => `${what} ${key}=${value}`),
    ...matchExpressions.map(({ key, operator, values = [] }) => {
      const list = values.length === 0 ? '' : ` (${values.join(', ')})`;
      return `${what} ${key} ${operator}${list}`;
    }),
  ];
}
