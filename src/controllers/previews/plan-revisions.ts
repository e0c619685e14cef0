import { apiVersionOf, MANIFEST_WORK, MANIFEST_WORK_REPLICA_SET } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { identityOf, namespacedName, objectIdentity } from '@berth/kube/model/object-ref';
import { formatRfc3339, instantFromEpochMs, parseRfc3339 } from '@berth/kube/model/rfc3339';
import type { SourceObject } from '@berth/kube/model/source-object';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { InputError, BerthError, errorText } from '@berth/runtime/errors';
import type { Problem } from '@berth/runtime/problem/problem';
import { sha256 } from '@berth/runtime/sha256';
import { WorkContent } from '../../core/preview/inventory/work-content.ts';
import {
  type JudgedDeletions,
  noteDepartures,
  type StayingObject,
  stayingText,
} from '../../core/preview/judged-deletions.ts';
import type { PlanSide } from '../../core/preview/plan-input.ts';
import type { Plan } from '../../core/preview/plan.ts';
import {
  type MergedSources,
  mergeSources,
  type OwnerOf,
  type SourceDeclaration,
} from '../../core/preview/sides/merge-sources.ts';
import type { CompactRecord } from '../../core/publish/record/compact-record.ts';
import { appliedObjects } from '../../core/sync/applied/applied-kinds.ts';
import { possibleIdentities } from '../../core/sync/plan-prune.ts';
import { UNLISTED } from '../sources/kustomize/unlisted-manifests.ts';
import { requireManifests, type SourceContent } from '../sources/manifests/source-content.ts';
import { doubtsOf, findAddedProblems, refusedDeletions } from './added-problems.ts';
import {
  type ComparedCommits,
  locateGitDir,
  withComparedCommits,
  type PlanMemory,
  findLostFiles,
} from './compared-commits.ts';
import { emulationOf, type HubTrials } from './held/hub-trials.ts';
import { readHeldSides } from './held/held-sides.ts';
import { judgePlan } from './judge-plan.ts';
import { type GivenAddOns, readAddOns } from './read-addons.ts';
import { judgeLeaving, type ReadFleets, type ReadSides } from './judge-deletions.ts';
import type { MemberHeads } from './members/read-members.ts';
import { ReadOnceHub, readOnce } from './members/read-once-hub.ts';
import { planContents } from './plan-contents.ts';
import type { ContentPlanInput, PlannedFleet } from './plan-futures.ts';
import { readOwners, type PlannedSource, SourceReadings } from './source-readings.ts';
import type { RecordedHubState } from './recorded-hub-state.ts';

export interface PlanRevisionsInput {
  readonly folder: string;
  readonly base: string;
  readonly head: string;
  /** The sources that use the repository of the folder. Without a settings file, one source with the whole repository. */
  readonly sources: readonly PlannedSource[];
  /** What other repositories declare. The merge does not change it. Empty with a hub, which has it already. */
  readonly others?: readonly SourceDeclaration[] | undefined;
  /** The removal budgets of placements that set none; see `ContentPlanInput`. */
  readonly budgetOf?: ContentPlanInput['budgetOf'];
  /** What is known of the manager of add-ons. Absent: what controllers announced on the hub counts. */
  readonly addOns?: GivenAddOns | undefined;
  /** Compare with the merge base of `head` instead of with the tip of `base`. */
  readonly fromMergeBase: boolean;
  readonly now?: string | undefined;
  /** The state of a hub. Absent: the repository is the only input. */
  readonly hub?: Snapshot | undefined;
  /** Leases that agents are late to renew. Absent: unknown. */
  readonly overdue?: ContentPlanInput['overdue'];
  /** The placements on the hub that Berth decides: those of Git and those marked as its own, or all. Default: all. */
  readonly decides?: 'own' | 'all' | undefined;
  /** What controllers recorded on the hub about earlier deletions and releases. */
  readonly hubMemory?: RecordedHubState | undefined;
  /** The hub itself, to find out what deletions take away. Present if `hub` is. */
  readonly hubApi?: KubeApi | undefined;
  /** Asks the hub what it would hold. Absent: it is not asked. */
  readonly trials?: HubTrials | undefined;
  /** The members of sources on the hub, as far as they are known without a request. Absent: none are. */
  readonly headsOf?: MemberHeads | undefined;
  /** The context for rendering ApplicationSets. Absent: they are not rendered. */
  readonly applications?: ContentPlanInput['applications'];
  /** Assumptions about the clusters in addition to what the head declares. */
  readonly whatIf?: ContentPlanInput['whatIf'];
  /** Names of the clusters for which Argo CD has a Secret. Absent: unknown. */
  readonly argocdClusters?: ReadonlySet<string> | undefined;
  /** What the reader must know about the basis of the plan. */
  readonly notes?: readonly string[] | undefined;
  /** Version of Berth, for the digest of the plan. */
  readonly engine: string;
  readonly ambient: Readonly<Record<string, string | undefined>>;
  /** False: no program except git runs on the content of the commits, and kustomizations are refused. Default: true. */
  readonly runsPrograms?: boolean | undefined;
  /** What earlier plans computed. Absent: nothing. */
  readonly memory?: PlanMemory | undefined;
  /** Called with each step, such as `reading main`, for people who wait. */
  readonly onProgress: (step: string) => void;
}

export interface PlannedRevisions {
  readonly plan: Plan;
  /** The problems that the base does not have. */
  readonly problems: readonly Problem[];
  /** Full id of the tree that the merge leaves. It identifies the merge later. */
  readonly tree: string | undefined;
}

/** Plans what merging `head` into `base` changes, with the engine, holds and explanations that run after the merge. */
export async function planRevisions(input: PlanRevisionsInput): Promise<PlannedRevisions> {
  if (input.now !== undefined && parseRfc3339(input.now) === undefined)
    throw new InputError(`got ${JSON.stringify(input.now)}, expected a time such as 2026-01-31T12:00:00Z`, {
      code: 'cli.option',
      subject: '--now',
    });
  const gitDir = await locateGitDir(input.folder);
  const { hubApi, headsOf } = input;
  const once = {
    hubApi: hubApi && new ReadOnceHub(hubApi),
    headsOf: headsOf && readOnce(headsOf),
  };
  return withComparedCommits({ ...input, gitDir }, (compared) =>
    planCommits({ ...input, ...once }, compared),
  );
}

async function planCommits(input: PlanRevisionsInput, compared: ComparedCommits): Promise<PlannedRevisions> {
  const { before, after, head, notes } = compared;
  const fleets = await readFleets(input, compared);
  const [baseFleets, headFleets] = fleets;
  input.onProgress('deciding');
  const { others = [] } = input;
  const sides = await readSides(input, fleets);
  const now = input.now ?? presentOf([...baseFleets.slice(0, 1), ...headFleets.slice(0, 1)]);
  const content = new WorkContent(sha256, () =>
    declaredIn([...baseFleets, ...headFleets, ...others]).map(({ object }) => object),
  );
  const { deletions, due, ...leaving } = await judgeLeaving(input, fleets, sides, { now, content });
  const works = await readWorks(input.hubApi, [sides.base, sides.head], deletions);
  const addOns = await readAddOns(input.hubApi, [sides.base, sides.head], input.addOns);
  const planned = planContents({
    base: {
      fleet: fleetOf(sides.base, [...baseFleets, ...others]),
      end: { name: input.base, commit: before },
    },
    head: {
      fleet: fleetOf(sides.head, [...headFleets, ...others]),
      end: { name: input.head, commit: head },
    },
    held: sides.held,
    now,
    hub: input.hub,
    overdue: input.overdue,
    decider: input.memory?.decider,
    rendered: input.memory?.rendered,
    decides: input.decides,
    works: works.items,
    addOns: addOns.hub,
    addOnJudging: addOns.judging,
    deletions,
    due,
    applications: input.applications,
    whatIf: input.whatIf,
    recordsOf: (placement) => recordsOf(input.hubMemory, placement),
    budgetOf: (placement) =>
      sides.budgetOf(namespacedName(placement.metadata)) ?? input.budgetOf?.(placement),
  });
  const waiting = [...planned.plan.waiting, ...leaving.waiting];
  const complete = withDeletions({ ...planned.plan, waiting }, deletions, {
    lostFiles: await lostFilesOf(input, compared, fleets),
    fleets,
    refused: leaving.refused,
    first: [...notes, ...(input.notes ?? []), ...unread(headFleets), ...unlisted(headFleets)],
    last: [
      ...works.notEvaluated,
      ...addOns.notes(planned.plan),
      ...sides.notes,
      ...leaving.notes,
      ...content.notes(),
      ...(planned.plan.summary.held > 0 ? recordsUnread(input.hubMemory) : []),
    ],
  });
  const verdict = await judgePlan({ ...planned, plan: complete }, compared, input);
  const problems = [
    ...(await findAddedProblems(fleets, sides.findings, input)),
    ...refusedDeletions(leaving.refused, baseFleets),
  ];
  return {
    plan: verdict.plan,
    // A trial merge exists nowhere else, so locations name the head.
    problems: [...problems, ...verdict.problems].map((problem) => locatedIn(head, after, problem)),
    tree: headFleets[0]?.commit?.tree,
  };
}

/** What each source declares at the two commits. */
async function readFleets(
  input: PlanRevisionsInput,
  compared: ComparedCommits,
): Promise<readonly [base: ReadFleets, head: ReadFleets]> {
  const readings = new SourceReadings(input, compared);
  input.onProgress(`reading ${input.base}`);
  const base = await readings.base(compared.before);
  input.onProgress(`reading ${input.head}`);
  const head = await readings.head(compared.after);
  requireManifests(
    [...base, ...head],
    input.folder,
    input.sources.flatMap(({ paths }) => paths),
  );
  return [base, head];
}

/** All sources together, as the hub has them before and after. */
async function readSides(
  { hub, hubApi, trials, decides, others = [] }: PlanRevisionsInput,
  [baseFleets, headFleets]: readonly [ReadFleets, ReadFleets],
): Promise<ReadSides> {
  const [before, after] = [
    [...baseFleets, ...others],
    [...headFleets, ...others],
  ];
  const onHub: OwnerOf = hubApi ? await readOwners(hubApi, before, after) : () => undefined;
  const base = mergeSources(before.map(withAppliedObjects), onHub);
  const ownerOf: OwnerOf = (identity) => onHub(identity) ?? base.ownerOf(identity);
  const head = mergeSources(after.map(withAppliedObjects), ownerOf);
  const sides = await readHeldSides(
    { base, head, sources: after, isDoubtful: doubtsOf([...baseFleets, ...headFleets]) },
    {
      hub,
      trials,
      emulation: emulationOf(head, hubApi && { api: hubApi, annotatePlacements: decides === 'own' }),
    },
  );
  return { ...sides, ownerOf, budgetOf: (key) => head.budgetOf(key) ?? base.budgetOf(key) };
}

/** What a plan has in addition to the changes of its objects. */
interface Additions {
  readonly lostFiles: Plan['lostFiles'];
  readonly fleets: readonly [base: ReadFleets, head: ReadFleets];
  /** The objects whose deletion the hub refuses. */
  readonly refused: ReadonlyMap<KubeObject, string>;
  /** Notes about what was not evaluated. They come before and after those of the plan itself. */
  readonly first: readonly string[];
  readonly last: readonly string[];
}

function withDeletions(
  plan: Plan,
  deletions: readonly JudgedDeletions[],
  { lostFiles, fleets: [bases, heads], refused, first, last }: Additions,
): Plan {
  const staying = stayingIn(heads, deletions);
  const leaves = staying.length > 0 && staying.some(leavesWith(bases));
  return {
    ...plan,
    objects: withoutStaying(noteDepartures(plan.objects, deletions), refused),
    lostFiles,
    hasChanges: plan.hasChanges || leaves || deletions.some(({ held }) => held !== undefined),
    deletionsHeld: deletions.flatMap(({ held }) => held ?? []),
    notEvaluated: [
      ...first,
      ...plan.notEvaluated,
      ...staying.map(stayingText),
      ...last,
      ...deletions.flatMap(({ notEvaluated }) => notEvaluated),
    ],
  };
}

/** A problem of the plan says why these stay. */
function withoutStaying(changes: Plan['objects'], staying: ReadonlyMap<KubeObject, string>): Plan['objects'] {
  const ids = new Set([...staying.keys()].map((object) => identityOf(object)));
  return ids.size === 0 ? changes : changes.filter(({ ref }) => !ids.has(objectIdentity(ref)));
}

/** What left Git and stays in sources that are applied. */
function stayingIn(heads: ReadFleets, deletions: readonly JudgedDeletions[]): readonly StayingObject[] {
  const applied = heads.filter(({ applies }) => applies);
  return [...applied, ...deletions].flatMap((one) => one.staying ?? []);
}

/** Whether an object leaves Git with this change: the base declares it. */
function leavesWith(bases: ReadFleets): (one: StayingObject) => boolean {
  const left = new Set(
    bases.flatMap(({ staying = [] }) => staying.flatMap(({ object }) => possibleIdentities(object))),
  );
  const declared = new Set(
    bases.flatMap(({ objects }) => objects.flatMap(({ object }) => possibleIdentities(object))),
  );
  return ({ object }) => possibleIdentities(object).some((id) => declared.has(id) && !left.has(id));
}

function fleetOf(merged: MergedSources, fleets: readonly SourceDeclaration[]): PlannedFleet {
  return { ...merged, declared: declaredIn(fleets), bySource: fleets.map(({ objects }) => objects) };
}

function declaredIn(fleets: readonly SourceDeclaration[]): SourceDeclaration['objects'] {
  // The list of a single source is returned as it is, because caches are keyed by the list.
  return fleets.length === 1 ? (fleets[0]?.objects ?? []) : fleets.flatMap(({ objects }) => objects);
}

function unread(heads: readonly Pick<SourceContent, 'complete'>[]): readonly string[] {
  return heads.every(({ complete }) => complete)
    ? []
    : ['Some files of the head cannot be read: the last good version of their objects counts.'];
}

function unlisted(heads: readonly Pick<SourceContent, 'problems'>[]): readonly string[] {
  return heads.flatMap(({ problems }) =>
    problems.flatMap(({ code, message }) => (code === UNLISTED ? [message] : [])),
  );
}

async function lostFilesOf(
  { sources }: PlanRevisionsInput,
  { repository, before, after }: ComparedCommits,
  [bases, heads]: readonly [ReadFleets, ReadFleets],
): Promise<Plan['lostFiles']> {
  const found = heads.map((head, at) => {
    const paths = sources[at]?.paths ?? [];
    return findLostFiles({ repository, before, after, base: bases[at] ?? head, head, paths });
  });
  return (await Promise.all(found)).flat();
}

/** The time of the later of the two commits, so that a plan can be repeated. */
function presentOf(fleets: readonly Pick<SourceContent, 'commit'>[]): string {
  const times = fleets.map(({ commit }) => commit?.committer.timeMs ?? 0);
  return formatRfc3339(instantFromEpochMs(Math.max(...times)));
}

function recordsOf(memory: RecordedHubState | undefined, placement: string): readonly CompactRecord[] {
  return memory !== undefined && 'of' in memory.records ? (memory.records.of.get(placement) ?? []) : [];
}

function recordsUnread(memory: RecordedHubState | undefined): readonly string[] {
  return memory !== undefined && 'problem' in memory.records
    ? [
        `A release counts once, so a change that was released before gets another approval code. The records on the hub cannot be read: ${memory.records.problem}`,
      ]
    : [];
}

function withAppliedObjects<T extends SourceDeclaration>(source: T): T {
  return { ...source, objects: appliedObjects(source.objects, source.kinds) };
}

function locatedIn(head: string, after: string, problem: Problem): Problem {
  const { location } = problem;
  return location?.commit === after ? { ...problem, location: { ...location, commit: head } } : problem;
}

interface ReadWorks {
  /** Undefined: unknown. */
  readonly items: PlanSide['works'];
  readonly notEvaluated: readonly string[];
}

/** Reads the works on the hub, if replica sets are planned. Some of these may have left Git, and be held on the hub. */
async function readWorks(
  hub: KubeApi | undefined,
  sides: readonly { readonly objects: readonly SourceObject[] }[],
  deletions: readonly Pick<JudgedDeletions, 'left'>[],
): Promise<ReadWorks> {
  const isReplicaSet = ({ kind }: KubeObject): boolean => kind === MANIFEST_WORK_REPLICA_SET.kind;
  const isPlanned =
    sides.some(({ objects }) => objects.some(({ object }) => isReplicaSet(object))) ||
    deletions.some(({ left }) => left.some(isReplicaSet));
  if (hub === undefined || !isPlanned) return { items: undefined, notEvaluated: [] };
  try {
    const kind = await hub.resolve(apiVersionOf(MANIFEST_WORK), MANIFEST_WORK.kind);
    return { items: kind === undefined ? [] : (await hub.list(kind)).items, notEvaluated: [] };
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    const note = `The works of replica sets cannot be read. The plan assumes them on the published clusters: ${errorText(error)}`;
    return { items: undefined, notEvaluated: [note] };
  }
}
