import type { IndexDefinition, ObjectCache } from '@berth/kube/cache/object-cache';
import type { Reflector } from '@berth/kube/cache/reflector';
import { APPLICATION, APPLICATION_SET, asApplication } from '../../../core/argocd/argocd-kinds.ts';
import { hostingSet } from '../../../core/argocd/pull/pull-target.ts';
import {
  decisionUses,
  type GeneratorConfigs,
  generatorConfigs,
} from '../../../core/argocd/refresh/decision-use.ts';
import {
  type ApplicationsByCluster,
  applicationsByCluster,
} from '../../../core/argocd/waves/cluster-health.ts';
import {
  readServedWaves,
  type ServedWaves,
  servedWaves,
  type WaveCandidate,
  type WaveReading,
  type WavesRequest,
} from '../../../core/argocd/waves/served-waves.ts';
import { WAVES_ANNOTATION } from '../../../core/argocd/waves/wave-state.ts';
import { waveUses, type WaveUses } from '../../../core/argocd/waves/wave-rule.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { CONFIG_MAP, MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import { refusedKindText } from '@berth/kube/cache/reflector-options';
import { SERVE_RIGHTS } from '../../../core/rbac/rights-command.ts';

export interface WaveViewOptions {
  readonly cache: ObjectCache;
  /** Names of the ConfigMaps whose `baseUrl` is Berth. */
  readonly pluginConfigMaps: readonly string[];
  /** After this time without confirmation by the hub, the health of Applications counts as unknown. */
  readonly staleAfterMs: number;
}

/** By name only, because requests of Argo CD do not contain the namespace. */
const SETS_BY_NAME: IndexDefinition = { kind: APPLICATION_SET, keysOf: ({ metadata }) => metadata.name };
/** By `namespace/name` of the ApplicationSet that generated it. */
const APPLICATIONS_BY_SET: IndexDefinition = {
  kind: APPLICATION,
  keysOf: ({ metadata }) => hostingSet(metadata),
};

/**
 * Finds out which ApplicationSets take placements in waves, and how healthy their Applications are, from the state in
 * memory.
 */
export class WaveView {
  readonly applicationSets: Reflector;
  readonly applications: Reflector;
  readonly configMaps: Reflector;
  readonly clusters: Reflector;
  readonly #options: WaveViewOptions;
  readonly #setsByName;
  readonly #applicationsBySet;
  #uses = new WeakMap<KubeObject, WaveUses>();
  #configs: GeneratorConfigs | undefined;
  /** By `namespace/name` of the ApplicationSet. The same text gives the same map object. */
  readonly #parsed = new Map<
    string,
    { readonly text: string; readonly waves: ReturnType<typeof servedWaves> }
  >();

  constructor(options: WaveViewOptions) {
    const { cache } = options;
    this.#options = options;
    this.applicationSets = cache.of(APPLICATION_SET);
    this.applications = cache.of(APPLICATION);
    this.configMaps = cache.of(CONFIG_MAP);
    this.clusters = cache.of(MANAGED_CLUSTER);
    this.#setsByName = cache.index(SETS_BY_NAME);
    this.#applicationsBySet = cache.index(APPLICATIONS_BY_SET);
    this.configMaps.store.onChange(() => {
      this.#configs = undefined;
      this.#uses = new WeakMap();
    });
    this.applicationSets.store.onChange(({ key, after }) => {
      if (after === undefined) this.#parsed.delete(key);
    });
  }

  get reflectors(): readonly Reflector[] {
    return [this.applicationSets, this.applications, this.configMaps, this.clusters];
  }

  applicationSet(key: string): KubeObject | undefined {
    return this.applicationSets.store.get(key);
  }

  /**
   * Names (`namespace/name`) of the ApplicationSets that have waves, or had them.
   * @param placement only those that use this placement in waves
   */
  setsWithWaves(placement?: string): readonly string[] {
    return this.applicationSets.store
      .list()
      .filter((object) => {
        const { rules, refused } = this.usesOf(object);
        if (placement !== undefined) return rules.has(placement);
        return rules.size + refused.size > 0 || object.metadata.annotations?.[WAVES_ANNOTATION] !== undefined;
      })
      .map(({ metadata }) => namespacedName(metadata));
  }

  usesOf(object: KubeObject): WaveUses {
    const known = this.#uses.get(object);
    if (known !== undefined) return known;
    this.#configs ??= generatorConfigs(this.configMaps.store.list(), this.#options.pluginConfigMaps);
    const uses = waveUses(decisionUses(object['spec']), this.#configs.plugins);
    this.#uses.set(object, uses);
    return uses;
  }

  applicationsOf({ metadata }: KubeObject): ApplicationsByCluster {
    const own = this.#applicationsBySet
      .get(namespacedName(metadata))
      .filter(({ metadata: { ownerReferences = [] } }) =>
        ownerReferences.some(({ uid }) => uid === metadata.uid),
      )
      .map(asApplication);
    return applicationsByCluster(
      own,
      () => this.clusters.store.list() as unknown as readonly ManagedCluster[],
    );
  }

  /** Why the health of Applications is unknown. */
  healthProblem(): string | undefined {
    const { kind, failure } = this.applications;
    if (failure !== undefined) return refusedKindText(kind, failure, SERVE_RIGHTS);
    const staleMs = this.applications.stalenessMs();
    if (staleMs <= this.#options.staleAfterMs) return undefined;
    return `Applications were last confirmed ${Math.round(staleMs / 1000)} s ago`;
  }

  readWaves(request: WavesRequest): WaveReading {
    const candidates = this.#setsByName
      .get(request.applicationSet)
      .flatMap((object): readonly WaveCandidate[] => {
        const rule = this.usesOf(object).rules.get(request.placement);
        const { namespace = '', annotations = {} } = object.metadata;
        return rule === undefined ? [] : [{ namespace, rule, written: annotations[WAVES_ANNOTATION] }];
      });
    return readServedWaves(request, candidates, (text, namespace) =>
      this.#parse(`${namespace}/${request.applicationSet}`, text),
    );
  }

  #parse(key: string, text: string): ReadonlyMap<string, ServedWaves> | undefined {
    const known = this.#parsed.get(key);
    if (known?.text === text) return known.waves;
    const waves = servedWaves(text);
    this.#parsed.set(key, { text, waves });
    return waves;
  }
}
