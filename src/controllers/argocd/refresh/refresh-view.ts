import type { ObjectCache } from '@berth/kube/cache/object-cache';
import type { Reflector } from '@berth/kube/cache/reflector';
import { APPLICATION_SET } from '../../../core/argocd/argocd-kinds.ts';
import { type DecisionUse, decisionUses } from '../../../core/argocd/refresh/decision-use.ts';
import { type GeneratorConfigs, generatorConfigs } from '../../../core/argocd/refresh/generator-config.ts';
import { type SeenDecisions, seenDecisions } from '../../../core/argocd/refresh/seen-digest.ts';
import { servedText } from '../../../core/argocd/waves/served-waves.ts';
import { CONFIG_MAP, PLACEMENT_DECISION } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { PublishedPlacements } from '../../../core/publish/pages/published-placements.ts';
import { sha256 } from '@berth/runtime/sha256';
import { DecisionView } from '../../publication/decision-view.ts';

export interface RefreshViewOptions {
  readonly cache: ObjectCache;
  readonly published: PublishedPlacements;
  readonly argocdNamespace: string;
  /** Names of the ConfigMaps whose `baseUrl` is Berth. */
  readonly pluginConfigMaps: readonly string[];
}

/** Finds out which ApplicationSets read which published decisions, from the state in memory. */
export class RefreshView {
  readonly applicationSets: Reflector;
  readonly configMaps: Reflector;
  readonly decisions: Reflector;
  readonly #options: RefreshViewOptions;
  readonly #pages: DecisionView;
  readonly #uses = new WeakMap<KubeObject, readonly DecisionUse[]>();
  #configs: GeneratorConfigs | undefined;

  constructor(options: RefreshViewOptions) {
    const { cache } = options;
    this.#options = options;
    this.applicationSets = cache.of(APPLICATION_SET);
    this.configMaps = cache.of(CONFIG_MAP);
    this.decisions = cache.of(PLACEMENT_DECISION);
    this.#pages = new DecisionView(this.decisions.store);
    this.configMaps.store.onChange(() => (this.#configs = undefined));
  }

  /** Names (`namespace/name`) of the ApplicationSets with a generator for decisions. */
  readers(): readonly string[] {
    return this.applicationSets.store
      .list()
      .filter((object) => this.#usesOf(object).length > 0)
      .map(({ metadata }) => namespacedName(metadata));
  }

  /** Names of the ApplicationSets that read this placement (`namespace/name`), if it is published. */
  readersOf(placement: string): readonly string[] {
    const published = this.#options.published.get(placement);
    if (published === undefined) return [];
    return this.applicationSets.store
      .list()
      .filter((object) => this.#seen(object, [published]).digest !== undefined)
      .map(({ metadata }) => namespacedName(metadata));
  }

  applicationSet(key: string): KubeObject | undefined {
    return this.applicationSets.store.get(key);
  }

  /** What the ApplicationSet reads from all published decisions. */
  seenBy(object: KubeObject): SeenDecisions {
    return this.#seen(object, this.#options.published.list());
  }

  #seen(object: KubeObject, published: Parameters<typeof seenDecisions>[1]): SeenDecisions {
    this.#configs ??= generatorConfigs(this.configMaps.store.list(), this.#options.pluginConfigMaps);
    const seen = seenDecisions(this.#usesOf(object), published, {
      configs: this.#configs,
      argocdNamespace: this.#options.argocdNamespace,
      pagesOf: (placement) => this.#pages.pagesOf(placement).map(({ metadata }) => metadata),
      digest: sha256,
    });
    const served = servedText(object.metadata.annotations);
    if (served === '' || seen.digest === undefined) return seen;
    // Generators get another response for the same decision when another wave is served.
    return { ...seen, digest: sha256(`${seen.digest} ${served}`).slice(0, 12) };
  }

  #usesOf(object: KubeObject): readonly DecisionUse[] {
    const known = this.#uses.get(object);
    if (known !== undefined) return known;
    const uses = decisionUses(object['spec']);
    this.#uses.set(object, uses);
    return uses;
  }
}
