import { ObjectCache } from '@berth/kube/cache/object-cache';
import type { PulledWorkWritten, PullHeld } from '../../../../src/core/argocd/pull/plan-pull.ts';
import {
  type PullController,
  startPullController,
} from '../../../../src/controllers/argocd/pull/start-pull-controller.ts';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { HubRemovals } from '../../../../src/controllers/argocd/pull/hub-removals.ts';
import {
  type Application,
  APPLICATION,
  APPLICATION_SET_REPORT,
} from '../../../../src/core/argocd/argocd-kinds.ts';
import { MANAGED_CLUSTER, MANIFEST_WORK } from '@berth/kube/model/kinds';
import { sha256 } from '@berth/runtime/sha256';
import { Supervisor } from '@berth/runtime/loop/supervisor';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

const PREFIX = 'apps.open-cluster-management.io';
const AGENT_FINALIZER = 'cluster.open-cluster-management.io/manifest-work-cleanup';

/** A hub with Argo CD's Applications and the pull controller. Its time is the test's; the agents are the test, too. */
export class PullFleet {
  readonly hub = new FakeKubeApi();
  readonly clock = new FakeClock();
  readonly written: PulledWorkWritten[] = [];
  readonly held: PullHeld[] = [];
  readonly errors: unknown[] = [];
  #parts: { readonly pull: PullController; readonly supervisor: Supervisor } | undefined;

  constructor({ withReports = true } = {}) {
    this.hub.addKind(APPLICATION);
    if (withReports) this.hub.addKind(APPLICATION_SET_REPORT);
  }

  async start(): Promise<this> {
    const { hub, clock } = this;
    const [log, random] = [new SilentLogger(), () => 0.5];
    const supervisor = new Supervisor({ clock, random, log });
    const cache = new ObjectCache({ api: hub, clock, random, log });
    const pull = startPullController({
      ...{ hub, cache, clock, log, random },
      digest: sha256,
      budget: { percent: 25, atLeast: 2 },
      // Each start is another process, with nothing of its own: another leader.
      removals: new HubRemovals({ hub, clock, digest: sha256 }),
      onWrite: (event) => this.written.push(event),
      onHeld: (held) => this.held.push(held),
      onError: (_key, error) => this.errors.push(error),
    });
    cache.start(supervisor);
    this.#parts = { pull, supervisor };
    await this.settle();
    return this;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#parts?.pull.close(), this.#parts?.supervisor.close()]);
    this.#parts = undefined;
  }

  warnings(): readonly string[] {
    return this.#parts?.pull.warnings() ?? [];
  }

  leavingOn(cluster: string): readonly string[] | undefined {
    return this.#parts?.pull.leavingOn(cluster);
  }

  figures() {
    return this.#parts?.pull.figures();
  }

  async settle(byMs = 3_000): Promise<void> {
    for (let round = 0; round < 10; round++) await this.clock.advance(byMs / 10);
  }

  async cluster(name: string, available: 'True' | 'False' | 'Unknown' = 'True'): Promise<void> {
    const conditions = [{ type: 'ManagedClusterConditionAvailable', status: available }];
    const live = await this.hub.get(MANAGED_CLUSTER, { namespace: '', name });
    if (live === undefined)
      await this.hub.create(MANAGED_CLUSTER, {
        apiVersion: 'cluster.open-cluster-management.io/v1',
        kind: 'ManagedCluster',
        metadata: { name },
      });
    const status = { subresource: 'status' } as const;
    await this.hub.mergePatch(MANAGED_CLUSTER, { namespace: '', name }, { status: { conditions } }, status);
  }

  /** Its finalizer keeps the cluster. */
  async deleteCluster(name: string): Promise<void> {
    const key = { namespace: '', name };
    await this.hub.mergePatch(MANAGED_CLUSTER, key, { metadata: { finalizers: ['test/keep'] } });
    await this.hub.delete(MANAGED_CLUSTER, key);
  }

  async deleteWork(cluster: string): Promise<void> {
    const name = this.work(cluster)?.metadata.name ?? '';
    await this.hub.delete(MANIFEST_WORK, { namespace: cluster, name });
  }

  /** An Application of ApplicationSet `argocd/shop` for the cluster. */
  async application(
    cluster: string,
    { name = `shop-${cluster}`, annotations = {}, ...more } = {},
  ): Promise<void> {
    const owner = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'shop', uid: 'u' };
    await this.hub.create(APPLICATION, {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: {
        name,
        namespace: 'argocd',
        finalizers: ['resources-finalizer.argocd.argoproj.io'],
        ownerReferences: [owner],
        labels: { [`${PREFIX}/pull-to-ocm-managed-cluster`]: 'true' },
        annotations: { [`${PREFIX}/ocm-managed-cluster`]: cluster, ...annotations },
      },
      spec: { project: 'default', destination: { name: cluster, namespace: 'shop' } },
      ...more,
    });
  }

  async patch(name: string, patch: object): Promise<void> {
    await this.hub.mergePatch(APPLICATION, { namespace: 'argocd', name }, patch);
  }

  delete(name: string): Promise<boolean> {
    return this.hub.delete(APPLICATION, { namespace: 'argocd', name });
  }

  async get(name: string): Promise<Application | undefined> {
    return this.hub.get(APPLICATION, { namespace: 'argocd', name });
  }

  works(): readonly ManifestWork[] {
    return this.hub.peek(MANIFEST_WORK) as unknown as readonly ManifestWork[];
  }

  work(cluster: string): ManifestWork | undefined {
    return this.works().find(({ metadata }) => metadata.namespace === cluster);
  }

  /** What the agent of the cluster does first: its finalizer. */
  async hold(cluster: string): Promise<void> {
    await this.#patchWork(cluster, { metadata: { finalizers: [AGENT_FINALIZER] } });
  }

  /** What it does last: the objects are gone. */
  async confirm(cluster: string): Promise<void> {
    await this.#patchWork(cluster, { metadata: { finalizers: [] } });
  }

  /** What it reports of the Application. */
  async report(
    cluster: string,
    values: Readonly<Record<string, string>>,
    conditions: readonly object[] = [],
  ) {
    const feedback = Object.entries(values).map(([name, string]) => ({
      name,
      fieldValue: { type: 'String', string },
    }));
    const manifests = [{ resourceMeta: { ordinal: 0 }, statusFeedback: { values: feedback } }];
    const status = { resourceStatus: { manifests }, conditions };
    await this.#patchWork(cluster, { status }, 'status');
  }

  async annotateWork(cluster: string, annotations: Readonly<Record<string, string>>): Promise<void> {
    await this.#patchWork(cluster, { metadata: { annotations } });
  }

  async #patchWork(namespace: string, patch: object, subresource?: 'status'): Promise<void> {
    const name = this.work(namespace)?.metadata.name ?? '';
    await this.hub.mergePatch(MANIFEST_WORK, { namespace, name }, patch, { subresource });
  }
}
