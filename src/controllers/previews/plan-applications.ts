import { identityOf } from '@berth/kube/model/object-ref';
import { decisionUses, type DecisionUse } from '../../core/argocd/refresh/decision-use.ts';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { PlacementDecision } from '@berth/ocm/kind/placement-decision';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { applicationSetPlacements } from '../../core/preview/application-set-placements.ts';
import {
  applicationChanges,
  type RenderedApplication,
  syncRights,
} from '../../core/preview/effects/application-changes.ts';
import { decisionPages } from '../../core/preview/effects/decision-pages.ts';
import type { ApplicationSetPlan } from '../../core/preview/effects/plan-effects.ts';
import type { PlanSide } from '../../core/preview/plan-input.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { NotRendered } from '@berth/applicationset/failure/failures';
import { ApplicationGenerator, type Generated } from '@berth/applicationset/generate-applications';
import type { GeneratorInputs } from '@berth/applicationset/inputs/generator-inputs';
import type { JsonValue } from '@berth/applicationset/json/json-value';
import { sameEntries, decisionOwner } from '@berth/placement/prior/published-clusters';
import { groupBy } from '@berth/runtime/lists/group-by';
import type { RenderedSets } from './rendered-sets.ts';

/** The context for rendering ApplicationSets. */
export interface ApplicationContext {
  readonly argocdNamespace: string;
  /** Whether the controller writes reasons to PlacementDecisions. Default: no. */
  readonly hasReasons?: boolean | undefined;
  /** What generators read on one side of the change: the published decisions, and objects of Git and of the hub. */
  readonly inputsOf: (snapshot: Snapshot, objects: readonly KubeObject[]) => GeneratorInputs;
  /**
   * ApplicationSets, ConfigMaps and cluster Secrets of Argo CD on the hub. If Git declares one of them, Git takes
   * precedence.
   */
  readonly onHub: readonly KubeObject[];
}

/** The kinds that generators read in the namespace of Argo CD. */
const ARGO_KINDS: ReadonlySet<string> = new Set(['ConfigMap', 'Secret']);

/**
 * The Applications that ApplicationSets generate from the decisions before and after. Only those ApplicationSets are
 * rendered that changed, or that read a decision, a cluster, or a ConfigMap or Secret of Argo CD that changed.
 */
export function planApplications(
  base: PlanSide,
  head: PlanSide,
  context: ApplicationContext,
  rendered?: RenderedSets,
): readonly ApplicationSetPlan[] {
  const [before, after] = [new RenderedSide(base, context), new RenderedSide(head, context)];
  const keys = [...new Set([...before.sets.keys(), ...after.sets.keys()])].sort();
  if (keys.length === 0) return [];
  const change = changeOf(before, after);
  return keys.flatMap((key) => {
    const [old, now] = [before.sets.get(key), after.sets.get(key)];
    const own = ownChange(old, now);
    const set = now ?? old;
    if (set === undefined || (own === 'unchanged' && !change.mayAffect(set))) return [];
    const isSame = old !== undefined && now !== undefined && jsonEqual(old, now);
    const generator = new LazyGenerator(set, (now === undefined ? before : after).originalOf(set), rendered);
    const other = old && new LazyGenerator(old, before.originalOf(old), rendered);
    return (
      planSet(set, own, [
        other && before.render(isSame ? generator : other),
        now && after.render(generator),
      ]) ?? []
    );
  });
}

/** Parses the ApplicationSet when it is first rendered, because it may never be. */
class LazyGenerator {
  readonly #set: KubeObject;
  readonly #original: KubeObject;
  readonly #rendered: RenderedSets | undefined;
  #generator: ApplicationGenerator | undefined;

  /** @param rendered absent: what is rendered is forgotten with this generator */
  constructor(set: KubeObject, original: KubeObject, rendered: RenderedSets | undefined) {
    this.#set = set;
    this.#original = original;
    this.#rendered = rendered;
  }

  generate(inputs: GeneratorInputs): Generated {
    this.#generator ??=
      this.#rendered?.generatorOf(this.#original, this.#set) ??
      new ApplicationGenerator(this.#set as unknown as JsonValue);
    return this.#generator.generate(inputs);
  }
}

type Rendered =
  | { readonly applications: readonly RenderedApplication[] }
  | { readonly failure: string }
  | { readonly notRendered: string };

/** One side of a plan, as ApplicationSets read it. */
class RenderedSide {
  readonly sets: ReadonlyMap<string, KubeObject>;
  readonly snapshot: Snapshot;
  /** Objects that generators may read in addition to decisions. */
  readonly objects: readonly KubeObject[];
  readonly #inputsOf: ApplicationContext['inputsOf'];
  /** For each ApplicationSet of `sets`, the object as Git or the hub has it. */
  readonly #originals = new Map<KubeObject, KubeObject>();
  #inputs: GeneratorInputs | undefined;

  constructor(side: PlanSide, { argocdNamespace, hasReasons, onHub, inputsOf }: ApplicationContext) {
    const { results, published, snapshot } = side;
    const clusters = hasReasons === true ? snapshot.clusters : undefined;
    const decisions = decisionPages({ results, published, existing: snapshot.decisions, clusters });
    this.snapshot = { ...snapshot, decisions };
    this.#inputsOf = inputsOf;
    const inArgo = (object: KubeObject): KubeObject => ({
      ...object,
      metadata: { ...object.metadata, namespace: object.metadata.namespace ?? argocdNamespace },
    });
    // Generators read only the ConfigMaps and Secrets in the namespace of Argo CD, of thousands.
    const isRead = (object: KubeObject): boolean =>
      isApplicationSet(object) ||
      (object.apiVersion === 'v1' &&
        ARGO_KINDS.has(object.kind) &&
        (object.metadata.namespace ?? argocdNamespace) === argocdNamespace);
    const applied = (side.onHub ?? side.objects).map(({ object }) => object);
    const declared = (side.declared ?? []).map(({ object }) => object);
    const own = [...applied, ...declared].filter(isRead);
    const byKey = new Map([...onHub, ...own.reverse()].map((object) => [identityOf(inArgo(object)), object]));
    const all = [...byKey.values()].map((object) => {
      const complete = inArgo(object);
      if (isApplicationSet(object)) this.#originals.set(complete, object);
      return complete;
    });
    this.sets = new Map(all.filter(isApplicationSet).map((set) => [identityOf(set), set]));
    this.objects = all.filter(
      ({ kind, metadata }) => ARGO_KINDS.has(kind) && metadata.namespace === argocdNamespace,
    );
  }

  /** The object that an ApplicationSet of this side was read from. */
  originalOf(set: KubeObject): KubeObject {
    return this.#originals.get(set) ?? set;
  }

  render(generator: LazyGenerator): Rendered {
    this.#inputs ??= this.#inputsOf(this.snapshot, this.objects);
    try {
      const generated = generator.generate(this.#inputs);
      return 'error' in generated ? { failure: generated.error } : { applications: generated.applications };
    } catch (error) {
      if (error instanceof NotRendered) return { notRendered: error.message };
      throw error;
    }
  }
}

function isApplicationSet({ apiVersion, kind }: KubeObject): boolean {
  return kind === 'ApplicationSet' && apiVersion.startsWith('argoproj.io/');
}

function ownChange(old: KubeObject | undefined, now: KubeObject | undefined): ApplicationSetPlan['change'] {
  if (old === undefined) return 'created';
  if (now === undefined) return 'deleted';
  const isSame = jsonEqual(old['spec'] ?? null, now['spec'] ?? null);
  return isSame ? 'unchanged' : 'changed';
}

/** The plan of one ApplicationSet; undefined if nothing changes for it. */
function planSet(
  set: KubeObject,
  change: ApplicationSetPlan['change'],
  [old, now]: readonly [Rendered | undefined, Rendered | undefined],
): ApplicationSetPlan | undefined {
  const { syncPolicy = {} } = (set['spec'] ?? {}) as { readonly syncPolicy?: SyncPolicy };
  const about = {
    namespace: set.metadata.namespace ?? '',
    name: set.metadata.name,
    change,
    placements: applicationSetPlacements(set),
    ...(syncPolicy.preserveResourcesOnDeletion === true ? { preserves: true as const } : {}),
  };
  const unknown = [now, old].find((side) => side !== undefined && 'notRendered' in side);
  if (unknown !== undefined && 'notRendered' in unknown)
    return { ...about, applications: [], kept: 0, notRendered: unknown.notRendered };
  const before = old !== undefined && 'applications' in old ? old.applications : [];
  // If rendering fails, Argo CD leaves the Applications unchanged.
  if (now !== undefined && 'failure' in now) {
    const isNew = change !== 'unchanged' || (old !== undefined && 'applications' in old);
    return isNew ? { ...about, applications: [], kept: before.length, failure: now.failure } : undefined;
  }
  const after = now !== undefined && 'applications' in now ? now.applications : [];
  const rights = now === undefined ? OWNER_GONE : syncRights(syncPolicy.applicationsSync);
  const { changes, kept } = applicationChanges(before, after, rights);
  if (change === 'unchanged' && changes.length === 0) return undefined;
  return { ...about, applications: changes, kept };
}

interface SyncPolicy {
  readonly applicationsSync?: unknown;
  readonly preserveResourcesOnDeletion?: unknown;
}

/** Kubernetes deletes the dependents of a deleted ApplicationSet, whatever its sync policy says. */
const OWNER_GONE = { updates: true, deletes: true };

/** What changed among the inputs of generators. */
interface InputChange {
  /** Whether an ApplicationSet that is the same on both sides may generate other Applications. */
  readonly mayAffect: (set: KubeObject) => boolean;
}

function changeOf(before: RenderedSide, after: RenderedSide): InputChange {
  const [old, now] = [pagesByOwner(before.snapshot.decisions), pagesByOwner(after.snapshot.decisions)];
  const clusters = changedClusters(before.snapshot, after.snapshot);
  const owners = new Set<string>();
  for (const key of new Set([...old.keys(), ...now.keys()]))
    if (
      !samePages(old.get(key), now.get(key)) ||
      (clusters.size > 0 && listsOneOf(now.get(key) ?? [], clusters))
    )
      owners.add(key);
  const configured = !jsonEqual(dataOf(before.objects), dataOf(after.objects));
  return {
    mayAffect: (set) =>
      configured ||
      (clusters.size > 0 && usesClusters(set['spec'])) ||
      decisionUses(set['spec']).some((use) => readsOneOf(use, set, owners)),
  };
}

function readsOneOf(use: DecisionUse, set: KubeObject, owners: ReadonlySet<string>): boolean {
  if (use.kind === 'plugin') {
    if (use.placement.includes('{{')) return owners.size > 0;
    const { namespace = '' } = set.metadata;
    const key = use.placement.includes('/') ? use.placement : `${namespace}/${use.placement}`;
    return owners.has(key);
  }
  const name = use.selector?.matchLabels?.[PLACEMENT_LABEL];
  const isOpen = name === undefined || name.includes('{{');
  return [...owners].some((owner) => isOpen || owner.endsWith(`/${name}`));
}

/** Names of clusters that were added, removed or changed, in their own object or in their scores. */
function changedClusters(before: Snapshot, after: Snapshot): ReadonlySet<string> {
  const changed = new Set<string>();
  const old = new Map(before.clusters.map((cluster) => [cluster.metadata.name, cluster]));
  for (const cluster of after.clusters) {
    const { name } = cluster.metadata;
    const existing = old.get(name);
    old.delete(name);
    if (!jsonEqual(existing, cluster)) changed.add(name);
  }
  for (const name of old.keys()) changed.add(name);
  const scores = new Set(before.scores);
  for (const score of after.scores) if (!scores.delete(score)) changed.add(score.metadata.namespace ?? '');
  for (const { metadata } of scores) changed.add(metadata.namespace ?? '');
  return changed;
}

function listsOneOf(pages: readonly PlacementDecision[], clusters: ReadonlySet<string>): boolean {
  return pages.some(({ status }) =>
    (status?.decisions ?? []).some(({ clusterName }) => clusters.has(clusterName)),
  );
}

function pagesByOwner(
  decisions: readonly PlacementDecision[],
): ReadonlyMap<string, readonly PlacementDecision[]> {
  return groupBy(decisions, (page) => decisionOwner(page) ?? '');
}

type Pages = readonly PlacementDecision[];

/** Whether generators read the same from both lists. */
function samePages(old: Pages = [], now: Pages = []): boolean {
  return old.length === now.length && old.every((page, at) => samePage(page, now[at] as PlacementDecision));
}

function samePage(old: PlacementDecision, now: PlacementDecision): boolean {
  if (old === now) return true;
  if (!jsonEqual(old.metadata.labels, now.metadata.labels)) return false;
  return sameEntries(old, now) ?? jsonEqual(old.status?.decisions ?? [], now.status?.decisions ?? []);
}

function dataOf(objects: readonly KubeObject[]): unknown {
  return objects.map((object) => [
    identityOf(object),
    object.metadata.labels,
    object['data'],
    object['stringData'],
  ]);
}

/** Whether the clusters generator is used, also inside matrix and merge generators. */
function usesClusters(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(usesClusters);
  if (typeof value !== 'object' || value === null) return false;
  const { generators, clusters, matrix, merge } = value as Readonly<Record<string, unknown>>;
  return clusters !== undefined || [generators, matrix, merge].some(usesClusters);
}
