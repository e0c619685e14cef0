import { setTimeout as sleep } from 'node:timers/promises';
import {
  apiVersionOf,
  CONTROLLER_REVISION,
  type KindInfo,
  MANAGED_CLUSTER,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  PLACEMENT,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { WorkControllers } from '../../../src/controllers/works/start-work-controllers.ts';
import type { WorkWritten } from '../../../src/controllers/works/write-works.ts';
import { startWorksAlone } from '../../fakes/works-alone.ts';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { template } from '../../core/work/replica-set-harness.ts';

export const WORK_API = 'work.open-cluster-management.io';
const CLUSTER_API = 'cluster.open-cluster-management.io/v1beta1';

export function memoryHub(): FakeKubeApi {
  const hub = new FakeKubeApi();
  hub.addKind(CONTROLLER_REVISION);
  return hub;
}

/** A hub with the controllers on it. Their time is the test's. */
export class Fleet {
  readonly hub: KubeApi;
  readonly clock = new FakeClock();
  readonly written: WorkWritten[] = [];
  readonly log = new SilentLogger();
  /** What failed: the replica set, or the kind that could not be read. */
  readonly errors: (readonly [key: string, error: unknown])[] = [];
  readonly #answerMs: number;
  #controllers: WorkControllers | undefined;

  /** @param answerMs real time that the hub needs to answer and to tell its watches; 0: none */
  constructor(hub: KubeApi = memoryHub(), answerMs = 0) {
    this.hub = hub;
    this.#answerMs = answerMs;
  }

  /** @param through what the controllers talk to; the test itself always talks to the hub */
  async start(through: KubeApi = this.hub): Promise<this> {
    this.#controllers = startWorksAlone({
      hub: through,
      clock: this.clock,
      log: this.log,
      random: () => 0.5,
      onWrite: (event) => this.written.push(event),
      onError: (key, error) => this.errors.push([key, error]),
      onWatchError: (kind, error) => this.errors.push([kind, error]),
    });
    await this.settle();
    return this;
  }

  warnings(): readonly string[] {
    return this.#controllers?.warnings() ?? [];
  }

  async settle(byMs = 1_000): Promise<void> {
    for (let round = 0; round < 10; round++) {
      await this.clock.advance(byMs / 10);
      // fixed wait: how long a cluster takes to answer
      if (this.#answerMs > 0) await sleep(this.#answerMs);
    }
  }

  async stop(): Promise<void> {
    await this.#controllers?.close();
    this.#controllers = undefined;
  }

  /** Forgets controllers that hang forever, as those of a killed process do. */
  abandon(): void {
    void this.#controllers?.close();
    this.#controllers = undefined;
  }

  /** Makes a ManagedCluster if there is none. Its finalizer keeps it until `leave`. */
  async join(name: string): Promise<void> {
    if ((await this.hub.get(MANAGED_CLUSTER, { namespace: '', name })) !== undefined) return;
    await this.hub.create(MANAGED_CLUSTER, {
      apiVersion: apiVersionOf(MANAGED_CLUSTER),
      kind: 'ManagedCluster',
      metadata: { name, finalizers: ['test/keep'] },
    });
  }

  /** Removes the finalizer of a cluster that is being deleted. */
  async leave(name: string): Promise<void> {
    await this.hub.mergePatch(MANAGED_CLUSTER, { namespace: '', name }, { metadata: { finalizers: [] } });
  }

  /** @param groups clusters by decision group */
  async place(name: string, ...groups: readonly (readonly string[])[]): Promise<void> {
    const meta = { name, namespace: 'team' };
    for (const cluster of groups.flat()) await this.join(cluster);
    await this.put(PLACEMENT, { apiVersion: CLUSTER_API, kind: 'Placement', metadata: meta, spec: {} });
    for (const [index, clusters] of groups.entries()) {
      const labels = {
        'cluster.open-cluster-management.io/placement': name,
        'cluster.open-cluster-management.io/decision-group-index': String(index),
      };
      const metadata = { name: `${name}-decision-${index + 1}`, namespace: 'team', labels };
      await this.put(PLACEMENT_DECISION, { apiVersion: CLUSTER_API, kind: 'PlacementDecision', metadata });
      const decisions = clusters.map((clusterName) => ({ clusterName, reason: '' }));
      await this.status(PLACEMENT_DECISION, metadata, { decisions });
    }
    await this.status(PLACEMENT, meta, { numberOfSelectedClusters: groups.flat().length });
  }

  async replicaSet(
    value: string,
    more: {
      strategy?: object;
      annotations?: Record<string, string>;
      cascade?: string;
      placements?: readonly string[];
    } = {},
  ): Promise<void> {
    const rollout = more.strategy === undefined ? {} : { rolloutStrategy: more.strategy };
    await this.put(MANIFEST_WORK_REPLICA_SET, {
      apiVersion: `${WORK_API}/v1alpha1`,
      kind: 'ManifestWorkReplicaSet',
      metadata: { name: 'web', namespace: 'team', annotations: more.annotations ?? {} },
      spec: {
        manifestWorkTemplate: template(value),
        placementRefs: (more.placements ?? ['all']).map((name) => ({ name, ...rollout })),
        cascadeDeletionPolicy: more.cascade ?? 'Background',
      },
    });
  }

  async put(kind: KindInfo, object: KubeObject): Promise<void> {
    const { name, namespace = '' } = object.metadata;
    const live = await this.hub.get(kind, { name, namespace });
    if (live === undefined) await this.hub.create(kind, object);
    else {
      const annotations = { ...live.metadata.annotations, ...object.metadata.annotations };
      await this.hub.update(kind, { ...live, ...object, metadata: { ...live.metadata, annotations } });
    }
  }

  async status(kind: KindInfo, key: { name: string; namespace: string }, status: object): Promise<void> {
    await this.hub.mergePatch(kind, key, { status }, { subresource: 'status' });
  }

  async report(
    clusters: readonly string[],
    types: Readonly<Record<string, Condition['status']>>,
  ): Promise<void> {
    for (const work of await this.works()) {
      const { name, namespace = '', generation } = work.metadata;
      if (!clusters.includes(namespace)) continue;
      const conditions = Object.entries(types).map(([type, status]) => ({
        type,
        status,
        reason: 'Test',
        message: '',
        observedGeneration: generation,
        lastTransitionTime: new Date(this.clock.now()).toISOString(),
      }));
      await this.status(MANIFEST_WORK, { name, namespace }, { conditions });
    }
    await this.settle();
  }

  async works(): Promise<readonly KubeObject[]> {
    return (await this.hub.list(MANIFEST_WORK)).items;
  }

  async contents(): Promise<Record<string, unknown>> {
    const works = await this.works();
    return Object.fromEntries(
      works.map((work) => {
        const { workload } = work['spec'] as { workload: { manifests: { data: { value: string } }[] } };
        return [work.metadata.namespace, workload.manifests[0]?.data.value];
      }),
    );
  }

  async conditions(): Promise<Record<string, string>> {
    const live = await this.hub.get(MANIFEST_WORK_REPLICA_SET, { namespace: 'team', name: 'web' });
    const { conditions = [] } = (live?.['status'] ?? {}) as { conditions?: Condition[] };
    return Object.fromEntries(conditions.map((c) => [c.type, `${c.status} ${c.reason}`]));
  }

  /** Somebody edits a work by hand. */
  async meddle(cluster: string): Promise<void> {
    for (const work of await this.works()) {
      if (work.metadata.namespace !== cluster) continue;
      const key = { namespace: cluster, name: work.metadata.name };
      await this.hub.mergePatch(MANIFEST_WORK, key, { spec: template('meddled') });
    }
  }

  /** All works with their content; `everOther`: they held other content before. */
  async reported(): Promise<readonly ReportedWork[]> {
    return (await this.works()).map((work) => {
      const { namespace = '', generation = 1 } = work.metadata;
      const { conditions = [] } = (work['status'] ?? {}) as { conditions?: Condition[] };
      const { workload } = work['spec'] as { workload: { manifests: { data: { value: string } }[] } };
      return {
        content: `${namespace} ${generation}`,
        value: workload.manifests[0]?.data.value ?? '',
        everOther: generation > 1,
        succeeded: ['Applied', 'Available'].every((type) =>
          conditions.some(
            (c) => c.type === type && c.status === 'True' && c.observedGeneration === generation,
          ),
        ),
      };
    });
  }
}

export interface ReportedWork {
  /** Names the content of a cluster; another one whenever it changes. */
  readonly content: string;
  readonly value: string;
  readonly everOther: boolean;
  /** It has reported success with this content. */
  readonly succeeded: boolean;
}
