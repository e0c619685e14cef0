import { LeaseNotHeldError } from '@berth/kube/leader-election/lease';
import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, objectIdentity, refOf } from '@berth/kube/model/object-ref';
import { BerthError, ConflictError, errorText } from '@berth/runtime/errors';
import type pLimit from 'p-limit';
import {
  RELEASE_ANNOTATION,
  RELEASED_BY_ANNOTATION,
} from '../../../core/publish/approval/publish-annotations.ts';
import type { WithdrawnObject } from '../../../core/sync/applied/departure.ts';
import { FIELD_MANAGER, WITHDRAWN_MANAGER } from '../../../core/sync/applied/field-names.ts';
import { headOf, planWithdrawal } from '../../../core/sync/applied/plan-withdrawal.ts';
import { APPLY_SET_PART_OF_LABEL } from '../../../core/sync/apply-set.ts';
import {
  computeDeletionLosses,
  type Dependents,
  lossHolders,
} from '../../../core/sync/compute-deletion-losses.ts';
import { deletionRecord, recordedCommit } from '../../../core/sync/deletion-record.ts';
import { groupByWave } from '../../../core/sync/desired-object.ts';
import { type Deletion, deletionHash, noteDeletions } from '../../../core/sync/earlier-deletions.ts';
import {
  type DeletionLoss,
  lossEntries,
  lossesBefore,
  noteLosses,
} from '../../../core/sync/earlier-losses.ts';
import {
  countedMembers,
  leavingObjects,
  NOT_ALL_READ,
  objectsThatLeave,
  objectsToPrune,
  planPrune,
  type PruneInput,
  type PrunePlan,
} from '../../../core/sync/plan-prune.ts';
import { noteHeld, noteMembersBefore, type PruneMemory } from '../../../core/sync/prune-memory.ts';
import {
  noteReleased,
  noteRest,
  type PruneReleases,
  releaseHash,
} from '../../../core/sync/prune-releases.ts';
import { readOne, requiredKind } from '../members/objects-on-hub.ts';
import {
  type SyncInput,
  type SyncOutcome,
  type SyncProblem,
  syncProblemOf,
} from '../members/sync-problem.ts';
import type { CommitBarrier } from '../progress/commit-barrier.ts';
import type { SourceDeclarations } from '../progress/source-declarations.ts';
import { pruneInputOf, pruneMemoryOf, type PruneParts, type PruneState } from './prune-state.ts';
import { readDependents } from './read-dependents.ts';

/** Annotations of the ApplySet parent. */
type Notes = Readonly<Record<string, string>>;

export interface PruneOutcome extends Pick<SyncOutcome, 'pruneHeld' | 'released'> {
  readonly deleted: readonly KubeObject[];
  /** Objects that stay on the hub, and are no members any more. */
  readonly withdrawn: readonly KubeObject[];
  readonly problems: readonly SyncProblem[];
}

/**
 * Deletes the members that left Git. It does so only if all of Git was read, the source does not become empty, and the
 * deletions are within the budget or released.
 * @returns undefined if it would hold them for what they take away while other sources are unjudged, which may delete that or
 * give it up: try again after them
 */
export async function pruneHub(
  parts: PruneParts,
  input: SyncInput,
  state: PruneState,
): Promise<PruneOutcome | undefined> {
  const { arrives, membersBefore, notServed } = state;
  const memory = { ...pruneMemoryOf(parts, state), membersBefore };
  const known = pruneInputOf(parts, input.objects, memory, state);
  const nothing: PruneOutcome = {
    deleted: [],
    withdrawn: [],
    problems: [],
    pruneHeld: undefined,
  };
  const unread = await unreadBehind(parts, input, objectsThatLeave(known));
  if (typeof unread === 'object') return { ...nothing, problems: [unread] };
  const complete = unread === undefined;
  const losses = await lossesOf(parts, complete ? objectsToPrune(known) : []);
  if ('problem' in losses) return { ...nothing, problems: [losses.problem] };
  const plan = planPrune({
    ...parts,
    ...known,
    ...losses,
    arrives,
    complete,
    unread,
    commit: input.commit?.id,
    notServed,
  });
  if (plan.kind === 'suspended') {
    const { message } = plan;
    return {
      ...nothing,
      problems: [{ object: `source ${parts.source}`, message, location: undefined, retry: false }],
    };
  }
  const isKnown = complete && notServed.length === 0;
  const restored = isKnown ? objectsToPrune({ ...known, members: state.restored }) : [];
  if (plan.kind === 'held' && plan.holders !== undefined && state.unjudged.size > 0) return undefined;
  const prunedRestored = await deleteMembers(parts, restored, recordedWith(parts, input, undefined));
  const outcome =
    plan.kind === 'prune'
      ? await prune(parts, input, { ...plan, ...losses }, { ...memory, members: known.members })
      : await hold(parts, plan, state, { ...memory, counted: countedMembers(known).length });
  return {
    ...outcome,
    deleted: [...prunedRestored.deleted, ...outcome.deleted],
    problems: [...prunedRestored.problems, ...outcome.problems],
  };
}

/** What of Git cannot be read, so that the objects may be there; undefined if they left Git for sure. */
async function unreadBehind(
  { source }: Pick<PruneParts, 'source'>,
  { complete, doubtsAbout }: SyncInput,
  objects: readonly KubeObject[],
): Promise<string | undefined | SyncProblem> {
  try {
    const [doubt] = (await doubtsAbout?.(objects)) ?? [];
    return doubt?.because ?? (complete ? undefined : NOT_ALL_READ);
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    const message = `whether ${objects.length} objects left Git cannot be read, so nothing is deleted: ${errorText(error)}`;
    return { object: `source ${source}`, message, location: undefined, retry: true };
  }
}

/** Stores the held deletions and their counts, for the next sync and for `berth release`. */
async function hold(
  parts: PruneParts,
  plan: Extract<PrunePlan, { kind: 'held' }>,
  { areAll }: PruneState,
  memory: PruneMemory & { readonly counted: number },
): Promise<PruneOutcome> {
  const { message, code, holders } = plan;
  const { releases, earlier, earlierLosses, nowMs, membersBefore, counted } = memory;
  await parts.registry.annotate({
    ...noteHeld(code, message, holders),
    ...(areAll ? noteMembersBefore(membersBefore ?? counted) : {}),
    ...restOf(parts, leavingObjects(plan), releases),
    ...noteDeletions(earlier, nowMs),
    ...noteLosses(earlierLosses, nowMs),
  });
  return { deleted: [], withdrawn: [], problems: [], pruneHeld: { message, token: code } };
}

interface Losses {
  readonly losses: readonly DeletionLoss[];
  /** See `PruneInput`. */
  readonly holders: readonly string[];
}

/** The losses that deleting the objects causes. If they cannot be read, nothing is deleted. */
async function lossesOf(
  { api, source, annotatePlacements }: Pick<PruneParts, 'api' | 'source' | 'annotatePlacements'>,
  objects: readonly KubeObject[],
): Promise<Losses | { readonly problem: SyncProblem }> {
  try {
    const found = await readDependents(api, objects);
    if (found === undefined) return { losses: [], holders: [] };
    const dependents: Dependents = { ...found, decides: annotatePlacements ? 'own' : 'all' };
    return { losses: computeDeletionLosses(objects, dependents), holders: lossHolders(dependents) };
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    const message = `what the deletion of ${objects.length} objects takes away cannot be read, so nothing is deleted: ${errorText(error)}`;
    return { problem: { object: `source ${source}`, message, location: undefined, retry: true } };
  }
}

/** Stores the deletions and their approval before the first one. */
async function prune(
  parts: PruneParts,
  input: SyncInput,
  plan: Extract<PrunePlan, { kind: 'prune' }> & { readonly losses: readonly DeletionLoss[] },
  memory: PruneMemory & Pick<PruneInput, 'members'>,
): Promise<PruneOutcome> {
  const { releases, lastRelease, earlier, earlierLosses, members, nowMs } = memory;
  const { objects, losses, releasedCode, isRest = false } = plan;
  const leaving = leavingObjects(plan);
  const hashes = leaving.map((object) => hashOf(parts, object));
  const code = isRest ? lastRelease?.code : releasedCode;
  const isNoted = code === lastRelease?.code;
  const by = isNoted ? lastRelease?.by : committer(input);
  const released = code === undefined ? undefined : { token: code, by: by ?? 'unknown' };
  const isCounted = objects.length > 0 && releasedCode === undefined && !isRest;
  const windowNotes = (objectsDeleted: readonly KubeObject[]): Notes => {
    const sync = { objects: objectsDeleted, losses, digest: parts.digest };
    const before = lossesBefore(earlierLosses, members, sync);
    return {
      ...noteDeletions([...earlier, deletionOf(parts, objectsDeleted, nowMs)], nowMs),
      ...noteLosses([...before, ...lossEntries(sync, nowMs)], nowMs),
    };
  };
  await parts.registry.annotate({
    ...noteHeld('', '', undefined),
    ...noteMembersBefore(undefined),
    // A release resets the counts of the window.
    ...(releasedCode === undefined
      ? restOf(parts, leaving, releases)
      : {
          ...noteReleased(releases, releasedCode, hashes),
          ...noteDeletions([], nowMs),
          ...noteLosses([], nowMs),
        }),
    ...(isCounted && windowNotes(objects)),
    // The annotations that `berth release` would have written.
    ...(released !== undefined && !isNoted
      ? { [RELEASE_ANNOTATION]: released.token, [RELEASED_BY_ANNOTATION]: released.by }
      : {}),
  });
  const { withdrawn, problems: refused } = await withdrawMembers(parts, plan.withdrawn, (one) =>
    parts.onWithdrawn?.(one),
  );
  const { deleted, problems } = await deleteMembers(parts, objects, recordedWith(parts, input, released));
  if (released !== undefined) {
    const done = new Set([...deleted, ...withdrawn].map((object) => hashOf(parts, object)));
    await parts.registry.annotate(noteRest(hashes.filter((hash) => !done.has(hash))));
  }
  if (isCounted && deleted.length < objects.length) await parts.registry.annotate(windowNotes(deleted));
  return {
    deleted,
    withdrawn,
    problems: [...refused, ...problems],
    pruneHeld: undefined,
    released: deleted.length > 0 || !isRest ? released : undefined,
  };
}

/** Calls `onDeleted` for each object that the hub has deleted. */
function recordedWith(
  { source, clock, onDeleted }: PruneParts,
  input: SyncInput,
  released: PruneOutcome['released'],
): (object: KubeObject) => void {
  const known = { source, commit: recordedCommit(input.commit), released: released ?? null };
  return (object) => onDeleted?.(deletionRecord(object, { ...known, atMs: clock.now() }));
}

function hashOf({ digest }: PruneParts, object: KubeObject): string {
  return releaseHash(digest, formatRef(refOf(object)));
}

/** The remaining objects of an earlier release. */
function restOf(parts: PruneParts, objects: readonly KubeObject[], releases: PruneReleases): Notes {
  const hashes = objects.map((object) => hashOf(parts, object));
  return noteRest(hashes.filter((hash) => releases.objects.has(hash)));
}

function deletionOf({ digest }: PruneParts, objects: readonly KubeObject[], atMs: number): Deletion {
  return {
    atMs,
    hashes: objects.map((object) => deletionHash(digest, objectIdentity(refOf(object)))),
    unnamed: 0,
  };
}

/** Author, time and commit of a release in Git, in the form that `berth release` writes. */
function committer({ commit }: SyncInput): string | undefined {
  if (commit === undefined) return undefined;
  const { author, committer: when, id } = commit;
  return `${author.name} <${author.email}> at ${new Date(when.timeMs).toISOString()} in commit ${id}`;
}

interface WithdrawParts extends Omit<DeleteMembersParts, 'written'> {
  readonly written?: { readonly applied: (live: KubeObject) => void } | undefined;
}

interface WithdrawnMembers {
  readonly withdrawn: readonly KubeObject[];
  readonly problems: readonly SyncProblem[];
}

/** Takes off what Git applied. The objects stay, and are no members of the source any more. */
async function withdrawMembers(
  { api, source, declarations: declarations, limit, written }: WithdrawParts,
  objects: readonly WithdrawnObject[],
  onWithdrawn: (one: WithdrawnObject) => void,
): Promise<WithdrawnMembers> {
  const problems: SyncProblem[] = [];
  const withdrawn: KubeObject[] = [];
  await Promise.all(
    objects.map((one) =>
      limit(async () => {
        const { object } = one;
        // The other source may have read a new commit and own the object by now.
        if (declarations.isDeclaredElsewhere(source, objectIdentity(refOf(object)))) return;
        try {
          const after = await withdraw(api, object);
          if (after !== undefined) written?.applied(after);
        } catch (error) {
          if (!(error instanceof BerthError) || error instanceof LeaseNotHeldError) throw error;
          problems.push(syncProblemOf({ object }, error));
          return;
        }
        withdrawn.push(object);
        onWithdrawn(one);
      }),
    ),
  );
  return { withdrawn, problems };
}

/** The status of a cluster changes all the time, so that a write may come too late several times. */
const MAX_TRIES = 10;

/** @returns the object as it is now; undefined if it is gone, or belongs to others by now */
async function withdraw(api: KubeApi, listed: KubeObject): Promise<KubeObject | undefined> {
  const kind = await requiredKind(api, listed);
  let live: KubeObject | undefined = listed;
  for (let tries = 1; live !== undefined; tries++)
    try {
      return await applyNothing(api, kind, live);
    } catch (error) {
      if (!(error instanceof ConflictError) || tries === MAX_TRIES) throw error;
      live = await readMember(api, kind, listed);
    }
  return undefined;
}

async function applyNothing(api: KubeApi, kind: KindInfo, live: KubeObject): Promise<KubeObject> {
  const { kept } = planWithdrawal(live);
  if (kept !== undefined) {
    const { resourceVersion } = live.metadata;
    const sent = { ...kept, metadata: { ...kept.metadata, resourceVersion } };
    await api.apply(kind, sent, { fieldManager: WITHDRAWN_MANAGER, force: true });
  }
  return api.apply(kind, headOf(live), { fieldManager: FIELD_MANAGER, force: true });
}

async function readMember(
  api: KubeApi,
  kind: KindInfo,
  { metadata }: KubeObject,
): Promise<KubeObject | undefined> {
  const now = await readOne(api, kind, { metadata });
  const isSame = (key: string): boolean => now?.metadata.labels?.[key] === metadata.labels?.[key];
  return now?.metadata.uid === metadata.uid && isSame(APPLY_SET_PART_OF_LABEL) ? now : undefined;
}

interface DeleteMembersParts {
  readonly api: KubeApi;
  readonly source: string;
  readonly declarations: Pick<SourceDeclarations, 'isDeclaredElsewhere'>;
  readonly limit: ReturnType<typeof pLimit>;
  readonly written?: Pick<CommitBarrier, 'deleted'> | undefined;
}

interface DeletedMembers {
  readonly deleted: readonly KubeObject[];
  readonly problems: readonly SyncProblem[];
}

/** Deletes objects in the reverse order of applying. If the hub refuses one, the others are still deleted. */
export async function deleteMembers(
  { api, source, declarations, limit, written }: DeleteMembersParts,
  objects: readonly KubeObject[],
  onDeleted: (object: KubeObject) => void,
): Promise<DeletedMembers> {
  const problems: SyncProblem[] = [];
  const deleted: KubeObject[] = [];
  for (const wave of [...groupByWave(objects)].reverse())
    await Promise.all(
      wave.map((object) =>
        limit(async () => {
          // The other source may have read a new commit and own the object by now.
          if (declarations.isDeclaredElsewhere(source, objectIdentity(refOf(object)))) return;
          const problem = await deleteMember(api, object);
          if (problem !== undefined) {
            problems.push(problem);
            return;
          }
          written?.deleted(object);
          deleted.push(object);
          onDeleted(object);
        }),
      ),
    );
  return { deleted, problems };
}

async function deleteMember(api: KubeApi, object: KubeObject): Promise<SyncProblem | undefined> {
  try {
    const kind = await requiredKind(api, object);
    const { namespace = '', name, uid } = object.metadata;
    await api.delete(kind, { namespace, name }, { uid, propagationPolicy: 'Background' });
    return undefined;
  } catch (error) {
    if (!(error instanceof BerthError) || error instanceof LeaseNotHeldError) throw error;
    return syncProblemOf({ object }, error);
  }
}
