import type { ScoreOrigin } from '../../prioritize/prioritizer.ts';
import type { PlacementRef } from '../snapshot/snapshot-change.ts';
import { describeSuggestion } from './describe-pair.ts';
import type {
  NextCluster,
  PlacementExplanation,
  RefusalGroup,
  ScorePart,
  SelectedCluster,
} from '../verdict/explanation.ts';

/**
 * One decision as a table: the selected clusters, the line below them, the next in line, and the others by the filter
 * that refused them first. Reports, the command line and dashboards render it.
 */
export interface DecisionTable {
  readonly placement: PlacementRef;
  /** Number of clusters that are selected, and of all clusters. */
  readonly selectedCount: number;
  readonly clusterCount: number;
  /** Why not all wanted clusters are selected; '' if they are. */
  readonly message: string;
  /** The columns of points, in the order of the points of a row. */
  readonly prioritizers: readonly { readonly name: string; readonly weight: number }[];
  /** The best and the last of the selected clusters, and some of those that join. */
  readonly selected: readonly DecisionRow[];
  readonly cut: CutLine;
  readonly next: readonly DecisionRow[];
  /** Number of clusters that passed all filters, are not selected, and are not in `next`. */
  readonly moreNext: number;
  /** In the order in which the filters are asked. */
  readonly refused: readonly RefusedClusters[];
}

/** What separates the selected clusters from the next ones. */
export type CutLine =
  /** Every cluster that passes the filters is selected. */
  | { readonly kind: 'none' }
  /** So many places stay free. */
  | { readonly kind: 'free'; readonly places: number }
  /** A cluster must have more points than the last selected one; with as many, the names decide. */
  | { readonly kind: 'score'; readonly cluster: string; readonly total: number }
  /** Spread constraints decide beside the points. */
  | { readonly kind: 'spread' };

export interface DecisionRow {
  readonly cluster: string;
  /** From 1, among the clusters that passed all filters. */
  readonly rank: number;
  readonly total: number;
  /** Number of selected clusters between the row before and this one that have no row. */
  readonly omittedBefore: number;
  /** Absent: it stays as it is, or the decision before is not known. */
  readonly change?: 'joins' | 'leaves' | undefined;
  readonly points: readonly DecisionPoints[];
  /** `it loses 12 points`; '' if no change of its points alone would. */
  readonly flipsIf: string;
}

export interface DecisionPoints {
  readonly score: number;
  /** Score × weight. */
  readonly points: number;
  /** `stale`: the score of an add-on has expired. `missing`: there is none. Another value counts instead. */
  readonly state: 'valid' | 'stale' | 'missing';
}

/** The clusters that one filter refused first. */
export interface RefusedClusters {
  /** `taints` */
  readonly gate: string;
  readonly count: number;
  /** The most frequent first. */
  readonly reasons: readonly RefusedReason[];
}

export interface RefusedReason {
  /** A verb phrase after a number of clusters: `lack label tier=gold`. */
  readonly text: string;
  readonly count: number;
  /** Some names. */
  readonly clusters: readonly string[];
  /** Those of them that the placement loses. */
  readonly leaving: readonly string[];
  /** `set label tier=gold on cluster c1`: tried for the first cluster; '' if no small change would select it. */
  readonly flipsIf: string;
}

/** The table of an explained placement. It needs nothing else, so it can be made where only the JSON is. */
export function decisionTable(explanation: PlacementExplanation): DecisionTable {
  const { placement, outcome, message, counts, prioritizers, next, refusals } = explanation;
  const cut = cutLine(explanation);
  const inLine = refusals.filter(({ reason }) => isInLine(reason)).reduce((sum, { count }) => sum + count, 0);
  return {
    placement,
    selectedCount: counts.selected,
    clusterCount: counts.clusters,
    message: outcome === 'scheduled' ? '' : message,
    prioritizers,
    selected: selectedRows(explanation, cut),
    cut,
    next: next.map((one) => nextRow(one, explanation, cut)),
    moreNext: inLine - next.length,
    refused: refusedClusters(explanation),
  };
}

function cutLine({ counts, selected, next }: PlacementExplanation): CutLine {
  const [last] = selected.slice(-1);
  if (next.some(({ constraint }) => constraint !== undefined)) return { kind: 'spread' };
  if (counts.wanted === undefined) return { kind: 'none' };
  if (next.length > 0 && last !== undefined)
    return { kind: 'score', cluster: last.cluster, total: last.score.total };
  const places = counts.wanted - counts.selected;
  return places > 0 ? { kind: 'free', places } : { kind: 'none' };
}

/** Rows at the top, above the cut, and of joining clusters between them. */
const [FIRST_ROWS, LAST_ROWS, JOINING_ROWS] = [4, 6, 5] as const;

function selectedRows(
  { selected, next, changes }: PlacementExplanation,
  cut: CutLine,
): readonly DecisionRow[] {
  const joining = new Set(changes?.gained.map(({ cluster }) => cluster));
  const [middleStart, middleEnd] = [FIRST_ROWS, selected.length - LAST_ROWS];
  let joiningLeft = JOINING_ROWS;
  let omitted = 0;
  return selected.flatMap((one, at) => {
    const isMiddle = at >= middleStart && at < middleEnd;
    if (isMiddle && !(joining.has(one.cluster) && joiningLeft-- > 0)) {
      omitted++;
      return [];
    }
    const row = rowOf(one, {
      omittedBefore: omitted,
      flipsIf: cut.kind === 'score' ? losingText(one, next[0]) : '',
      ...(joining.has(one.cluster) && { change: 'joins' }),
    });
    omitted = 0;
    return [row];
  });
}

/** `it loses 12 points`: what puts the best of the next clusters in its place. With equal points the first name wins. */
export function losingText({ cluster, score }: SelectedCluster, best: NextCluster | undefined): string {
  if (best === undefined) return '';
  const needed = score.total - best.score.total + (cluster < best.cluster ? 1 : 0);
  return `it loses ${pointsText(needed)}`;
}

function nextRow(
  one: NextCluster,
  { selected, counts, changes }: PlacementExplanation,
  cut: CutLine,
): DecisionRow {
  const { cluster, score, constraint } = one;
  const isLost = changes?.lost.some((lost) => lost.cluster === cluster) === true;
  const [last] = selected.slice(-1);
  const flips = [
    ...(constraint === undefined ? [] : [`the spread over ${constraint.topologyKey} allows it`]),
    ...(cut.kind === 'score' && last !== undefined
      ? [`it gains ${pointsText(last.score.total - score.total + (cluster < last.cluster ? 0 : 1))}`]
      : []),
    ...(cut.kind === 'score' || counts.wanted === 0 ? [`numberOfClusters is ${score.rank}`] : []),
  ];
  return rowOf(one, {
    omittedBefore: 0,
    flipsIf: flips.join(', or '),
    ...(isLost && { change: 'leaves' }),
  });
}

function pointsText(points: number): string {
  return `${points} ${points === 1 ? 'point' : 'points'}`;
}

function rowOf(
  { cluster, score }: SelectedCluster,
  rest: Pick<DecisionRow, 'omittedBefore' | 'flipsIf' | 'change'>,
): DecisionRow {
  return { cluster, rank: score.rank, total: score.total, ...rest, points: score.parts.map(pointsOf) };
}

function pointsOf({ score, points, origin }: ScorePart): DecisionPoints {
  return { score, points, state: STATES[origin?.kind ?? 'valid'] };
}

const STATES: Readonly<Record<ScoreOrigin['kind'], DecisionPoints['state']>> = {
  valid: 'valid',
  expired: 'stale',
  'no-object': 'missing',
  'no-value': 'missing',
};

/** In the order in which a placement asks them. */
const GATES: Readonly<Record<Exclude<RefusalGroup['reason'], 'outranked' | 'spread'>, string>> = {
  skipped: 'scheduling',
  'no-such-cluster': 'fleet',
  'cluster-being-deleted': 'deletion of the cluster',
  'not-in-eligible-set': 'cluster sets',
  misconfigured: 'misconfigured placement',
  predicate: 'predicates',
  tainted: 'taints',
};

function isInLine(reason: RefusalGroup['reason']): reason is 'outranked' | 'spread' {
  return reason === 'outranked' || reason === 'spread';
}

function refusedClusters({ refusals, changes }: PlacementExplanation): readonly RefusedClusters[] {
  const lost = new Set(changes?.lost.map(({ cluster }) => cluster));
  return Object.entries(GATES).flatMap(([reason, gate]) => {
    const reasons = refusals
      .filter((group) => group.reason === reason)
      .map(({ text, count, clusters, flip }) => ({
        ...{ text, count, clusters },
        leaving: clusters.filter((name) => lost.has(name)),
        flipsIf: flip === undefined ? '' : describeSuggestion(flip),
      }));
    const count = reasons.reduce((sum, one) => sum + one.count, 0);
    return count === 0 ? [] : [{ gate, count, reasons }];
  });
}
