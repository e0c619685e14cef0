import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { systemClock } from '@berth/runtime/clock/system-clock';
import type { AgentOptions } from '@berth/agent/options/agent-options';
import { type Agent, startAgent } from '@berth/agent/start-agent';
import type { ManifestWork, UpdateStrategy } from '@berth/ocm/kind/manifest-work';
import { APPLIED_MANIFEST_WORK, type KindInfo, MANIFEST_WORK, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { interceptedApi } from '../../controllers/sources/following/intercepted-api.ts';
import { SilentLogger } from '@berth/test-kit/silent-logger';

/** A strategy is given to these. */
const RESOURCES = [
  { group: 'apps', resource: 'deployments' },
  { group: '', resource: 'configmaps' },
];

const configOf = (id: object, updateStrategy: UpdateStrategy) => ({
  resourceIdentifier: { ...id, name: '*', namespace: '*' },
  updateStrategy,
});

/** An agent on a server that is hub and managed cluster at once, and the requests by which it writes objects of works. */
export class AgentBesideControllers {
  readonly #api: KubeApi;
  readonly #name: string;
  #agent: Agent | undefined;
  /** `update deployments`, in order. */
  writes: string[] = [];
  /** What the agent watches on the managed cluster, and did. */
  readonly watches: string[] = [];

  /** @param name of the cluster, its namespace and the namespace of the objects */
  constructor(api: KubeApi, name: string) {
    this.#api = api;
    this.#name = name;
  }

  async start(options: Partial<AgentOptions> = {}): Promise<void> {
    await this.stop();
    const cluster = interceptedApi(this.#api, (method, [kind]) => {
      if (method === 'watch') this.watches.push((kind as KindInfo).plural);
      if (!['apply', 'create', 'update', 'mergePatch'].includes(method)) return;
      const { plural } = kind as KindInfo;
      if (plural !== APPLIED_MANIFEST_WORK.plural) this.writes.push(`${method} ${plural}`);
    });
    this.#agent = startAgent({
      hub: this.#api,
      cluster,
      clusterName: this.#name,
      agentId: this.#name,
      clock: systemClock,
      log: new SilentLogger(),
      ...options,
    });
    await this.#agent.whenSynced();
  }

  async stop(): Promise<void> {
    await this.#agent?.close();
    this.#agent = undefined;
  }

  async makeNamespace(name = this.#name): Promise<void> {
    await this.#api.create(NAMESPACE, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }

  /** Makes the work or gives it other manifests, and waits until the agent says that they are applied. */
  async applied(manifests: KubeObject | readonly KubeObject[], strategy?: UpdateStrategy): Promise<void> {
    await this.apply([manifests].flat(), strategy);
    await expect.poll(() => this.appliedCondition()).toBe('True');
  }

  async apply(manifests: readonly KubeObject[], strategy?: UpdateStrategy): Promise<void> {
    const work: KubeObject = {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { namespace: this.#name, name: 'work' },
      spec: {
        workload: { manifests },
        ...(strategy && { manifestConfigs: RESOURCES.map((id) => configOf(id, strategy)) }),
      },
    };
    await this.#api.apply(MANIFEST_WORK, work, { fieldManager: 'test', force: true });
  }

  async deleteWork(): Promise<void> {
    await this.#api.delete(MANIFEST_WORK, { namespace: this.#name, name: 'work' });
  }

  async work(): Promise<ManifestWork | undefined> {
    const found = await this.#api.get(MANIFEST_WORK, { namespace: this.#name, name: 'work' });
    return found as unknown as ManifestWork | undefined;
  }

  /** Undefined while it is about an older version of the work. */
  async appliedCondition(): Promise<string | undefined> {
    const work = await this.work();
    const applied = work?.status?.conditions?.find(({ type }) => type === 'Applied');
    return applied?.observedGeneration === work?.metadata.generation ? applied?.status : undefined;
  }

  object(apiVersion: string, kind: string, content: object): KubeObject {
    return { apiVersion, kind, metadata: { name: 'a', namespace: this.#name }, ...content };
  }

  async read(kind: KindInfo): Promise<KubeObject | undefined> {
    return this.#api.get(kind, { namespace: this.#name, name: 'a' });
  }

  /** What another manager writes. */
  async byOther(
    kind: KindInfo,
    patch: object,
    fieldManager = 'kube-controller-manager',
  ): Promise<KubeObject> {
    return this.#api.mergePatch(kind, { namespace: this.#name, name: 'a' }, patch, { fieldManager });
  }

  /** What the agent writes from now on, when nothing happens any more. */
  async writesAtRest(): Promise<readonly string[]> {
    this.writes = [];
    // fixed wait: that the agent is at rest only shows in what it does not write
    await sleep(1_500);
    return this.writes;
  }
}
