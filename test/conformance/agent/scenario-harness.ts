import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import type { AgentOptions } from '@berth/agent/options/agent-options';
import { type Agent, startAgent } from '@berth/agent/start-agent';
import type { AppliedManifestWork } from '@berth/ocm/kind/applied-manifest-work';
import { APPLIED_MANIFEST_WORK, type KindInfo, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { ManifestWork, ManifestWorkSpec } from '@berth/ocm/kind/manifest-work';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { RunningHub } from '@berth/embedded-hub/hub-options';
import { OCM_HUB } from '../../fakes/embedded-hub.ts';
import { startHub } from '@berth/embedded-hub/start-hub';
import { PATIENCE_MS } from '@berth/test-kit/patience';
import { SilentLogger } from '@berth/test-kit/silent-logger';
import { ImpersonatingClients } from '../../../packages/agent/src/agent-clients.ts';
import { fastClock } from './fast-clock.ts';

export const CLUSTER = 'cluster1';

/** A hub, a managed cluster and a second hub, each an API of its own, and agents between them. */
export class ScenarioHarness {
  readonly clock = fastClock(4);
  readonly #dataDir: string;
  readonly #running: RunningHub;
  readonly #closers: (() => Promise<void> | void)[] = [];
  readonly hub: KubeApi;
  readonly secondHub: KubeApi;
  readonly cluster: KubeApi;
  readonly #executors: ImpersonatingClients;

  static async start(): Promise<ScenarioHarness> {
    const dataDir = await mkdtemp(join(tmpdir(), 'berth-scenarios-'));
    return new ScenarioHarness(dataDir, await startHub({ ...OCM_HUB, dataDir, members: [CLUSTER, 'hub2'] }));
  }

  private constructor(dataDir: string, running: RunningHub) {
    this.#dataDir = dataDir;
    this.#running = running;
    this.hub = this.#open(running.adminKubeconfigPath);
    this.secondHub = this.#open(running.memberKubeconfigPath('hub2'));
    const file = running.memberKubeconfigPath(CLUSTER);
    this.cluster = this.#open(file);
    this.#executors = new ImpersonatingClients(loadKubeConfig({ file }), this.clock);
    this.#closers.push(() => this.#executors.close());
  }

  #open(file: string): KubeApi {
    const api = new HttpKubeApi({ config: loadKubeConfig({ file }), clock: this.clock });
    this.#closers.push(() => api.close());
    return api;
  }

  async agent(options: Partial<AgentOptions> = {}): Promise<Agent> {
    const agent = startAgent({
      hub: this.hub,
      cluster: this.cluster,
      clusterName: CLUSTER,
      clock: this.clock,
      log: new SilentLogger(),
      statusSyncIntervalMs: 2_000,
      impersonate: (user) => this.#executors.as(user),
      ...options,
    });
    await agent.whenSynced();
    return agent;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
    await this.#running.close();
    await rm(this.#dataDir, { recursive: true, force: true });
  }

  /** Makes the work, or gives it a new spec. */
  async applyWork(
    name: string,
    spec: ManifestWorkSpec,
    over: { hub?: KubeApi; labels?: Record<string, string> } = {},
  ): Promise<void> {
    const { hub = this.hub, labels } = over;
    const key = { namespace: CLUSTER, name };
    if ((await hub.get(MANIFEST_WORK, key)) !== undefined) {
      await hub.mergePatch(MANIFEST_WORK, key, {
        spec: { manifestConfigs: null, deleteOption: null, executor: null, ...spec },
        ...(labels === undefined ? {} : { metadata: { labels } }),
      });
      return;
    }
    await hub.create(MANIFEST_WORK, {
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { ...key, ...(labels === undefined ? {} : { labels }) },
      spec,
    });
  }

  async deleteWork(name: string): Promise<void> {
    await this.hub.delete(MANIFEST_WORK, { namespace: CLUSTER, name });
  }

  async work(name: string, hub = this.hub): Promise<ManifestWork | undefined> {
    return (await hub.get(MANIFEST_WORK, { namespace: CLUSTER, name })) as unknown as
      | ManifestWork
      | undefined;
  }

  async applied(work: string): Promise<readonly AppliedManifestWork[]> {
    const { items } = await this.cluster.list(APPLIED_MANIFEST_WORK);
    return (items as unknown as AppliedManifestWork[]).filter(({ spec }) => spec.manifestWorkName === work);
  }

  /** `False/True`: Applied and Available of a manifest (or of the work) at the present generation. */
  async verdict(name: string, ordinal?: number): Promise<string> {
    const work = await this.work(name);
    const status =
      ordinal === undefined
        ? work?.status?.conditions
        : work?.status?.resourceStatus?.manifests?.[ordinal]?.conditions;
    const applied = status?.find(({ type }) => type === 'Applied');
    if (applied?.observedGeneration !== work?.metadata.generation) return 'old';
    return `${applied?.status}/${status?.find(({ type }) => type === 'Available')?.status}`;
  }

  async create(kind: KindInfo, object: KubeObject): Promise<KubeObject> {
    return this.cluster.create(kind, object, { fieldManager: 'somebody' });
  }

  /** A service account of the namespace `default` that may do what the rules of its role say there. */
  async grant(name: string, rules: readonly object[]): Promise<void> {
    await this.create(SERVICE_ACCOUNT, object(SERVICE_ACCOUNT, name));
    await this.create(ROLE, object(ROLE, name, { rules }));
    await this.create(
      ROLE_BINDING,
      object(ROLE_BINDING, name, {
        roleRef: { apiGroup: RBAC, kind: 'Role', name },
        subjects: [{ kind: 'ServiceAccount', name, namespace: 'default' }],
      }),
    );
  }

  async get(kind: KindInfo, name: string, namespace = 'default'): Promise<KubeObject | undefined> {
    return this.cluster.get(kind, { namespace: kind.namespaced ? namespace : '', name });
  }
}

/** Looks until it holds, for a while. */
export async function until<T>(look: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (const deadline = Date.now() + PATIENCE_MS; ; ) {
    const value = await look();
    if (holds(value)) return value;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(value)}`);
    // fixed wait: the pace of a poll
    await sleep(50);
  }
}

export const kindOf = (group: string, kind: string, namespaced = true, version = 'v1'): KindInfo => ({
  group,
  version,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced,
});

export const CONFIG_MAP = kindOf('', 'ConfigMap');
export const DEPLOYMENT = kindOf('apps', 'Deployment');
export const SERVICE = kindOf('', 'Service');
export const SERVICE_ACCOUNT = kindOf('', 'ServiceAccount');
export const NAMESPACE = kindOf('', 'Namespace', false);
const RBAC = 'rbac.authorization.k8s.io';
export const ROLE = kindOf(RBAC, 'Role');
export const ROLE_BINDING = kindOf(RBAC, 'RoleBinding');
export const CLUSTER_ROLE = kindOf(RBAC, 'ClusterRole', false);
export const CRD = kindOf('apiextensions.k8s.io', 'CustomResourceDefinition', false);

export function object(
  kind: KindInfo,
  name: string,
  content: object = {},
  metadata: object = {},
): KubeObject {
  return {
    apiVersion: kind.group === '' ? kind.version : `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: { name, ...(kind.namespaced ? { namespace: 'default' } : {}), ...metadata },
    ...content,
  };
}

export const configMap = (
  name: string,
  data: Record<string, string> = { x: '1' },
  namespace = 'default',
): KubeObject => object(CONFIG_MAP, name, { data }, { namespace });

export function deployment(
  name: string,
  spec: { replicas?: number; image?: string; env?: object[] } = {},
): KubeObject {
  const labels = { app: name };
  const container = {
    name: 'c',
    image: spec.image ?? 'registry.example.com/c:1',
    ...(spec.env === undefined ? {} : { env: spec.env }),
  };
  return object(DEPLOYMENT, name, {
    spec: {
      ...(spec.replicas === undefined ? {} : { replicas: spec.replicas }),
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  });
}

/** The part of a work's spec that names a service account of the namespace `default`. */
export const executor = (name: string): Pick<ManifestWorkSpec, 'executor'> => ({
  executor: { subject: { type: 'ServiceAccount', serviceAccount: { namespace: 'default', name } } },
});

export const workOf = (...manifests: readonly KubeObject[]): ManifestWorkSpec => ({
  workload: { manifests },
});

export const ownersOf = (object: KubeObject | undefined): readonly string[] =>
  (object?.metadata.ownerReferences ?? []).map(({ name }) => name.replace(/^[0-9a-f]{64}-/, ''));

/** The same API under another address: another hub, by the hash in the names of AppliedManifestWorks. */
export function withServer(api: KubeApi, name: string): KubeApi {
  return intercepted(api, () => undefined, `https://${name}.example.com`);
}

/** Notes every write by its verb. */
export function noting(api: KubeApi, writes: string[]): KubeApi {
  return intercepted(api, (verb) => writes.push(verb), api.server);
}

function intercepted(api: KubeApi, onWrite: (verb: string) => void, server: string): KubeApi {
  return {
    server,
    get: (...args) => api.get(...args),
    list: (...args) => api.list(...args),
    watch: (...args) => api.watch(...args),
    resolve: (...args) => api.resolve(...args),
    create: (...args) => (onWrite('create'), api.create(...args)),
    update: (...args) => (onWrite('update'), api.update(...args)),
    mergePatch: (...args) => (onWrite('mergePatch'), api.mergePatch(...args)),
    apply: (...args) => (onWrite('apply'), api.apply(...args)),
    delete: (...args) => (onWrite('delete'), api.delete(...args)),
  };
}
