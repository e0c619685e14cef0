import { startAgent, type Agent } from '../src/start-agent.ts';
import type { AgentEvent, AgentOptions } from '../src/options/agent-options.ts';
import { hubHashOf } from '../src/options/agent-settings.ts';
import type { AppliedManifestWork } from '@berth/ocm/kind/applied-manifest-work';
import { APPLIED_MANIFEST_WORK, MANIFEST_WORK, kind } from '@berth/kube/model/kinds';
import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { FakeClock } from '@berth/test-kit/fake-clock';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';
import { SilentLogger } from '@berth/test-kit/silent-logger';

export const CONFIG_MAP = kind('', 'v1', 'ConfigMap', 'Namespaced');
export const DEPLOYMENT = kind('apps', 'v1', 'Deployment', 'Namespaced');

/** A hub, a managed cluster and an agent between them, on a clock that the test moves. */
export class AgentHarness {
  readonly hub = new FakeKubeApi();
  readonly cluster = new FakeKubeApi();
  readonly clock = new FakeClock();
  readonly log = new SilentLogger();
  readonly events: AgentEvent[] = [];
  #agent: Agent | undefined;

  constructor() {
    for (const kind of [CONFIG_MAP, DEPLOYMENT]) this.cluster.addKind(kind);
  }

  async start(options: Partial<AgentOptions> = {}): Promise<void> {
    this.#agent = startAgent({
      hub: this.hub,
      cluster: this.cluster,
      clusterName: 'cluster1',
      clock: this.clock,
      log: this.log,
      random: () => 0.5,
      onEvent: (event) => this.events.push(event),
      ...options,
    });
    await this.settle();
  }

  async stop(): Promise<void> {
    await this.#agent?.close();
    this.#agent = undefined;
  }

  /** Lets the agent do what it does at once, and what it tries again within `forMs`. */
  async settle(forMs = 2_000): Promise<void> {
    for (let round = 0; round < 10; round++) await this.clock.advance(forMs / 10);
  }

  async applyWork(name: string, spec: ManifestWorkSpec, labels?: Record<string, string>): Promise<void> {
    const key = { namespace: 'cluster1', name };
    const existing = await this.hub.get(MANIFEST_WORK, key);
    const metadata = { ...key, ...(labels === undefined ? {} : { labels }) };
    const object = {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata,
      spec,
    } as unknown as KubeObject;
    if (existing === undefined) await this.hub.create(MANIFEST_WORK, object);
    else
      await this.hub.update(MANIFEST_WORK, {
        ...existing,
        spec,
        metadata: { ...existing.metadata, ...(labels === undefined ? {} : { labels }) },
      });
    await this.settle();
  }

  async deleteWork(name: string): Promise<void> {
    await this.hub.delete(MANIFEST_WORK, { namespace: 'cluster1', name });
    await this.settle();
  }

  async work(name: string): Promise<ManifestWork | undefined> {
    const found = await this.hub.get(MANIFEST_WORK, { namespace: 'cluster1', name });
    return found as unknown as ManifestWork | undefined;
  }

  async applied(name: string): Promise<AppliedManifestWork | undefined> {
    const found = await this.cluster.get(APPLIED_MANIFEST_WORK, {
      namespace: '',
      name: `${hubHashOf(this.hub.server)}-${name}`,
    });
    return found as unknown as AppliedManifestWork | undefined;
  }

  async configMap(name: string): Promise<KubeObject | undefined> {
    return this.cluster.get(CONFIG_MAP, { namespace: 'default', name });
  }

  /** `Applied=True@1 Available=True@1`: the work's conditions. */
  async conditions(name: string): Promise<string> {
    const work = await this.work(name);
    return (work?.status?.conditions ?? [])
      .map(({ type, status, observedGeneration }) => `${type}=${status}@${observedGeneration}`)
      .join(' ');
  }
}

export function configMap(name: string, data: Record<string, string> = { x: '1' }): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

export function workOf(...manifests: readonly KubeObject[]): ManifestWorkSpec {
  return { workload: { manifests } };
}
