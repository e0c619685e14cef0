import type pLimit from 'p-limit';
import { BerthError, errorText } from '../../../core/errors.ts';
import type { KubeObject } from '../../../core/model/object-meta.ts';
import { formatRef, refOf } from '../../../core/model/object-ref.ts';
import type { Clock, KubeApi } from '../../../core/ports.ts';
import type { Digest } from '../../../core/publish/plan-token.ts';
import {
  HELD_LOSSES_ANNOTATION,
  HELD_MESSAGE_ANNOTATION,
  HELD_TOKEN_ANNOTATION,
  MEMBERS_BEFORE_ANNOTATION,
  RELEASE_ANNOTATION,
  RELEASED_BY_ANNOTATION,
} from '../../../core/publish/publish-annotations.ts';
import type { RemovalBudget } from '../../../core/publish/removal-budget.ts';
import { inWaves } from '../../../core/sync/apply-order.ts';
import { type DeletionRecord, deletionRecord } from '../../../core/sync/deletion-record.ts';
import { type Deletion, deletionMark, noteDeletions } from '../../../core/sync/deletion-window.ts';
import {
  countedMembers,
  identityOf,
  isPruned,
  leavingObjects,
  planPrune,
  type PrunePlan,
  standingIdentities,
} from '../../../core/sync/plan-prune.ts';
import { rememberedInput, type PruneMemory, readPruneMemory } from '../../../core/sync/prune-memory.ts';
import {
  noteReleased,
  noteRest,
  type PruneReleases,
  releaseMark,
} from '../../../core/sync/prune-releases.ts';
import type { DeletionLoss } from '../../../core/sync/deletion-loss.ts';
import { weighDeletions } from '../../../core/sync/weigh-deletions.ts';
import { LeaseNotHeldError } from '../../../runtime/leader-election/lease-not-held-error.ts';
import type { ApplySetRegistry } from './apply-set-registry.ts';
import type { CommitBarrier } from './commit-barrier.ts';
import type { SourceClaims } from './source-claims.ts';
import type { SyncInput, SyncOutcome } from './sync-outcome.ts';
import { readDependents } from './read-dependents.ts';
import { requiredKind } from './required-kind.ts';
import { type SyncProblem, syncProblemOf } from './sync-problem.ts';

export interface PruneParts {
  readonly api: KubeApi;
  readonly digest: Digest;
  readonly source: string;
  readonly budget: RemovalBudget;
  /** Let the last objects of the source go like any others. */
  readonly allowEmpty?: boolean | undefined;
  /** What was deleted this long ago, or later, counts toward the budget. */
  readonly deletionWindowMs: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly limit: ReturnType<typeof pLimit>;
  readonly registry: ApplySetRegistry;
  readonly claims: Pick<SourceClaims, 'isSaidBesides' | 'letsGo' | 'looks'>;
  readonly written?: Pick<CommitBarrier, 'deleted'> | undefined;
  /** Called for each object as soon as the hub has deleted it. */
  readonly onDeleted?: ((record: DeletionRecord) => void) | undefined;
}

/** What the hub has of the source. */
export interface PruneState {
  readonly members: ReadonlyMap<string, KubeObject>;
  /** Every kind of theirs could be listed. */
  readonly areAll: boolean;
  /** By identity: what other sources have there of the same kinds. */
  readonly others: ReadonlyMap<string, string>;
  /** Something that the source holds in Git was found on the hub, or brought there, in this pass. */
  readonly arrives: boolean;
  /** Of the ApplySet, with the release by hand; one in Git is noted there before anything goes. */
  readonly parent: KubeObject | undefined;
  /** See `noteMembers`. */
  readonly membersBefore: number | undefined;
  /** Objects of the source, with their places, whose kind the hub does not serve. */
  readonly notServed: readonly string[];
}

export interface PruneOutcome extends Pick<SyncOutcome, 'pruneHeld' | 'pruneWaits' | 'released'> {
  readonly deleted: readonly KubeObject[];
  readonly problems: readonly SyncProblem[];
}

/**
 * How many members there were before what the source brings now, beside what leaves it: what may be deleted is a share of these, in every
 * later look and in the next process as well. To be asked before the first of it is applied; undefined: nothing leaves, or nothing comes.
 */
export async function noteMembers(
  parts: Omit<PruneParts, 'limit'>,
  objects: SyncInput['objects'],
  found: Pick<PruneState, 'members' | 'areAll' | 'others' | 'parent'>,
): Promise<number | undefined> {
  const { claims, source, registry } = parts;
  const { members, areAll } = found;
  const memory = memoryOf(parts, found);
  if (memory.membersBefore !== undefined || !areAll) return memory.membersBefore;
  const known = knownOf(parts, objects, memory, found);
  const leaves = ([identity, object]: readonly [string, KubeObject]): boolean =>
    claims.letsGo(source, identity) && !known.movesOn(identity) && isPruned(object);
  if (![...members].some(leaves)) return undefined;
  const comes = ({ object }: SyncInput['objects'][number]): boolean =>
    !standingIdentities(object).some((identity) => members.has(identity));
  if (!objects.some(comes)) return undefined;
  const count = countedMembers(known).length;
  await registry.annotate(membersNote(count));
  return count;
}

function memoryOf(
  { clock, deletionWindowMs: windowMs }: Pick<PruneParts, 'clock' | 'deletionWindowMs'>,
  { parent }: Pick<PruneState, 'parent'>,
): PruneMemory {
  return readPruneMemory(parent?.metadata.annotations ?? {}, { nowMs: clock.now(), windowMs });
}

/** What a look at the members goes by, before the commit is on the hub and after. */
function knownOf(
  { claims, source, digest }: Pick<PruneParts, 'claims' | 'source' | 'digest'>,
  objects: SyncInput['objects'],
  memory: PruneMemory,
  { members, others }: Pick<PruneState, 'members' | 'others'>,
) {
  return {
    ...rememberedInput(objects, memory, others.keys()),
    members: [...members.values()],
    movesOn: (identity: string): boolean => claims.isSaidBesides(source, identity),
    digest,
  };
}

/**
 * Deletes the members that left Git, as far as may be: all of Git was read, something of the source stays, and so does most of it, or a
 * release lets it happen.
 */
export async function pruneHub(
  parts: PruneParts,
  input: SyncInput,
  state: PruneState,
): Promise<PruneOutcome> {
  const { areAll, arrives, membersBefore, notServed } = state;
  const memory = { ...memoryOf(parts, state), membersBefore };
  const known = knownOf(parts, input.objects, memory, state);
  const nothing: PruneOutcome = { deleted: [], problems: [], pruneHeld: undefined };
  const losses = await lossesOf(parts, input.complete ? leavingObjects(known) : []);
  if ('problem' in losses) return { ...nothing, problems: [losses.problem] };
  const plan = planPrune({
    ...parts,
    ...known,
    ...losses,
    arrives,
    complete: input.complete,
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
  const leaving = plan.objects.map((object) => identityOf(refOf(object)));
  if (!parts.claims.looks.areFresh(parts.source, leaving.join())) return { ...nothing, pruneWaits: true };
  if (plan.kind === 'prune') return prune(parts, input, plan, memory);
  const { message, token, isForLosses } = plan;
  const rest = restOf(parts, plan.objects, memory.releases);
  const earlier = noteDeletions(memory.earlier, memory.nowMs);
  const before = areAll ? membersNote(membersBefore ?? countedMembers(known).length) : {};
  await parts.registry.annotate({ ...heldNote(token, message, isForLosses), ...before, ...rest, ...earlier });
  return { ...nothing, pruneHeld: { message, token } };
}

/** What deleting the objects takes away. Where the hub does not say, nothing is deleted. */
async function lossesOf(
  { api, source }: Pick<PruneParts, 'api' | 'source'>,
  objects: readonly KubeObject[],
): Promise<{ readonly losses: readonly DeletionLoss[] } | { readonly problem: SyncProblem }> {
  try {
    const dependents = await readDependents(api, objects);
    return { losses: dependents === undefined ? [] : weighDeletions(objects, dependents) };
  } catch (error) {
    if (!(error instanceof BerthError)) throw error;
    const message = `what the deletion of ${objects.length} objects takes away cannot be read, so nothing is deleted: ${errorText(error)}`;
    return { problem: { object: `source ${source}`, message, location: undefined, retry: true } };
  }
}

/** Notes what is about to go, and why it may, before the first of it goes. */
async function prune(
  parts: PruneParts,
  input: SyncInput,
  plan: Extract<PrunePlan, { kind: 'prune' }>,
  { releases, lastRelease, earlier, nowMs }: PruneMemory,
): Promise<PruneOutcome> {
  const { objects, releasedToken, isRest = false } = plan;
  const marks = objects.map((object) => markOf(parts, object));
  const token = isRest ? lastRelease?.token : releasedToken;
  const isNoted = token === lastRelease?.token;
  const by = isNoted ? lastRelease?.by : committer(input);
  const released = token === undefined ? undefined : { token, by: by ?? 'unknown' };
  const isCounted = objects.length > 0 && releasedToken === undefined && !isRest;
  const going = (gone: readonly KubeObject[]): Annotations =>
    noteDeletions([...earlier, deletionOf(parts, gone, nowMs)], nowMs);
  await parts.registry.annotate({
    ...heldNote('', '', false),
    ...membersNote(undefined),
    // A release begins anew.
    ...(releasedToken === undefined
      ? restOf(parts, objects, releases)
      : { ...noteReleased(releases, releasedToken, marks), ...noteDeletions([], nowMs) }),
    ...(isCounted && going(objects)),
    // As `berth release` would have written it.
    ...(released !== undefined && !isNoted
      ? { [RELEASE_ANNOTATION]: released.token, [RELEASED_BY_ANNOTATION]: released.by }
      : {}),
  });
  const { deleted, problems } = await deleteAll(parts, objects, (object) => {
    const known = { source: parts.source, commit: commitIn(input), released: released ?? null };
    parts.onDeleted?.(deletionRecord(object, { ...known, atMs: parts.clock.now() }));
  });
  if (released !== undefined) {
    const done = new Set(deleted.map((object) => markOf(parts, object)));
    await parts.registry.annotate(noteRest(marks.filter((mark) => !done.has(mark))));
  }
  if (isCounted && deleted.length < objects.length) await parts.registry.annotate(going(deleted));
  return {
    deleted,
    problems,
    pruneHeld: undefined,
    released: deleted.length > 0 || !isRest ? released : undefined,
  };
}

function markOf({ digest }: PruneParts, object: KubeObject): string {
  return releaseMark(digest, formatRef(refOf(object)));
}

/** What is left of the release before. */
function restOf(parts: PruneParts, objects: readonly KubeObject[], releases: PruneReleases): Annotations {
  const marks = objects.map((object) => markOf(parts, object));
  return noteRest(marks.filter((mark) => releases.objects.has(mark)));
}

function deletionOf({ digest }: PruneParts, objects: readonly KubeObject[], atMs: number): Deletion {
  return {
    atMs,
    marks: objects.map((object) => deletionMark(digest, identityOf(refOf(object)))),
    unnamed: 0,
  };
}

type Annotations = Readonly<Record<string, string>>;

/** So that `berth release` can tell whether it was given the token of today; `''`: nothing is held. */
function heldNote(token: string, message: string, isForLosses: boolean): Annotations {
  return {
    [HELD_TOKEN_ANNOTATION]: token,
    [HELD_MESSAGE_ANNOTATION]: message,
    [HELD_LOSSES_ANNOTATION]: isForLosses ? token : '',
  };
}

function membersNote(count: number | undefined): Annotations {
  return { [MEMBERS_BEFORE_ANNOTATION]: count === undefined ? '' : String(count) };
}

async function deleteAll(
  { api, source, claims, limit, written }: PruneParts,
  objects: readonly KubeObject[],
  onDeleted: (object: KubeObject) => void,
): Promise<Pick<PruneOutcome, 'deleted' | 'problems'>> {
  const problems: SyncProblem[] = [];
  const deleted: KubeObject[] = [];
  for (const wave of [...inWaves(objects)].reverse())
    await Promise.all(
      wave.map((object) =>
        limit(async () => {
          // The other source may have read a commit since, and have the object by now.
          if (claims.isSaidBesides(source, identityOf(refOf(object)))) return;
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

/** Who, when and in which commit, as `berth release` says who and when. */
function committer({ commit }: SyncInput): string | undefined {
  if (commit === undefined) return undefined;
  const { author, committer: when, id } = commit;
  return `${author.name} <${author.email}> at ${new Date(when.timeMs).toISOString()} in commit ${id}`;
}

function commitIn({ commit }: SyncInput): DeletionRecord['commit'] {
  if (commit === undefined) return null;
  const { id, author, subject } = commit;
  return { id, author: `${author.name} <${author.email}>`, subject };
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
