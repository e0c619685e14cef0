import { formatNameList } from '@berth/runtime/text/name-list';
import { losingText } from '@berth/placement/explain/text/decision-table';
import { describePair } from '@berth/placement/explain/text/describe-pair';
import type { PairExplanation, PlacementExplanation } from '@berth/placement/explain/verdict/explanation';
import type { Plan } from '../preview/plan.ts';
import type { CompactRecord } from '../publish/record/compact-record.ts';
import type { PlacementView } from './placement-view.ts';
import { visibleTable } from './sight.ts';

/** What Argo CD shows of the decision behind one of its Applications. Plain JSON. */
export interface ApplicationView {
  /** `namespace/name` */
  readonly application: string;
  /** The ManagedCluster that it deploys to; undefined: none that Berth knows. */
  readonly cluster: string | undefined;
  readonly places: readonly ApplicationPlace[];
  /** Why there is no place, as a sentence; '' if there is one. */
  readonly note: string;
  /** Where users reach the dashboard, without a slash at the end. Absent: not known. */
  readonly dashboard?: string | undefined;
}

/** A placement that put an Application on its cluster. */
export interface ApplicationPlace extends Pick<PlacementView, 'namespace' | 'name' | 'table'> {
  /** False: the cluster is published, and not selected any more. */
  readonly selected: boolean;
  /** Why the cluster is selected, or why not. */
  readonly because: string;
  /** Each alone would take it away. */
  readonly leavesIf: readonly string[];
  /** Reason of the hold; absent: nothing is held. */
  readonly held?: string | undefined;
  /** When the cluster joined, RFC 3339, and by which commit. Absent: not known. */
  readonly since?: { readonly at: string; readonly commit: string | undefined } | undefined;
  /** Open pull requests that would take it away. */
  readonly removedBy: readonly RemovingPullRequest[];
}

export interface RemovingPullRequest {
  readonly number: number;
  /** As the forge says it. */
  readonly url: string | undefined;
  /** Whether the removal would wait for an approval. */
  readonly isHeld: boolean;
}

/** An open pull request with its plan. */
export interface OpenPlan extends Pick<RemovingPullRequest, 'number' | 'url'> {
  readonly plan: Pick<Plan, 'placements'>;
}

export interface PlaceFacts {
  readonly view: Pick<PlacementView, 'namespace' | 'name' | 'asks' | 'table' | 'held'>;
  readonly explanation: PlacementExplanation;
  readonly pair: PairExplanation;
  /** The newest first. */
  readonly records: readonly Pick<CompactRecord, 'publishedAt' | 'commit' | 'added' | 'removed'>[];
  readonly open: readonly OpenPlan[];
}

/** @param isVisible whether the project of the Application may deploy to a cluster; the names of others are left out */
export function applicationPlace(
  { view, explanation, pair, records, open }: PlaceFacts,
  isVisible: (cluster: string) => boolean,
): ApplicationPlace {
  const { namespace, name, table, held } = view;
  const { cluster, selected } = pair;
  const joined = records.find(({ added, removed }) => [...added.names, ...removed.names].includes(cluster));
  return {
    ...{ namespace, name, table: visibleRows(table, isVisible), selected },
    ...why(view, explanation, pair),
    ...(held !== undefined && { held: held.reason }),
    ...(joined?.added.names.includes(cluster) === true && {
      since: { at: joined.publishedAt, commit: joined.commit?.id },
    }),
    removedBy: open.flatMap(({ number, url, plan }) =>
      plan.placements
        .filter((one) => one.namespace === namespace && one.name === name)
        .filter(({ removed }) => removed.some((move) => move.cluster === cluster))
        .map((one) => ({ number, url, isHeld: one.held !== undefined })),
    ),
  };
}

function why(
  { namespace, name, asks }: PlaceFacts['view'],
  { selected, next, counts, publishedByOthers }: PlacementExplanation,
  pair: PairExplanation,
): Pick<ApplicationPlace, 'because' | 'leavesIf'> {
  if (publishedByOthers !== undefined)
    return { because: `another controller decided ${namespace}/${name}`, leavesIf: [] };
  const own = selected.find(({ cluster }) => cluster === pair.cluster);
  if (own === undefined) return { because: whyNot(pair), leavesIf: [] };
  const { rank, of, total } = own.score;
  const isRanked = counts.wanted !== undefined;
  const [best] = next;
  const expiring = pair.toleratedTaints.flatMap(({ taint, until }) =>
    until === undefined ? [] : [`taint ${taint.key} is still there at ${until}`],
  );
  return {
    because: `${namespace}/${name} asks for ${asks}, and ${pair.cluster} ${isRanked ? `is number ${rank} of ${of} with ${total} points` : 'passes its filters'}`,
    leavesIf: [
      ...expiring,
      ...(isRanked && best !== undefined && best.constraint === undefined ? [losingText(own, best)] : []),
      'it no longer has what the placement asks for',
      'it gets a taint that is not tolerated',
    ],
  };
}

/** Without names of other clusters. */
function whyNot(pair: PairExplanation): string {
  const { verdict } = pair;
  if (verdict.kind !== 'outranked' && verdict.kind !== 'spread')
    return (describePair({ ...pair, held: undefined })[1] ?? '').trim();
  const { rank, of, total } = verdict.score;
  return `${pair.cluster} is number ${rank} of ${of} with ${total} points`;
}

const HIDDEN = 'a cluster outside this project';

function visibleRows(
  table: PlacementView['table'],
  isVisible: (cluster: string) => boolean,
): PlacementView['table'] {
  const named = <T extends { readonly cluster: string }>(one: T): T =>
    isVisible(one.cluster) ? one : { ...one, cluster: HIDDEN };
  const { selected, next, cut } = table;
  return {
    ...visibleTable(table, isVisible),
    ...{ selected: selected.map(named), next: next.map(named) },
    cut: cut.kind === 'score' ? named(cut) : cut,
  };
}

/** Why no placement is shown, as a sentence. */
export function noPlaceNote(
  application: string,
  found: {
    readonly set: string | undefined;
    readonly read: readonly string[];
    readonly cluster: string | undefined;
  },
): string {
  const { set, read, cluster } = found;
  if (set === undefined) return `No ApplicationSet made ${application}, so no placement put it here.`;
  if (read.length === 0) return `ApplicationSet ${set} reads no placement that this page may show.`;
  if (cluster === undefined)
    return `The destination of ${application} is no ManagedCluster that Berth knows.`;
  return `${formatNameList(read)} does not have ${cluster} published.`;
}
