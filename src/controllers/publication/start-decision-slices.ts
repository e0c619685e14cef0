import type { ObjectCache } from '@berth/kube/cache/object-cache';
import type { Reflector } from '@berth/kube/cache/reflector';
import { refusedKindText } from '@berth/kube/cache/reflector-options';
import { apiVersionOf, PLACEMENT } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import { mayBeAllowedLater } from '@berth/kube/transport/kube-errors';
import { placementOfDecision } from '@berth/ocm/kind/placement-decision';
import type { Clock } from '@berth/runtime/clock/clock';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Logger } from '@berth/runtime/logger';
import { DONE, type ReconcileOutcome, runReconciler } from '@berth/runtime/loop/reconciler';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { WorkQueue } from '@berth/runtime/loop/work-queue';
import {
  DECISION_SLICE,
  isOurSlice,
  pageOfSlice,
  type SliceContent,
  sliceContent,
  sliceLabels,
} from '../../core/publish/pages/decision-slice.ts';
import { planPages } from '../../core/publish/pages/plan-pages.ts';
import type { PublishedPlacements } from '../../core/publish/pages/published-placements.ts';
import { SERVE_RIGHTS } from '../../core/rbac/rights-command.ts';
import { DecisionView, placementsOf } from './decision-view.ts';

export interface DecisionSlicesOptions {
  readonly hub: KubeApi;
  /** The cache of the same hub. */
  readonly cache: ObjectCache;
  readonly published: PublishedPlacements;
  readonly clock: Clock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Awaited before each pass. Default: no wait. */
  readonly mayBegin?: ((signal: AbortSignal) => Promise<void>) | undefined;
  readonly onError?: ((key: string, error: unknown) => void) | undefined;
}

export interface RunningDecisionSlices {
  /** What fails at the moment, as text for users. Berth retries all of it. */
  warnings(): readonly string[];
  close(): Promise<void>;
}

const FIELD_MANAGER = 'berth-slices';

/**
 * Writes what is published of each placement into PlacementDecisions of `multicluster.x-k8s.io`, laid out and ordered as its
 * own pages are: a cluster that stays is listed at every moment. What other schedulers write is left alone.
 */
export function startDecisionSlices(options: DecisionSlicesOptions): RunningDecisionSlices {
  const { clock, random, log, mayBegin, onError, published } = options;
  const supervisor = new Supervisor({ clock, random, log });
  const writer = new SliceWriter(options);
  const queue = new WorkQueue(clock);
  const add = (keys: Iterable<string>): void => [...keys].forEach((key) => queue.add(key));
  published.onChange((placement) => add(placement === undefined ? writer.all() : [placement]));
  writer.slices.store.onChange((change) => add(placementsOf(change)));
  supervisor.start('decision slices', async (signal) => {
    await Promise.all([writer.slices.whenSynced(signal), writer.placements.whenSynced(signal)]);
    add(writer.all());
    await runReconciler(
      {
        ...{ clock, random, log, mayBegin, ...(onError && { onError }) },
        name: 'decision slices',
        queue,
        concurrency: 4,
        isRetryable: mayBeAllowedLater,
        reconcile: (key) => writer.reconcile(key),
      },
      signal,
    );
  });
  return { warnings: () => writer.warnings(), close: () => supervisor.close() };
}

class SliceWriter {
  readonly #options: DecisionSlicesOptions;
  readonly slices: Reflector;
  readonly placements: Reflector;
  readonly #view: DecisionView;

  constructor(options: DecisionSlicesOptions) {
    this.#options = options;
    this.slices = options.cache.of(DECISION_SLICE);
    this.placements = options.cache.of(PLACEMENT);
    this.#view = new DecisionView(this.slices.store);
  }

  warnings(): readonly string[] {
    const { kind, failure } = this.slices;
    if (failure === undefined) return [];
    return [`${refusedKindText(kind, failure, SERVE_RIGHTS)}; until then no decision slice is written`];
  }

  /** `namespace/name` of the placements that are published or have slices. */
  all(): ReadonlySet<string> {
    const ours = this.slices.store.list().filter(isOurSlice);
    const named = ours.map((slice) => placementOfDecision(slice)).filter((key) => key !== undefined);
    return new Set([...this.#options.published.list().map(({ placement }) => placement), ...named]);
  }

  async reconcile(key: string): Promise<ReconcileOutcome> {
    const { published } = this.#options;
    if (!published.complete) return DONE;
    const slices = this.#view.pagesOf(key).filter(isOurSlice);
    const wanted = published.get(key);
    if (wanted !== undefined) await this.#write(key, slices, wanted.groups);
    // A placement that somebody else decides keeps what its workloads run by.
    else if (this.placements.store.get(key) === undefined)
      for (const slice of slices) await this.#delete(slice);
    return DONE;
  }

  async #write(
    key: string,
    slices: readonly KubeObject[],
    published: Parameters<typeof planPages>[2],
  ): Promise<void> {
    const [namespace = '', placement = ''] = key.split('/');
    // A slice has no scores.
    const groups = published.map(({ decisions, ...group }) => ({
      ...group,
      decisions: decisions.map(({ clusterName, reason }) => ({ clusterName, reason })),
    }));
    const { actions, pages } = planPages(placement, slices.map(pageOfSlice), groups);
    const wanted = pages.map((page, index) => ({
      name: page.name,
      labels: sliceLabels(placement, page.group, index),
      content: sliceContent(page.decisions),
    }));
    const current = new Map(slices.map((slice) => [slice.metadata.name, slice]));
    for (const action of actions) {
      const before = current.get(action.page);
      const slice = wanted.find(({ name }) => name === action.page);
      if (action.kind === 'create' && slice !== undefined)
        current.set(action.page, await this.#create({ namespace, ...slice }));
      else if (action.kind === 'delete' && before !== undefined) await this.#delete(before);
      else if (action.kind === 'write' && before !== undefined) {
        const content = sliceContent(action.decisions);
        if (!says(before, content)) current.set(action.page, await this.#patch(before, content));
      }
    }
    // Their order, and what somebody else changed in them.
    for (const { name, labels, content } of wanted) {
      const slice = current.get(name);
      const isLabelled = Object.entries(labels).every(
        ([label, to]) => slice?.metadata.labels?.[label] === to,
      );
      if (slice !== undefined && !(isLabelled && says(slice, content)))
        await this.#patch(slice, { ...content, metadata: { labels } });
    }
  }

  #create({
    content,
    ...metadata
  }: Pick<ObjectMeta, 'namespace' | 'name' | 'labels'> & {
    readonly content: SliceContent;
  }): Promise<KubeObject> {
    const typed = { apiVersion: apiVersionOf(DECISION_SLICE), kind: DECISION_SLICE.kind };
    const slice = { ...typed, metadata, ...content };
    return this.#options.hub.create(DECISION_SLICE, slice, { fieldManager: FIELD_MANAGER });
  }

  /** Only the version that was read: another writer's change is read first. */
  #patch(
    slice: KubeObject,
    change: SliceContent & { readonly metadata?: object | undefined },
  ): Promise<KubeObject> {
    const { namespace = '', name, uid, resourceVersion } = slice.metadata;
    return this.#options.hub.mergePatch(
      DECISION_SLICE,
      { namespace, name },
      { ...change, metadata: { ...change.metadata, uid, resourceVersion } },
      { fieldManager: FIELD_MANAGER },
    );
  }

  async #delete({ metadata }: KubeObject): Promise<void> {
    const { namespace = '', name, uid, resourceVersion } = metadata;
    await this.#options.hub.delete(DECISION_SLICE, { namespace, name }, { uid, resourceVersion });
  }
}

function says(slice: KubeObject, { decisions, schedulerName }: SliceContent): boolean {
  return jsonEqual([slice['decisions'], slice['schedulerName']], [decisions, schedulerName]);
}
