import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, identityOf, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import { BerthError, errorText } from '@berth/runtime/errors';
import { groupBy } from '@berth/runtime/lists/group-by';
import { formatLocation } from '@berth/runtime/problem/source-location';
import { sha256 } from '@berth/runtime/sha256';
import { formatNameList } from '@berth/runtime/text/name-list';
import { returningObjects } from '../../core/preview/hub-only-objects.ts';
import {
  allStay,
  type JudgedDeletions,
  type StayingObject,
  withoutWaiting,
} from '../../core/preview/judged-deletions.ts';
import {
  mergeSources,
  type MergedSources,
  type OwnerOf,
  type SourceDeclaration,
} from '../../core/preview/sides/merge-sources.ts';
import { overlaySnapshot } from '../../core/preview/sides/overlay-snapshot.ts';
import { type HeldObjects, withHeld } from '../../core/preview/sides/held-objects.ts';
import { DEFAULT_REMOVAL_BUDGET } from '../../core/publish/judge/removal-budget.ts';
import { snapshotOfObjects } from '../../core/sources/snapshot-of-objects.ts';
import { appliedObjects } from '../../core/sync/applied/applied-kinds.ts';
import { departuresOf } from '../../core/sync/applied/departure.ts';
import { planWithdrawal } from '../../core/sync/applied/plan-withdrawal.ts';
import {
  afterOthers,
  type LeftToOthers,
  mayCauseLosses,
  computeDeletionLosses,
  lossHolders,
} from '../../core/sync/compute-deletion-losses.ts';
import type { DeletionLoss } from '../../core/sync/earlier-losses.ts';
import { DEFAULT_DELETION_WINDOW_MS } from '../../core/sync/earlier-deletions.ts';
import {
  declaredIdentities,
  leavingObjects,
  NOT_ALL_READ,
  objectsThatLeave,
  planPrune,
  possibleIdentities,
  type PrunePlan,
  undeclaredMembers,
} from '../../core/sync/plan-prune.ts';
import { pruneInputFromMemory, readPruneMemory } from '../../core/sync/prune-memory.ts';
import type { SourceContent } from '../sources/manifests/source-content.ts';
import { readDependents } from '../sources/pruning/read-dependents.ts';
import { kindScopes, kindsWithoutHub } from './members/kind-scopes.ts';
import { type MemberReading, readSourceMembers } from './members/read-members.ts';
import type { RecordedHubState, RecordedDeletions } from './recorded-hub-state.ts';
import { predictDependents } from './predict-dependents.ts';
import type { WorkContent } from '../../core/preview/inventory/work-content.ts';
import type { Plan } from '../../core/preview/plan.ts';
import { type HeldSides, withoutRefusedDeletions } from './held/held-sides.ts';
import type { HubTrials } from './held/hub-trials.ts';

export type ReadFleets = readonly (SourceContent & SourceDeclaration)[];

/** What the hub holds of Git, see `HeldSides`: of an object that it refuses nothing, or the state before. */
export interface HeldOnHub {
  readonly base: readonly SourceObject[];
  readonly head: readonly SourceObject[];
  /** What decides in place of what Git says, after the merge. */
  readonly after: HeldObjects;
}

export interface JudgedInput extends Omit<MemberReading, 'hub'> {
  readonly others?: readonly SourceDeclaration[] | undefined;
  /** Absent: what Git declares. */
  readonly held?: HeldOnHub | undefined;
  readonly hubMemory?: RecordedHubState | undefined;
  readonly hubApi?: KubeApi | undefined;
  /** See `Dependents`. */
  readonly decides?: 'own' | 'all' | undefined;
}

/**
 * Judges the deletions of every source of a merge. The loss of an object that another source deletes does not count, nor
 * does the hold of a placement that another source gives up.
 * The sources are therefore judged repeatedly until nothing changes, so that their order does not matter.
 */
export async function judgeSources(
  { others = [], held, hubMemory, hubApi: hub, decides, headsOf, refusedOf }: JudgedInput,
  [bases, heads]: readonly [ReadFleets, ReadFleets],
  known: { readonly ownerOf: OwnerOf; readonly now: string },
): Promise<readonly JudgedDeletions[]> {
  const judge = (leftBy: readonly LeftToOthers[]): Promise<readonly JudgedDeletions[]> =>
    Promise.all(
      heads.map((fleet, at) =>
        judgeDeletions(bases[at] ?? fleet, fleet, {
          ...{ before: [...bases, ...others], all: [...heads, ...others], ...known },
          ...{ hub, decides, headsOf, refusedOf, held },
          memory: hubMemory?.deletions.get(fleet.name),
          leftByOthers: leftBy.filter((_, other) => other !== at),
        }),
      ),
    );
  let judged = await judge([]);
  let left = 0;
  // In each round more objects leave than in the previous one, or it is the last.
  while (heads.length > 1 && judged.some(({ held }) => held !== undefined)) {
    const count = judged.flatMap(({ deleted, withdrawn }) => [...deleted, ...withdrawn]).length;
    if (count <= left) break;
    left = count;
    judged = await judge(judged);
  }
  return judged;
}

type ReadSource = Pick<SourceContent, 'complete' | 'doubtsAbout'> & SourceDeclaration;

export interface DeletionContext extends MemberReading {
  /**
   * What every source declares after the merge, including this one. An object that another source takes over is not
   * deleted.
   */
  readonly all: readonly SourceDeclaration[];
  /** What the hub remembers about this source; undefined without a hub. */
  readonly memory: RecordedDeletions | undefined;
  /** What every source declares before the merge. Without a hub, the dependents of deleted objects are computed from it. */
  readonly before: readonly SourceDeclaration[];
  /** Absent: what Git declares. */
  readonly held?: HeldOnHub | undefined;
  /** The source that owns an object which several sources declare. Absent: the first one in the settings. */
  readonly ownerOf?: OwnerOf | undefined;
  /** What other sources delete and give up by the same merge. Absent: nothing. */
  readonly leftByOthers?: readonly LeftToOthers[] | undefined;
  /** See `Dependents`. */
  readonly decides?: 'own' | 'all' | undefined;
  /** RFC 3339. */
  readonly now: string;
}

const NO_DELETIONS = { held: undefined, deleted: [], withdrawn: [], notEvaluated: [] };

/**
 * Judges which objects of a source the merge would delete from the hub at once, and which only after a release. It uses
 * the judgement and the code of the controller. Without a hub, the hub is assumed to hold what the base declares.
 */
export async function judgeDeletions(
  base: ReadSource,
  head: ReadSource,
  context: DeletionContext,
): Promise<JudgedDeletions> {
  if (!head.applies) return { ...NO_DELETIONS, left: [], keptOnHub: [] };
  const { all, memory, hub } = context;
  const { members, left, elsewhere, unknownScopes, problem } = await readSourceMembers(base, head, context);
  const ofOtherSources = identitiesOf(all.filter(({ name, applies }) => applies && name !== head.name));
  const annotations = memory !== undefined && 'annotations' in memory ? memory.annotations : {};
  const remembered = readPruneMemory(annotations, {
    nowMs: Date.parse(context.now),
    windowMs: head.deletionWindowMs ?? DEFAULT_DELETION_WINDOW_MS,
  });
  const known = {
    ...pruneInputFromMemory(head.objects, remembered, new Set([...ofOtherSources, ...elsewhere])),
    members,
    isTransferred: (identity: string) => ofOtherSources.has(identity),
  };
  const returning =
    left.length === 0 ? [] : returningObjects(base.objects, acceptedOf(head.objects, context.held), left);
  const undeclared = undeclaredMembers(known);
  const computed = await computeLosses(departuresOf(undeclared).deleted, returning, context);
  const kinds = await unservedKinds(head.objects, hub);
  const leaving = objectsThatLeave(known);
  const doubts = (await head.doubtsAbout?.(leaving)) ?? [];
  const plan = planPrune({
    ...known,
    losses: computed.losses ?? [],
    holders: computed.holders,
    notServed: kinds.notServed,
    source: head.name,
    arrives: appliedObjects(head.objects, head.kinds).some(
      ({ object }) =>
        object.kind !== 'PlacementDecision' &&
        !possibleIdentities(object).some((id) => ofOtherSources.has(id)),
    ),
    allowEmpty: head.allowEmpty,
    complete: head.complete && doubts.length === 0,
    budget: head.budget ?? DEFAULT_REMOVAL_BUDGET,
    digest: sha256,
  });
  const { deleted, withdrawn } = computed.losses === undefined ? NO_DELETIONS : madeBy(plan);
  const gone = new Set([...deleted, ...withdrawn.map(({ object }) => object)].map(identityOf));
  const keptOnHub = undeclared.filter((object) => !gone.has(identityOf(object)));
  const nothing = { ...NO_DELETIONS, withdrawn, left, keptOnHub };
  if (plan.kind === 'suspended') return { ...nothing, ...suspended(head.name, leaving, doubts) };
  if (leavingObjects(plan).length === 0) return nothing;
  const notEvaluated = [
    ...notesOf(head.name, memory, problem),
    ...computed.notEvaluated,
    ...kinds.notEvaluated,
    ...(hub === undefined ? unknownClusters(plan.objects) : []),
  ];
  if (plan.kind !== 'held') return { ...nothing, deleted, notEvaluated };
  const inDoubt = [...new Set(leavingObjects(plan).map(({ kind }) => kind))].filter((kind) =>
    unknownScopes.has(kind),
  );
  const doubt =
    inDoubt.length === 0
      ? ''
      : `. The hub's approval code is another one if ${formatNameList(inDoubt.sort())} has namespaces: nothing here defines it, and the objects name none`;
  const held = {
    ...{ source: head.name, message: `${plan.message}${doubt}`, token: plan.code },
    ...(plan.remedy !== undefined && { remedy: plan.remedy }),
  };
  return { ...nothing, held, deleted, notEvaluated };
}

/** Without those of which the hub holds nothing that Git declares, because it refuses them. */
function acceptedOf(objects: readonly SourceObject[], held: HeldOnHub | undefined): readonly SourceObject[] {
  if (held === undefined) return objects;
  const accepted = new Set(held.head.map(({ object }) => identityOf(object)));
  return objects.filter(({ object }) => accepted.has(identityOf(object)));
}

/** Nothing of the source is judged: what was held before stays held. */
function suspended(
  source: string,
  leaving: readonly KubeObject[],
  doubts: readonly StayingObject[],
): Pick<JudgedDeletions, 'staying' | 'notEvaluated'> {
  const because = doubts[0]?.because ?? NOT_ALL_READ;
  return {
    staying: allStay(leaving, doubts),
    notEvaluated: [`Source ${source} deletes nothing for now: ${because}.`],
  };
}

/** What the controller does at once. */
function madeBy(plan: PrunePlan): Pick<JudgedDeletions, 'deleted' | 'withdrawn'> {
  if (plan.kind !== 'prune') return NO_DELETIONS;
  const withdrawn = plan.withdrawn.map((one) => ({ ...one, after: planWithdrawal(one.object).after }));
  return { deleted: plan.objects, withdrawn };
}

/** Only the hub knows what a cluster is to others than Git. */
function unknownClusters(deleted: readonly KubeObject[]): readonly string[] {
  const names = deleted.flatMap(({ kind, metadata }) =>
    kind === MANAGED_CLUSTER.kind ? [metadata.name] : [],
  );
  if (names.length === 0) return [];
  const which = `ManagedCluster ${formatNameList(names.sort())}`;
  return [
    `${which}: a cluster that was on the hub before Git declared it, or whose agent works, is not deleted, and loses only what Git applied. Only a hub knows (--hub).`,
  ];
}

interface ComputedLosses {
  /** Undefined if the hub cannot be read. */
  readonly losses: readonly DeletionLoss[] | undefined;
  /** See `PruneInput`. */
  readonly holders: readonly string[] | undefined;
  readonly notEvaluated: readonly string[];
}

/**
 * The losses that the deletions cause, read from the current hub, or else predicted from the base. Remaining objects
 * are those of the head.
 */
async function computeLosses(
  objects: readonly KubeObject[],
  returning: readonly SourceObject[],
  context: DeletionContext,
): Promise<ComputedLosses> {
  if (!objects.some(mayCauseLosses)) return { losses: [], holders: [], notEvaluated: [] };
  const { before, all, hub, ownerOf, now, decides, leftByOthers = [] } = context;
  const held = context.held ?? {
    base: mergeSources(before, ownerOf).objects,
    head: mergeSources(all, ownerOf).objects,
    after: new Map(),
  };
  try {
    const dependents = (hub && (await readDependents(hub, objects))) ?? predictDependents(held.base, now);
    const staying = new Set(held.head.map(({ object }) => identityOf(object)));
    const kept = held.base.filter(({ object }) => staying.has(identityOf(object)));
    const snapshot = { now, scores: [], ...dependents };
    const applied = [...kept, ...returning];
    const overlaid = overlaySnapshot(
      snapshot,
      snapshotOfObjects(held.head, { now }),
      snapshotOfObjects(applied, { now }),
    );
    const onHub = withHeld(overlaid, held.after);
    const remaining = afterOthers({ ...dependents, ...onHub, decides }, leftByOthers);
    return {
      losses: computeDeletionLosses(objects, remaining),
      holders: lossHolders(remaining),
      notEvaluated: [],
    };
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    return {
      losses: undefined,
      holders: undefined,
      notEvaluated: [
        `What the deletions take away cannot be read, and without it the controller deletes nothing: ${errorText(error)}`,
      ],
    };
  }
}

/** The kinds that the hub does not serve, named as the controller names them. */
async function unservedKinds(
  objects: readonly SourceObject[],
  hub: KubeApi | undefined,
): Promise<{ readonly notServed: readonly string[]; readonly notEvaluated: readonly string[] }> {
  if (hub === undefined) {
    const scopeOf = kindScopes(objects);
    const unknown = await ofKinds(objects, (kind) => Promise.resolve(scopeOf(kind) === undefined));
    const note = `The controller holds deletions while its hub does not serve the kind of ${formatNameList(unknown.map(nameOf))}`;
    return {
      notServed: [],
      notEvaluated: unknown.length === 0 ? [] : [`${note}: only a hub knows (--hub).`],
    };
  }
  try {
    return { notServed: await notServedOn(hub, objects), notEvaluated: [] };
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    const kinds = `Which kinds the hub serves cannot be read, and while one of Git is not served the controller deletes nothing`;
    return { notServed: [], notEvaluated: [`${kinds}: ${errorText(error)}`] };
  }
}

/** The kinds that the hub does not serve. A kind that the head itself defines will be served. */
async function notServedOn(hub: KubeApi, objects: readonly SourceObject[]): Promise<readonly string[]> {
  const needsNoHub = kindsWithoutHub(objects);
  const missing = await ofKinds(
    objects,
    async (kind) => !needsNoHub(kind) && (await hub.resolve(kind.apiVersion, kind.kind)) === undefined,
  );
  return missing.map(nameOf);
}

/** The objects of the kinds for which `isIncluded` is true, in the same order. It is called once for each kind. */
async function ofKinds(
  objects: readonly SourceObject[],
  isIncluded: (kind: Pick<KubeObject, 'apiVersion' | 'kind'>) => Promise<boolean>,
): Promise<readonly SourceObject[]> {
  const versions = (same: readonly SourceObject[]) =>
    groupBy(same, ({ object }) => object.apiVersion).values();
  const kinds = [...groupBy(objects, ({ object }) => object.kind).values()].flatMap((same) => [
    ...versions(same),
  ]);
  const included = await Promise.all(
    kinds.map(async (same) => ((await isIncluded((same[0] as SourceObject).object)) ? same : [])),
  );
  const found = new Set(included.flat());
  return found.size === 0 ? [] : objects.filter((object) => found.has(object));
}

function nameOf({ object, location }: SourceObject): string {
  return `${formatRef(refOf(object))} (${formatLocation(location)})`;
}

function notesOf(source: string, memory: RecordedDeletions | undefined, problem: string): readonly string[] {
  const past = `Earlier deletions and releases of source ${source} count as well`;
  if (memory === undefined) return [`${past}: only a hub knows (--hub).`];
  if ('problem' in memory) return [`${past}. They cannot be read: ${memory.problem}`];
  return problem === '' ? [] : [`What source ${source} has on the hub cannot all be read: ${problem}`];
}

function identitiesOf(fleets: readonly Pick<SourceDeclaration, 'objects'>[]): ReadonlySet<string> {
  return new Set(fleets.flatMap(({ objects }) => [...declaredIdentities(objects)]));
}

type JudgedFleets = readonly JudgedDeletions[];

/** All sources together, as the hub has them before and after. */
export type ReadSides = HeldSides & Pick<MergedSources, 'ownerOf' | 'budgetOf'>;

/** What leaves the hub because of a merge, and what leaves it without. */
interface LeavingObjects
  extends Pick<Awaited<ReturnType<typeof withoutRefusedDeletions>>, 'refused' | 'notes'> {
  readonly deletions: JudgedFleets;
  /** What leaves without the merge. */
  readonly due: JudgedFleets;
  readonly waiting: Plan['waiting'];
}

/** What leaves the hub because of the merge. */
export async function judgeLeaving(
  input: JudgedInput & { readonly trials?: HubTrials | undefined },
  fleets: readonly [ReadFleets, ReadFleets],
  { ownerOf, refusedOf, base, head, held }: ReadSides,
  { now, content }: { readonly now: string; readonly content: WorkContent },
): Promise<LeavingObjects> {
  const judging = { ...input, refusedOf };
  const merged = { base: base.objects, head: head.objects, after: held.after };
  const judged = await judgeSources({ ...judging, held: merged }, fleets, { ownerOf, now });
  const alone = { base: base.objects, head: base.objects, after: held.before };
  const judgedAlone = await judgeDue({ ...judging, held: alone }, fleets[0], judged, { ownerOf, now });
  // The hub refuses a deletion without the merge as well.
  const both = await withoutRefusedDeletions([...judged, ...judgedAlone], input.trials);
  const accepted = both.deletions.map((one) => withContent(one, content));
  const due = accepted.slice(judged.length);
  const { judged: deletions, waiting } = withoutWaiting(accepted.slice(0, judged.length), due);
  return { ...both, deletions, due, waiting };
}

/** The deletions of every source without the merge; empty if there are none: the hub has nothing that left the base. */
async function judgeDue(
  input: JudgedInput,
  bases: ReadFleets,
  judged: JudgedFleets,
  known: Parameters<typeof judgeSources>[2],
): Promise<JudgedFleets> {
  return judged.every(({ left }) => left.length === 0) ? [] : judgeSources(input, [bases, bases], known);
}

/** An inventory omits the content of works. */
function withContent(judged: JudgedDeletions, content: WorkContent): JudgedDeletions {
  return {
    ...judged,
    left: judged.left.map((object) => content.restore(object)),
    withdrawn: judged.withdrawn.map((one) => ({ ...one, after: content.restore(one.after) })),
  };
}
