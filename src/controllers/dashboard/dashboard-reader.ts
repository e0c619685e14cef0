import { CONFIG_MAP, LEASE, MANAGED_CLUSTER_ADDON } from '@berth/kube/model/kinds';
import { findCondition } from '@berth/kube/model/condition-list';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { CLUSTER_LEASE } from '@berth/ocm/registration/names';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { describePair } from '@berth/placement/explain/text/describe-pair';
import type { PairExplanation, PlacementExplanation } from '@berth/placement/explain/verdict/explanation';
import type { PlacementRef } from '@berth/placement/explain/snapshot/snapshot-change';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { InputError } from '@berth/runtime/errors';
import {
  type ApplicationPlace,
  applicationPlace,
  type OpenPlan,
} from '../../core/dashboard/application-view.ts';
import { type FleetView, fleetView } from '../../core/dashboard/fleet-view.ts';
import {
  type ClusterDetails,
  clusterHead,
  clusterLabels,
  type ClusterView,
} from '../../core/dashboard/cluster-view.ts';
import { type HistoryView, type PlacementView, placementView } from '../../core/dashboard/placement-view.ts';
import { seesAll, seesNamespace, type Sight, visibleClusters } from '../../core/dashboard/sight.ts';
import type { PublishedPlacements } from '../../core/publish/pages/published-placements.ts';
import { type CompactRecord, RECORDS_NAME, recordsOf } from '../../core/publish/record/compact-record.ts';
import { inOrder, movedStep, stepsOf, type TimelineStep } from '../../core/timeline/timeline.ts';
import { workRow } from '../../core/work/describe-work.ts';
import { explainInSnapshot } from '../explanations/explain-offline.ts';
import { type HubInventory, placementOfWork } from '../inventory/hub-inventory.ts';
import { readRecordedHubState } from '../previews/recorded-hub-state.ts';
import { dataOf } from '../publication/hub-records.ts';
import type { Causes, QuestionThread } from './question-thread.ts';

export interface DashboardReaderOptions {
  readonly api: KubeApi;
  readonly inventory: HubInventory;
  readonly published: PublishedPlacements;
  readonly decides: 'own' | 'all';
  /** Where the inputs of decisions are recorded. */
  readonly historyDir: string;
  readonly timeline: { read(): Promise<readonly TimelineStep[]> };
  readonly questions: Pick<QuestionThread, 'causes'>;
}

const MAX_STEPS = 500;

/** Reads what the screens of the dashboard show, each for what its viewer may see. */
export class DashboardReader {
  readonly #options: DashboardReaderOptions;

  constructor(options: DashboardReaderOptions) {
    this.#options = options;
  }

  /** Grows with every change of what the screens show, but for scores and works. */
  get revision(): number {
    const { clusters, clusterSets, bindings, placements, decisions } = this.#options.inventory;
    return [clusters, clusterSets, bindings, placements, decisions].reduce(
      (sum, { store }) => sum + store.revision,
      0,
    );
  }

  fleet(sight: Sight): FleetView {
    return fleetView(this.#snapshot(), (placement) => this.#publishedOf(placement).length, sight);
  }

  /** @returns undefined if there is no such placement, or the viewer may not see it */
  placement(ref: PlacementRef, sight: Sight): PlacementView | undefined {
    return this.#explained(ref, sight)?.view;
  }

  /** Why the placement selects the cluster or not. @returns undefined as `placement` */
  pair(ref: PlacementRef, cluster: string, sight: Sight): object | undefined {
    const alone = this.#snapshotOf(ref, sight);
    if (alone === undefined || !visibleClusters(alone, sight)(cluster)) return undefined;
    const { explanation } = explainInSnapshot(alone, ref, { ...this.#options, cluster });
    // The screen shows the hold of the placement itself.
    const { held: _held, ...pair } = explanation as PairExplanation;
    return { ...ref, cluster, selected: pair.selected, lines: describePair(pair) };
  }

  /**
   * A placement, and why it is on a cluster that it has published.
   * @param isVisible whether a cluster may be named
   * @returns undefined if there is no such placement
   */
  async place(
    ref: PlacementRef,
    cluster: string,
    {
      isVisible,
      open,
    }: { readonly isVisible: (cluster: string) => boolean; readonly open: readonly OpenPlan[] },
  ): Promise<ApplicationPlace | undefined> {
    const found = this.#explained(ref, { namespaces: new Set([ref.namespace]), allClusters: false });
    if (found === undefined) return undefined;
    const { explanation: pair } = explainInSnapshot(found.alone, ref, { ...this.#options, cluster });
    const records = (await this.#recordsOf(ref)).toReversed();
    return applicationPlace({ ...found, open, records, pair: pair as PairExplanation }, isVisible);
  }

  /** @returns undefined as `placement` */
  async history(ref: PlacementRef, sight: Sight): Promise<HistoryView | undefined> {
    if (!seesNamespace(sight, ref.namespace)) return undefined;
    const key = `${ref.namespace}/${ref.name}`;
    const records = await this.#recordsOf(ref);
    const clusters = new Set(records.flatMap(({ added, removed }) => [...added.names, ...removed.names]));
    const steps = stepsOf(key, await this.#options.timeline.read(), clusters);
    const own = sight.allClusters ? steps : steps.filter(({ placement }) => placement === key);
    return { records: records.toReversed(), steps: newest(own) };
  }

  /** Why the clusters of the newest records moved. @returns undefined as `placement` */
  async causes(ref: PlacementRef, sight: Sight): Promise<Causes | undefined> {
    const history = await this.history(ref, sight);
    const records = history?.records.toReversed();
    return records && this.#options.questions.causes(this.#options.historyDir, records);
  }

  /** What happened to clusters and placements. The newest first. */
  async story(sight: Sight): Promise<readonly TimelineStep[]> {
    const [recorded, { records }] = await Promise.all([
      this.#options.timeline.read(),
      readRecordedHubState(this.#options.api, []),
    ]);
    const moves = 'of' in records ? [...records.of.values()].flat().map(movedStep) : [];
    const isVisible = visibleClusters(this.#snapshot(), sight);
    const isOwn = ({ placement, cluster }: TimelineStep): boolean =>
      placement === undefined
        ? cluster !== undefined && isVisible(cluster)
        : seesNamespace(sight, placement.slice(0, placement.indexOf('/')));
    return newest([...recorded, ...moves].filter(isOwn));
  }

  /** @returns undefined if there is no such cluster, or the viewer may not see it */
  async cluster(name: string, sight: Sight): Promise<ClusterView | undefined> {
    const snapshot = this.#snapshot();
    const cluster = snapshot.clusters.find(({ metadata }) => metadata.name === name);
    if (cluster === undefined || !visibleClusters(snapshot, sight)(name)) return undefined;
    const placements = snapshot.placements.flatMap(({ metadata: { namespace = '', name: own } }) =>
      seesNamespace(sight, namespace) && this.#publishedOf(`${namespace}/${own}`).includes(name)
        ? [{ namespace, name: own }]
        : [],
    );
    const steps = (await this.story(sight)).filter((step) => step.cluster === name);
    return {
      ...{ ...clusterHead(cluster, snapshot), placements, steps },
      ...(seesAll(sight) && {
        details: {
          ...{ ...clusterLabels(cluster), works: this.#worksOn(name) },
          lastLease: await this.#lastLease(name),
          addOns: await this.#addOnsOf(name),
        },
      }),
    };
  }

  #snapshot(): Snapshot {
    return this.#options.inventory.snapshot();
  }

  #explained(ref: PlacementRef, sight: Sight) {
    const alone = this.#snapshotOf(ref, sight);
    const [placement] = alone?.placements ?? [];
    if (alone === undefined || placement === undefined) return undefined;
    const explanation = explainInSnapshot(alone, ref, this.#options).explanation as PlacementExplanation;
    const published = this.#publishedOf(`${ref.namespace}/${ref.name}`);
    const facts = { placement, published, now: alone.now };
    const view = placementView(explanation, facts, { sight, isVisible: visibleClusters(alone, sight) });
    return { alone, explanation, view };
  }

  /** The oldest first. */
  async #recordsOf({ namespace, name }: PlacementRef): Promise<readonly CompactRecord[]> {
    const object = await this.#options.api.get(CONFIG_MAP, { namespace, name: RECORDS_NAME });
    return recordsOf(dataOf(object)).filter(({ placement }) => placement === `${namespace}/${name}`);
  }

  /** The hub with one placement to decide; the published decisions of the others count as they are. */
  #snapshotOf({ namespace, name }: PlacementRef, sight: Sight): Snapshot | undefined {
    const snapshot = this.#snapshot();
    const placements = snapshot.placements.filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.name === name,
    );
    return placements.length === 0 || !seesNamespace(sight, namespace)
      ? undefined
      : { ...snapshot, placements };
  }

  #publishedOf(placement: string): readonly string[] {
    const groups = this.#options.published.get(placement)?.groups ?? [];
    return groups.flatMap(({ decisions }) => decisions.map(({ clusterName }) => clusterName));
  }

  #worksOn(cluster: string): ClusterDetails['works'] {
    return this.#options.inventory.works.store
      .list()
      .filter(({ metadata }) => metadata.namespace === cluster)
      .map((work) => {
        const [name = '', , , applied = '', available = ''] = workRow(work as unknown as ManifestWork);
        return { name, placement: placementOfWork(work.metadata) ?? '', applied, available };
      });
  }

  async #lastLease(cluster: string): Promise<string | undefined> {
    const lease = await orUndefined(
      this.#options.api.get(LEASE, { namespace: cluster, name: CLUSTER_LEASE }),
    );
    return (lease?.['spec'] as { readonly renewTime?: string } | undefined)?.renewTime;
  }

  async #addOnsOf(cluster: string): Promise<ClusterDetails['addOns']> {
    const { api } = this.#options;
    const list = await orUndefined(api.list(MANAGED_CLUSTER_ADDON, { namespace: cluster }));
    return list?.items.map(({ metadata, ...rest }: KubeObject) => {
      const { conditions } = (rest['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
      const available = findCondition(conditions, 'Available');
      const state = available?.status === 'True' ? 'available' : (available?.reason ?? 'not known');
      return { name: metadata.name, state };
    });
  }
}

/** What Berth may not read is not known. */
async function orUndefined<T>(read: Promise<T>): Promise<T | undefined> {
  return read.catch((error: unknown) => {
    if (error instanceof InputError) return undefined;
    throw error;
  });
}

function newest(steps: readonly TimelineStep[]): readonly TimelineStep[] {
  return inOrder(steps).slice(-MAX_STEPS).toReversed();
}
