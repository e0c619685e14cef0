import { Reflector } from '@berth/kube/cache/reflector';
import { apiVersionOf, CLUSTER_CLAIM, CLUSTER_PROPERTY, type KindInfo, NODE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { RegistrationSettings } from '../options/registration-settings.ts';

/** Kinds that a cluster may lack are looked up again at this interval. */
const LOOKUP_INTERVAL_MS = 300_000;

/** What an agent reports about its cluster, kept up to date by watches: nodes, claims and properties. */
export class WatchedKinds {
  readonly #cluster: KubeApi;
  readonly #settings: RegistrationSettings;
  readonly #onChange: () => void;
  readonly #reflectors = new Map<KindInfo, Reflector>();
  readonly #runs: Promise<void>[] = [];
  #lookedUpAtMs = -Infinity;

  constructor(cluster: KubeApi, settings: RegistrationSettings, onChange: () => void) {
    this.#cluster = cluster;
    this.#settings = settings;
    this.#onChange = onChange;
  }

  /** Starts to watch the kinds that the cluster serves. Waits for their first lists, but not for lists that are refused. */
  async refresh(signal: AbortSignal): Promise<void> {
    this.#watch(NODE, signal);
    const nowMs = this.#settings.clock.monotonicMs();
    if (nowMs - this.#lookedUpAtMs >= LOOKUP_INTERVAL_MS) {
      for (const kind of [CLUSTER_CLAIM, CLUSTER_PROPERTY])
        if (!this.#reflectors.has(kind) && (await this.#isServed(kind))) this.#watch(kind, signal);
      this.#lookedUpAtMs = nowMs;
    }
    await Promise.all(
      [...this.#reflectors.values()].map((reflector) => reflector.whenListedOrRefused(signal)),
    );
  }

  nodes(): readonly KubeObject[] | undefined {
    return this.#known(NODE);
  }

  /** Undefined if one of the kinds exists and could not be read. */
  claims():
    | { readonly claims: readonly KubeObject[]; readonly properties: readonly KubeObject[] }
    | undefined {
    const [claims, properties] = [CLUSTER_CLAIM, CLUSTER_PROPERTY].map((kind) =>
      this.#reflectors.has(kind) ? this.#known(kind) : [],
    );
    return claims === undefined || properties === undefined ? undefined : { claims, properties };
  }

  async ended(): Promise<void> {
    await Promise.all(this.#runs);
  }

  #known(kind: KindInfo): readonly KubeObject[] | undefined {
    const reflector = this.#reflectors.get(kind);
    return reflector?.synced === true ? reflector.store.list() : undefined;
  }

  async #isServed(kind: KindInfo): Promise<boolean> {
    return (await this.#cluster.resolve(apiVersionOf(kind), kind.kind)) !== undefined;
  }

  #watch(kind: KindInfo, signal: AbortSignal): void {
    if (this.#reflectors.has(kind)) return;
    const { clock, random, log } = this.#settings;
    const transform = kind === NODE ? reduceNode : undefined;
    const reflector = new Reflector({
      api: this.#cluster,
      kind,
      clock,
      random,
      log,
      ...(transform !== undefined && { transform }),
    });
    reflector.store.onChange(this.#onChange);
    this.#reflectors.set(kind, reflector);
    this.#runs.push(reflector.run(signal));
  }
}

/** There may be thousands of nodes, so only the fields that count are kept. */
function reduceNode({ apiVersion, kind, metadata, ...node }: KubeObject): KubeObject {
  const { name, uid, resourceVersion } = metadata;
  const { unschedulable } = (node['spec'] ?? {}) as { readonly unschedulable?: boolean };
  const { capacity, allocatable } = (node['status'] ?? {}) as Readonly<Record<string, unknown>>;
  return {
    apiVersion,
    kind,
    metadata: { name, uid, resourceVersion },
    spec: { unschedulable },
    status: { capacity, allocatable },
  };
}
