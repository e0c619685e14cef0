import { createHash } from 'node:crypto';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { type Placement, SCHEDULING_DISABLE_ANNOTATION } from '@berth/ocm/kind/placement';
import type { ScheduleResult } from '@berth/placement/result/schedule-result';
import type {
  PlacementAction,
  PlacementEvent,
} from '../../../../src/core/publish/machine/state/placement-event.ts';
import {
  INITIAL_STATE,
  type PassFacts,
  type PlacementState,
} from '../../../../src/core/publish/machine/state/placement-state.ts';
import { step } from '../../../../src/core/publish/machine/step.ts';

export const WEB = 'team-a/web';
export const NOW = Date.parse('2026-01-01T00:00:00Z');
export const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

export function webPlacement(
  over: Partial<Placement['metadata']> = {},
  rest: Partial<Placement> = {},
): Placement {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'Placement',
    metadata: { name: 'web', namespace: 'team-a', uid: 'u1', generation: 1, resourceVersion: '10', ...over },
    spec: {},
    ...rest,
  };
}

export function resultOf(
  placement: Placement,
  clusters: readonly string[],
  outcome: ScheduleResult['outcome'] = 'scheduled',
): ScheduleResult {
  return {
    placement,
    outcome,
    status: { code: 'Success', plugin: '', message: '' },
    selected: clusters,
    selectedScores: clusters.map(() => 0),
    unscheduled: 0,
    groups: [{ index: 0, name: '', clusters }],
    conditions: [],
    requeueAtMs: undefined,
  };
}

/** A page of `web` in group 0. */
export function pageOf(
  version: string,
  clusters: readonly string[],
  { name = 'web-decision-1', placement = 'web', group = '0' } = {},
): KubeObject {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'PlacementDecision',
    metadata: {
      name,
      namespace: 'team-a',
      uid: `uid-${name}`,
      resourceVersion: version,
      labels: {
        'cluster.open-cluster-management.io/placement': placement,
        'cluster.open-cluster-management.io/decision-group-index': group,
        'cluster.open-cluster-management.io/decision-group-name': '',
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Placement', name: 'web', uid: 'u1' }],
    },
    status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) },
  };
}

/** The facts of a pass where nothing is unusual: any change may be published. */
export function factsOf(
  over: Partial<PassFacts> & { readonly clusters?: readonly string[] } = {},
): PassFacts {
  const { clusters = [], ...rest } = over;
  const placement = rest.placement ?? webPlacement();
  const pages = rest.pages ?? [];
  return {
    key: WEB,
    placement,
    result: resultOf(placement, clusters),
    pages,
    remembered: undefined,
    records: { newest: undefined, oldestAtMs: -Infinity, areReadable: true },
    budget: { percent: 100, atLeast: 0 },
    inventoryProblem: undefined,
    worksProblem: undefined,
    plans: [],
    isOfSource: false,
    restoredTo: [],
    digest,
    seenPage: (name) => pages.find(({ metadata }) => metadata.name === name),
    snapshotConsistency: () => 'consistent',
    wasDecidedKnowing: () => true,
    isReady: () => true,
    lostClusters: () => [],
    ...rest,
  };
}

export interface Run {
  readonly state: PlacementState;
  /** Of the last event. */
  readonly actions: readonly PlacementAction[];
}

/** One event after the other. */
export function run(events: readonly PlacementEvent[], state = INITIAL_STATE, nowMs = NOW): Run {
  let last: Run = { state, actions: [] };
  for (const event of events) last = step(last.state, event, nowMs);
  return last;
}

/** `write-page write web-decision-1 c1,c2`, `end requeue 2000`, `final-pages c1`: an action in a line of a table. */
export function lineOf(action: PlacementAction): string {
  switch (action.kind) {
    case 'write-page': {
      const { write } = action;
      const clusters =
        write.kind === 'write' ? ` ${write.decisions.map(({ clusterName }) => clusterName).join()}` : '';
      return `${write.kind} ${write.page}${clusters}`;
    }
    case 'final-pages':
      return `final-pages ${action.pages.flatMap(({ decisions }) => decisions.map((d) => d.clusterName)).join()}`;
    case 'fence-page':
      return `fence ${action.page.metadata.name}`;
    case 'decide-again':
      return `decide again ${action.cause}`;
    case 'judge-plans':
      return `plans ${action.outcome}`;
    case 'report-held':
      return `held ${action.hold.reason}`;
    case 'report-restored':
      return `restored ${action.pages.join()}`;
    case 'end':
      return action.end.kind === 'requeue'
        ? `end, again after ${action.end.afterMs}`
        : `end ${action.end.kind}`;
    default:
      return action.kind;
  }
}

export const lines = (actions: readonly PlacementAction[]): readonly string[] => actions.map(lineOf);

/** The answer of a hub that carries out what is asked; undefined where an action has no answer. */
export function answerTo(action: PlacementAction, version: string): PlacementEvent | undefined {
  switch (action.kind) {
    case 'write-page':
      return { kind: 'page-written', after: written(action, version), seen: action.before };
    case 'patch-status': {
      const { metadata } = action.placement;
      const after = {
        ...action.placement,
        status: action.status,
        metadata: { ...metadata, resourceVersion: version },
      };
      return { kind: 'status-written', after: after as unknown as KubeObject, seen: undefined };
    }
    case 'persist':
      return { kind: 'persisted' };
    case 'annotate-placement': {
      const { metadata } = action.placement;
      const annotations = { ...metadata.annotations, [SCHEDULING_DISABLE_ANNOTATION]: 'true' };
      const after = { ...action.placement, metadata: { ...metadata, annotations, resourceVersion: version } };
      return { kind: 'placement-annotated', after: after as unknown as KubeObject };
    }
    case 'yield':
      return { kind: 'resumed' };
    case 'record':
      return { kind: 'recorded', hash: `record-${version}` };
    default:
      return undefined;
  }
}

/** The page after a write. */
export function written(
  { write, before }: Extract<PlacementAction, { kind: 'write-page' }>,
  version: string,
): KubeObject | undefined {
  if (write.kind === 'delete') return undefined;
  if (write.kind === 'create')
    return pageOf(version, [], { name: write.page, group: String(write.group.index) });
  if (before === undefined) throw new Error(`no page ${write.page}`);
  const metadata = { ...before.metadata, resourceVersion: version };
  return write.kind === 'write'
    ? { ...before, metadata, status: { decisions: write.decisions } }
    : { ...before, metadata };
}

/** The hub has the pages that the watch shows. */
function pagesFor(action: PlacementAction, first: PlacementEvent): PlacementEvent | undefined {
  if (action.kind !== 'read-pages' || first.kind !== 'reconcile') return undefined;
  const { pages } = first.facts;
  return { kind: 'pages-read', pages, seen: pages };
}

/** All of a pass on a hub that carries out what is asked: what was done, in one line each. */
export function wholePass(first: PlacementEvent, state = INITIAL_STATE, nowMs = NOW) {
  const done: PlacementAction[] = [];
  const open: PlacementEvent[] = [first];
  let version = 100;
  let now = state;
  for (let event = open.shift(); event !== undefined; event = open.shift()) {
    const next = step(now, event, nowMs);
    now = next.state;
    for (const action of next.actions) {
      done.push(action);
      const answer = answerTo(action, String(++version)) ?? pagesFor(action, first);
      if (answer !== undefined) open.push(answer);
    }
  }
  return { state: now, actions: done, lines: lines(done) };
}
