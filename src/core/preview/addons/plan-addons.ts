import {
  isClusterManagementAddOn,
  isManagedHere,
  readAddOn,
  readClusterAddOn,
} from '@berth/addon/rules/addon-versions';
import {
  apiVersionOf,
  CLUSTER_MANAGEMENT_ADDON,
  MANAGED_CLUSTER_ADDON,
  PLACEMENT_DECISION,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { identityOf, namespacedName } from '@berth/kube/model/object-ref';
import type { InstallPlacement, ManagedClusterAddOn } from '@berth/ocm/kind/addon';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { decisionOwner } from '@berth/placement/prior/published-clusters';
import { compareText } from '@berth/runtime/text/compare-text';
import { judgeAddOnRemovals, leavingClusters } from '../../addon/install/held-removal.ts';
import { type PlacementSelection, planInstall } from '@berth/addon/rules/plan-install';
import type { Digest } from '../../publish/approval/approval-code.ts';
import type { Removal, RemovalBudget } from '../../publish/judge/removal-budget.ts';
import type { PlacedWorkload, PlanSide } from '../plan-input.ts';
import type { HeldAddOn, Plan, WaitingChange } from '../plan.ts';
import { addOnPlacements } from '../workload-plans.ts';

/** What a hub has of add-ons. */
export interface HubAddOns {
  /** ClusterManagementAddOns. */
  readonly managed: readonly KubeObject[];
  /** ManagedClusterAddOns. */
  readonly installed: readonly KubeObject[];
  /** AddOnTemplates and AddOnDeploymentConfigs, as far as they can be read. */
  readonly configs: readonly KubeObject[];
}

/** How Berth's manager of add-ons judges. */
export interface AddOnJudging {
  readonly budget: RemovalBudget;
  /** Earlier removals of an add-on. */
  readonly removalsOf: (addOn: string) => readonly Removal[];
  readonly digest: Digest;
  readonly nowMs: number;
}

export interface AddOnPlanInput {
  /** Without the merge, and with it. */
  readonly sides: readonly [before: PlanSide, after: PlanSide];
  /** Undefined without a hub: each add-on is on the clusters of its placements. */
  readonly hub: HubAddOns | undefined;
  /** Undefined: something else manages add-ons, and removes them at once. */
  readonly judging: AddOnJudging | undefined;
}

/** The two sides with their add-ons, and what becomes of these. */
export interface AddOnFutures extends Pick<PlannedAddOns, 'waiting'> {
  readonly before: PlanSide;
  readonly after: PlanSide;
  /** @param placements `namespace/name` of those that are held: what their approval takes away may be held, too */
  readonly held: (placements: readonly string[]) => PlannedAddOns['held'];
  /** @returns a new course of events, from the merge on */
  readonly begin: () => AddOnCourse;
}

export function addOnFutures(input: AddOnPlanInput): AddOnFutures {
  const planned = planAddOns(input);
  const [before, after] = input.sides;
  return {
    before: { ...before, addOns: planned.before },
    after: { ...after, addOns: planned.after },
    waiting: planned.waiting,
    begin: () => new AddOnCourse(planned.followed, input.judging),
    held: (placements) => {
      if (placements.length === 0) return planned.held;
      const approved = planAddOns({ ...input, sides: [before, asApproved(after, new Set(placements))] }).held;
      const others = approved.filter(({ token }) => planned.held.every((one) => one.token !== token));
      return [...planned.held, ...others.map(ifApproved)];
    },
  };
}

/** As if these placements, which are held, were approved. */
function asApproved(side: PlanSide, held: ReadonlySet<string>): PlanSide {
  const decided = side.results
    .map(({ placement, selected }) => [namespacedName(placement.metadata), selected] as const)
    .filter(([key]) => held.has(key));
  return { ...side, published: new Map([...(side.published ?? []), ...decided]) };
}

function ifApproved(held: HeldAddOn): HeldAddOn {
  return { ...held, ifApproved: true, message: `When the held placements are approved, ${held.message}` };
}

export interface PlannedAddOns {
  /** By identity of the ClusterManagementAddOn: where its add-on is. */
  readonly before: ReadonlyMap<string, PlacedWorkload>;
  readonly after: ReadonlyMap<string, PlacedWorkload>;
  readonly held: readonly HeldAddOn[];
  readonly waiting: readonly WaitingChange[];
  /** Those that are there without the merge, and with it. */
  readonly followed: readonly [without: readonly FollowedAddOn[], merged: readonly FollowedAddOn[]];
}

/**
 * Which clusters get and lose add-ons by a merge, with the rules and the judge of the controller: first as it goes on without the
 * merge, then from there with it. What is held just so without the merge waits for something else, and is no part of it.
 */
export function planAddOns({ sides: [before, after], hub, judging }: AddOnPlanInput): PlannedAddOns {
  const [old, now] = [addOnsOf(before, hub, [before, after]), addOnsOf(after, hub, [before, after])];
  const placed = [new Map<string, PlacedWorkload>(), new Map<string, PlacedWorkload>()] as const;
  const followed: [FollowedAddOn[], FollowedAddOn[]] = [[], []];
  const held: HeldAddOn[] = [];
  const waiting: WaitingChange[] = [];
  const [selectBefore, selectAfter] = [new Selections(before), new Selections(after)];
  for (const name of [...new Set([...old.keys(), ...now.keys()])].sort(compareText)) {
    const objects = [old.get(name), now.get(name)] as const;
    const installed = hub === undefined ? predicted(objects[0], selectBefore) : installedOf(hub, name);
    const isPlaced = objects.some((object) => object !== undefined && addOnPlacements(object).length > 0);
    // Those that people install are known only on a hub.
    if (!isPlaced && installed.size === 0) continue;
    const start = { installed, removals: judging?.removalsOf(name) ?? [] };
    const without = objects[0] === undefined ? undefined : follow(objects[0], selectBefore, start, judging);
    const then = without ?? start;
    const merged = objects[1] === undefined ? undefined : follow(objects[1], selectAfter, then, judging);
    for (const [at, one] of [without, merged].entries()) if (one !== undefined) followed[at]?.push(one);
    for (const [at, state] of [then, merged].entries()) {
      const object = objects[at];
      if (object === undefined || state === undefined) continue;
      const clusters = [...state.installed.keys()].sort(compareText);
      placed[at]?.set(identityOf(object), { object, placements: addOnPlacements(object), clusters });
    }
    const isWaiting = without?.held !== undefined && without.held.token === merged?.held?.token;
    if (merged?.held !== undefined && !isWaiting) held.push(merged.held);
    waiting.push(...waitingOf(name, without, isWaiting));
  }
  return { before: placed[0], after: placed[1], held, waiting, followed };
}

/** The ClusterManagementAddOns of a side by name: those of Git, and those that only the hub has. */
function addOnsOf(
  { onHub, objects }: PlanSide,
  hub: HubAddOns | undefined,
  sides: readonly PlanSide[],
): ReadonlyMap<string, KubeObject> {
  const inGit = new Set(sides.flatMap((side) => managedIn(side.onHub ?? side.objects).map(nameOf)));
  const others = (hub?.managed ?? []).filter((object) => !inGit.has(nameOf(object)));
  return new Map([...others, ...managedIn(onHub ?? objects)].map((object) => [nameOf(object), object]));
}

function managedIn(objects: readonly { readonly object: KubeObject }[]): readonly KubeObject[] {
  return objects.flatMap(({ object }) => (isClusterManagementAddOn(object) ? [object] : []));
}

/** The add-ons that stay, and that clusters lose by a plan. */
export function lostAddOns(workloads: Plan['workloads']): Plan['workloads'] {
  return workloads.filter(
    ({ kind, change, removed }) =>
      kind === CLUSTER_MANAGEMENT_ADDON.kind && change !== 'deleted' && removed.length > 0,
  );
}

function nameOf({ metadata }: KubeObject): string {
  return metadata.name;
}

/** By cluster. */
type Installed = ReadonlyMap<string, ManagedClusterAddOn>;

/** Those that are not being deleted. */
function installedOf({ installed }: HubAddOns, name: string): Installed {
  return new Map(
    installed
      .filter(({ metadata }) => metadata.name === name && metadata.deletionTimestamp === undefined)
      .map((object) => [object.metadata.namespace ?? '', readClusterAddOn(object)]),
  );
}

function predicted(object: KubeObject | undefined, selections: Selections): Installed {
  if (object === undefined) return new Map();
  const clusters = addOnPlacements(object).flatMap((key) => selections.clustersOf(key));
  return new Map(clusters.map((cluster) => [cluster, installedOn(cluster, object.metadata.name)]));
}

/** An add-on that the hub does not have yet. */
export function installedOn(namespace: string, name: string): ManagedClusterAddOn {
  const apiVersion = apiVersionOf(MANAGED_CLUSTER_ADDON);
  return { apiVersion, kind: 'ManagedClusterAddOn', metadata: { namespace, name }, spec: {} };
}

/** What is decided and published on a side. */
type SelectionSide = Pick<PlanSide, 'snapshot' | 'results' | 'published'>;

/** What the placements of a side select. */
export class Selections {
  readonly #side: SelectionSide;
  readonly #placements: ReadonlySet<string>;
  readonly #decided: ReadonlySet<string>;
  readonly #clusters: ReadonlyMap<string, ManagedCluster>;

  constructor(side: SelectionSide) {
    const { snapshot, results } = side;
    this.#side = side;
    this.#placements = new Set(snapshot.placements.map(({ metadata }) => namespacedName(metadata)));
    this.#decided = new Set([
      ...snapshot.decisions.map((page) => decisionOwner(page) ?? ''),
      // A decision without clusters may have no page yet.
      ...results
        .filter(({ outcome, selected }) => outcome !== 'skipped' && selected.length === 0)
        .map(({ placement }) => namespacedName(placement.metadata)),
    ]);
    this.#clusters = new Map(snapshot.clusters.map((cluster) => [cluster.metadata.name, cluster]));
  }

  /** @param key `namespace/name` */
  clustersOf(key: string): readonly string[] {
    return this.#side.published?.get(key) ?? [];
  }

  of({ namespace, name }: InstallPlacement): PlacementSelection {
    const key = `${namespace}/${name}`;
    if (!this.#placements.has(key)) return { kind: 'missing' };
    const clusters = this.clustersOf(key);
    if (clusters.length === 0 && !this.#decided.has(key)) return { kind: 'undecided' };
    const decisions = clusters.map((clusterName) => ({ clusterName, reason: '' }));
    const page = { apiVersion: apiVersionOf(PLACEMENT_DECISION), kind: 'PlacementDecision' } as const;
    return {
      kind: 'decided',
      decisions: [{ ...page, metadata: { namespace, name }, status: { decisions } }],
    };
  }

  cluster(name: string): ManagedCluster | undefined {
    return this.#clusters.get(name);
  }
}

interface AddOnState {
  readonly installed: Installed;
  readonly removals: readonly Removal[];
}

interface FollowedAddOn extends AddOnState {
  readonly object: KubeObject;
  readonly joining: readonly string[];
  /** Clusters that lose it. */
  readonly gone: readonly string[];
  readonly held: HeldAddOn | undefined;
}

/** The add-on after the controller has followed its placements. */
function follow(
  object: KubeObject,
  selections: Selections,
  { installed, removals }: AddOnState,
  judging: AddOnJudging | undefined,
): FollowedAddOn {
  const addOn = readAddOn(object);
  const { joining, leaving } = planInstall({
    ...{ addOn, installed },
    selectionOf: (placement) => selections.of(placement),
    cluster: (name) => selections.cluster(name),
  });
  const joined: Installed = new Map([
    ...installed,
    ...joining.map((cluster) => [cluster, installedOn(cluster, object.metadata.name)] as const),
  ]);
  const stays = { object, installed: joined, removals, joining, gone: [] };
  if (leaving.length === 0) return { ...stays, held: undefined };
  const verdict =
    judging && isManagedHere(addOn) ? judge(object, leaving, { joined, removals }, judging) : REMOVED;
  if (verdict.kind === 'held') return { ...stays, held: verdict.held };
  const gone = leaving.map(({ metadata }) => metadata.namespace ?? '').sort(compareText);
  return {
    installed: new Map([...joined].filter(([cluster]) => !gone.includes(cluster))),
    removals: [...removals, ...verdict.removals],
    ...{ object, joining, gone, held: undefined },
  };
}

/** The add-ons of both futures, which follow their placements as time passes. */
export class AddOnCourse {
  readonly #last: readonly [without: Map<string, FollowedAddOn>, merged: Map<string, FollowedAddOn>];
  readonly #judging: AddOnJudging | undefined;

  constructor([without, merged]: PlannedAddOns['followed'], judging: AddOnJudging | undefined) {
    const byName = (all: readonly FollowedAddOn[]) => new Map(all.map((one) => [nameOf(one.object), one]));
    this.#last = [byName(without), byName(merged)];
    this.#judging = judging;
  }

  /**
   * @param at 0: without the merge, 1: with it
   * @param moved `namespace/name` of the placements whose clusters have changed by then
   * @returns what moves of the add-ons that they install, or would and is held
   */
  follow(at: 0 | 1, moved: ReadonlySet<string>, then: SelectionSide): readonly AddOnMove[] {
    const last = this.#last[at];
    const due = [...last.values()].filter(({ object }) =>
      addOnPlacements(object).some((key) => moved.has(key)),
    );
    if (due.length === 0) return [];
    const selections = new Selections(then);
    const judging = this.#judging && { ...this.#judging, nowMs: Date.parse(then.snapshot.now) };
    return due.map(({ object, ...before }) => {
      const now = follow(object, selections, before, judging);
      const name = nameOf(object);
      last.set(name, now);
      const held = now.held?.token === before.held?.token ? [] : (now.held?.clusters ?? []);
      return { name, placements: addOnPlacements(object), added: now.joining, removed: now.gone, held };
    });
  }
}

/** What one instant moves of an add-on. */
export interface AddOnMove {
  readonly name: string;
  readonly placements: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Clusters that it would leave, and does not until a release. */
  readonly held: readonly string[];
}

type Judged =
  | { readonly kind: 'removed'; readonly removals: readonly Removal[] }
  | { readonly kind: 'held'; readonly held: HeldAddOn };

const REMOVED: Judged = { kind: 'removed', removals: [] };

function judge(
  { metadata: { name: addOn } }: KubeObject,
  leaving: readonly ManagedClusterAddOn[],
  present: { readonly joined: Installed; readonly removals: readonly Removal[] },
  judging: AddOnJudging,
): Judged {
  const { joined, removals } = present;
  const verdict = judgeAddOnRemovals({ addOn, leaving, present: joined.size, removals, ...judging });
  if (verdict.kind === 'remove')
    return { kind: 'removed', removals: [{ atMs: judging.nowMs, count: verdict.counted }] };
  const { code: token, message, remedy } = verdict;
  const { clusters } = leavingClusters(judging.digest, addOn, leaving);
  return { kind: 'held', held: { addOn, clusters, message, remedy, token } };
}

function waitingOf(
  subject: string,
  without: FollowedAddOn | undefined,
  isWaiting: boolean,
): readonly WaitingChange[] {
  if (without === undefined) return [];
  const { joining: added, gone: removed, held } = without;
  return [
    ...(added.length + removed.length === 0 ? [] : [{ kind: 'add-on', subject, added, removed } as const]),
    ...(isWaiting && held !== undefined
      ? [{ kind: 'add-on-held', subject, clusters: held.clusters } as const]
      : []),
  ];
}
