import {
  ADDON_PLACEMENT_SCORE,
  apiVersionOf,
  type KindInfo,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
} from '@berth/kube/model/kinds';
import { namespacedName, objectIdentity } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import { DEFAULT_SET } from '@berth/ocm/admission/complete-cluster';
import { inDefaultSet } from '@berth/ocm/registration/default-sets';
import type { ManagedCluster, Taint } from '@berth/ocm/kind/managed-cluster';
import type { Placement } from '@berth/ocm/kind/placement';
import { decisionOwner } from '@berth/placement/prior/published-clusters';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { placeObject, withRecordedStatus } from '../../sync/desired-object.ts';
import { compareText } from '@berth/runtime/text/compare-text';

/** The fields of an object that an overlay reads. */
interface Overlaid {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly spec?: object | undefined;
  readonly status?: unknown;
}

/**
 * The state of a hub after Git's objects are applied. Git owns the fields that it declares: specs, and for clusters
 * acceptance and taints. Labels and annotations are owned one by one. Decisions and the objects of others do not change,
 * and status only on a hub without agents.
 * @param git the objects of the source, as a snapshot
 * @param before the objects of the source at the present state of the hub; those that are not in `git` are deleted
 * @param writes whether the status that Git records is written, too
 */
export function overlaySnapshot(
  hub: Snapshot,
  git: Snapshot,
  before: Snapshot | undefined,
  writes: { readonly status: boolean } = { status: false },
): Snapshot {
  const clusterSets = overlay(hub.clusterSets, git.clusterSets, before?.clusterSets, { apply: withSpecOf });
  // If the set exists, the admission that adds its label exists, too.
  const hasDefaultSet = clusterSets.some(({ metadata }) => metadata.name === DEFAULT_SET);
  const admit = hasDefaultSet ? inDefaultSet : undefined;
  return {
    ...hub,
    placements: overlay(hub.placements, git.placements, before?.placements, { apply: withSpecOf }),
    clusters: overlay(hub.clusters, git.clusters, before?.clusters, {
      ...statusRules(writes, withOwnedSpecOf),
      admit,
    }),
    clusterSets,
    bindings: overlay(hub.bindings, git.bindings, before?.bindings, { apply: withSpecOf }),
    scores: overlay(hub.scores, git.scores, before?.scores, statusRules(writes, unchanged)),
  };
}

type Apply<T> = (live: T, wanted: T, earlier: T | undefined) => T;

interface WriteRules<T> {
  /** Computes the new spec of an existing object. */
  readonly apply: Apply<T>;
  /** Computes a new object. Default: as Git declares it. */
  readonly create?: ((wanted: T) => T) | undefined;
  /** Computes the status of an existing object. Default: it does not change. */
  readonly record?: ((written: T, wanted: T) => T) | undefined;
  /** Computes what the hub adds to each object that is written. */
  readonly admit?: ((written: T) => T) | undefined;
}

/** Sorted by namespace and name, as in the controller. */
function overlay<T extends Overlaid>(
  live: readonly T[],
  git: readonly T[],
  before: readonly T[] = [],
  { apply, create, record, admit }: WriteRules<T>,
): readonly T[] {
  const result = byKey(live);
  const earlier = byKey(before);
  const wanted = byKey(git);
  for (const key of earlier.keys()) if (!wanted.has(key)) result.delete(key);
  for (const [key, object] of wanted) {
    const existing = result.get(key);
    const old = earlier.get(key);
    const admitted = (written: T): T => admit?.(written) ?? written;
    const recorded = (written: T): T => record?.(written, object) ?? written;
    const write = (live: T): T => admitted(recorded(withMetadataOf(apply(live, object, old), object, old)));
    if (existing === undefined) result.set(key, admitted(create?.(object) ?? object));
    else if (object !== old) result.set(key, writtenOnce(existing, [object, old, admit, record], write));
  }
  return [...result].sort(([a], [b]) => compareText(a, b)).map(([, object]) => object);
}

interface Written {
  /** What is written, what was applied before, and what the hub adds. */
  readonly from: readonly unknown[];
  readonly object: object;
}

/**
 * The last write to each object. Consecutive plans mostly make the same writes, and an object that is the same as in
 * the last plan need not be decided again.
 */
const WRITTEN = new WeakMap<object, Written>();

function writtenOnce<T extends Overlaid>(existing: T, from: Written['from'], write: (live: T) => T): T {
  const known = WRITTEN.get(existing);
  if (known?.from.every((one, at) => one === from[at]) === true) return known.object as T;
  const fresh = write(existing);
  const object = jsonEqual(known?.object, fresh) ? (known?.object as T) : fresh;
  WRITTEN.set(existing, { from, object });
  return object;
}

function byKey<T extends Overlaid>(objects: readonly T[]): Map<string, T> {
  return new Map(objects.map((object) => [namespacedName(object.metadata), object]));
}

/** On a hub with agents, a status in Git shows nothing. */
function statusRules<T extends Overlaid>(
  { status }: { readonly status: boolean },
  apply: Apply<T>,
): Pick<WriteRules<T>, 'apply' | 'create' | 'record'> {
  return status ? { apply, record: withStatusOf } : { apply, create: withoutStatus };
}

function unchanged<T>(live: T): T {
  return live;
}

function withStatusOf<T extends Overlaid>(written: T, { status: recorded }: T): T {
  const status = withRecordedStatus(written.status, recorded);
  return status === written.status ? written : { ...written, status };
}

function withoutStatus<T extends Overlaid>(wanted: T): T {
  if (wanted.status === undefined) return wanted;
  const { status: _status, ...rest } = wanted;
  return rest as T;
}

function withSpecOf<T extends Overlaid>(live: T, wanted: T): T {
  return { ...live, spec: wanted.spec };
}

function withOwnedSpecOf(
  live: ManagedCluster,
  wanted: ManagedCluster,
  earlier: ManagedCluster | undefined,
): ManagedCluster {
  const hubAcceptsClient = wanted.spec?.hubAcceptsClient ?? live.spec?.hubAcceptsClient;
  const taints = mergeTaints(live.spec?.taints ?? [], wanted.spec?.taints ?? [], earlier?.spec?.taints ?? []);
  return { ...live, spec: { ...live.spec, hubAcceptsClient, taints } };
}

/** A taint that the hub already has keeps its time. */
function mergeTaints(
  live: readonly Taint[],
  wanted: readonly Taint[],
  earlier: readonly Taint[],
): readonly Taint[] {
  const same = (a: Taint) => (b: Taint) => a.key === b.key && a.effect === b.effect;
  const ofOthers = live.filter((taint) => !wanted.some(same(taint)) && !earlier.some(same(taint)));
  const owned = wanted.map((taint) => {
    const existing = live.find((known) => same(taint)(known) && (known.value ?? '') === (taint.value ?? ''));
    return existing ?? taint;
  });
  return [...ofOthers, ...owned];
}

function withMetadataOf<T extends Overlaid>(live: T, wanted: T, earlier: T | undefined): T {
  const labels = mergeText(live.metadata.labels, wanted.metadata.labels, earlier?.metadata.labels);
  const { annotations: wantedNotes } = wanted.metadata;
  const annotations = mergeText(live.metadata.annotations, wantedNotes, earlier?.metadata.annotations);
  return { ...live, metadata: { ...live.metadata, labels, annotations } };
}

function mergeText(
  live: Readonly<Record<string, string>> = {},
  wanted: Readonly<Record<string, string>> = {},
  earlier: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const others = Object.entries(live).filter(([key]) => !Object.hasOwn(earlier, key));
  return Object.fromEntries([...others, ...Object.entries(wanted)]);
}

/** The published pages, by whether their placement exists. */
export interface LastingDecisions {
  /** Also those without an owner. A placement of the same name that the change adds starts without the others. */
  readonly lasting: Snapshot['decisions'];
  /**
   * Of placements that Git declares and the hub does not have, because it refuses them and somebody deleted what it had. They stay
   * published and count for no other decision, until the hub accepts the placement.
   */
  readonly kept: Snapshot['decisions'];
}

/**
 * The published pages without those that the hub deletes, because their placement does not exist.
 * @param placements those of the hub, and those that the hub has of Git before the change
 * @param declared all that Git declares before the change
 */
export function lastingDecisions(
  pages: Snapshot['decisions'],
  placements: readonly Placement[],
  declared: readonly Pick<SourceObject, 'object'>[],
): LastingDecisions {
  const keys = new Set(placements.map(({ metadata }) => namespacedName(metadata)));
  const isOrphan = (page: Snapshot['decisions'][number]): boolean => {
    const owner = decisionOwner(page);
    return owner !== undefined && !keys.has(owner);
  };
  const orphans = pages.filter(isOrphan);
  // Caches are keyed by the list, so an unchanged list is returned as it is.
  if (orphans.length === 0) return { lasting: pages, kept: [] };
  const inGit = new Set(
    declared.flatMap(({ object }) =>
      object.kind === PLACEMENT.kind ? [namespacedName(placeObject(object, PLACEMENT).metadata)] : [],
    ),
  );
  return {
    lasting: pages.filter((page) => !isOrphan(page)),
    kept: orphans.filter((page) => inGit.has(decisionOwner(page) ?? '')),
  };
}

const KINDS = {
  placements: PLACEMENT,
  clusters: MANAGED_CLUSTER,
  clusterSets: MANAGED_CLUSTER_SET,
  bindings: MANAGED_CLUSTER_SET_BINDING,
  scores: ADDON_PLACEMENT_SCORE,
} as const;

/**
 * The snapshot without some objects; their decisions stay.
 * @param gone identities, see `objectIdentity`
 */
export function snapshotWithout(snapshot: Snapshot, gone: ReadonlySet<string>): Snapshot {
  if (gone.size === 0) return snapshot;
  // Items of a list from a hub have no kind.
  const isGone = (kind: KindInfo, metadata: Snapshot['placements'][number]['metadata']): boolean => {
    const { namespace = '', name } = metadata;
    return gone.has(objectIdentity({ apiVersion: apiVersionOf(kind), kind: kind.kind, namespace, name }));
  };
  return {
    ...snapshot,
    placements: snapshot.placements.filter(({ metadata }) => !isGone(KINDS.placements, metadata)),
    clusters: snapshot.clusters.filter(({ metadata }) => !isGone(KINDS.clusters, metadata)),
    clusterSets: snapshot.clusterSets.filter(({ metadata }) => !isGone(KINDS.clusterSets, metadata)),
    bindings: snapshot.bindings.filter(({ metadata }) => !isGone(KINDS.bindings, metadata)),
    scores: snapshot.scores.filter(({ metadata }) => !isGone(KINDS.scores, metadata)),
  };
}
