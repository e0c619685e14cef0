import type { KubeObject } from '@berth/kube/model/object-meta';
import { formatRef, identityOf, objectIdentity, refOf } from '@berth/kube/model/object-ref';
import type { SourceObject } from '@berth/kube/model/source-object';
import { oncePerList } from '@berth/runtime/lists/once-per-list';
import { formatNameList } from '@berth/runtime/text/name-list';
import {
  approvalCode,
  type Digest,
  REMEDY_BEGINS,
  splitRemedy,
  unspentCode,
} from '../publish/approval/approval-code.ts';
import { RELEASE_ANNOTATION } from '../publish/approval/publish-annotations.ts';
import { type RemovalBudget, removalLimit } from '../publish/judge/removal-budget.ts';
import { departuresOf, type WithdrawnObject } from './applied/departure.ts';
import { deletionHash, type EarlierDeletions, countGoneMembers } from './earlier-deletions.ts';
import { type DeletionLoss, type EarlierLosses, lossesBefore, sumEarlierLosses } from './earlier-losses.ts';
import { type PruneReleases, releaseHash, nameHash } from './prune-releases.ts';

/** Why nothing is deleted, if no place is known. */
export const NOT_ALL_READ = 'not all of Git could be read';

export interface PruneInput {
  /** Name of the set, for the code. */
  readonly source: string;
  /** Members of the ApplySet on the hub. */
  readonly members: readonly KubeObject[];
  /** Identities of the objects of the source in Git now, including those that could not be read. */
  readonly wanted: ReadonlySet<string>;
  /** Another source has the object: it is transferred there and is not deleted. */
  readonly isTransferred: (identity: string) => boolean;
  /** An object of the source was just created on the hub. */
  readonly arrives: boolean;
  /** The source may become empty within the removal budget. */
  readonly allowEmpty?: boolean | undefined;
  /** The id of the commit that removed the objects, if known. */
  readonly commit?: string | undefined;
  /** False: a file could not be read, so it is unknown which objects were removed. */
  readonly complete: boolean;
  /** What could not be read, if known: `web.yaml cannot be read`. */
  readonly unread?: string | undefined;
  readonly budget: RemovalBudget;
  /** Codes of releases, in Git and by users. */
  readonly releasedCodes: readonly string[];
  /** The earlier releases. Absent: none. */
  readonly releases?: PruneReleases | undefined;
  /** Earlier deletions that count together with these. Absent: none, or unknown. */
  readonly earlier?: EarlierDeletions | undefined;
  /**
   * The number of members that the budget is a fraction of, if members were added since objects
   * were removed. Absent: no earlier removals.
   */
  readonly membersBefore?: number | undefined;
  /** Losses of placements, replica sets and clusters by deleting `objectsToPrune`. Absent: none. */
  readonly losses?: readonly DeletionLoss[] | undefined;
  /** Losses of earlier deletions that count together with `losses`. Absent: none, or unknown. */
  readonly earlierLosses?: EarlierLosses | undefined;
  /** The objects on the hub that can have losses (see `lossHolders`). Absent: unknown. */
  readonly holders?: readonly string[] | undefined;
  /** The current hold because of losses. Absent: none. */
  readonly heldLosses?: HeldLosses | undefined;
  /** Objects of the source whose kind the hub does not serve, with their places: they may be deleted objects under a mistyped kind. */
  readonly notServed?: readonly string[] | undefined;
  readonly digest: Digest;
}

/**
 * A hold because of losses. It stays while the same objects would be deleted: a hold in a plan must not end because the
 * commit itself moved a workload. It ends when all that would lose something is gone: another source may delete it.
 */
export interface HeldLosses {
  readonly code: string;
  readonly message: string;
  /** Hashes of the objects that would lose something. None: unknown. */
  readonly holders: readonly string[];
}

export type PrunePlan =
  | {
      readonly kind: 'prune';
      readonly objects: readonly KubeObject[];
      /** Objects that stay, without what Git applied. */
      readonly withdrawn: readonly WithdrawnObject[];
      /** The release that approves this. */
      readonly releasedCode?: string | undefined;
      /** All of it was released before, and a part is not deleted yet. */
      readonly isRest?: boolean | undefined;
    }
  | { readonly kind: 'suspended'; readonly message: string }
  | {
      readonly kind: 'held';
      readonly message: string;
      /** The end of the message: how a person approves it. Absent for a hold of an earlier process. */
      readonly remedy?: string | undefined;
      readonly code: string;
      readonly objects: readonly KubeObject[];
      /** They wait with the deletions. */
      readonly withdrawn: readonly WithdrawnObject[];
      /** Held because of losses: hashes of the objects that would lose something, if known. Absent: for another reason. */
      readonly holders: readonly string[] | undefined;
    };

type Leaving = Pick<PruneInput, 'members' | 'wanted' | 'isTransferred'>;

/** The objects that are deleted because they were removed from Git. */
export function objectsToPrune(input: Leaving): readonly KubeObject[] {
  return departuresOf(undeclaredMembers(input)).deleted;
}

/** The objects that are deleted, or lose what Git applied, because they were removed from Git. */
export function objectsThatLeave(input: Leaving): readonly KubeObject[] {
  const { deleted: objects, withdrawn } = departuresOf(undeclaredMembers(input));
  return leavingObjects({ objects, withdrawn });
}

/** All objects of a plan: those to delete, and those that stay without what Git applied. */
export function leavingObjects({
  objects,
  withdrawn,
}: Pick<PrunePlan & { kind: 'prune' }, 'objects' | 'withdrawn'>): readonly KubeObject[] {
  return [...objects, ...withdrawn.map(({ object }) => object)];
}

/** Members that the source no longer declares, including those that are kept. */
export function undeclaredMembers({ members, wanted, isTransferred }: Leaving): readonly KubeObject[] {
  return members.filter((member) => {
    const identity = identityOf(member);
    return !wanted.has(identity) && !isTransferred(identity);
  });
}

/** Decides which objects that were removed from Git may be deleted, and of which Git's fields may be taken off. */
export function planPrune(input: PruneInput): PrunePlan {
  const { deleted: objects, withdrawn } = departuresOf(undeclaredMembers(input));
  const names = leavingObjects({ objects, withdrawn })
    .map((object) => formatRef(refOf(object)))
    .sort();
  if (names.length === 0) return { kind: 'prune', objects, withdrawn };
  const stop = stopText(objects, withdrawn);
  if (!input.complete) {
    const message = `${names.length} objects are not in Git, but ${input.unread ?? NOT_ALL_READ}; ${stop}`;
    return { kind: 'suspended', message };
  }
  const { digest, releases } = input;
  if (releases !== undefined && names.every((name) => releases.objects.has(releaseHash(digest, name))))
    return { kind: 'prune', objects, withdrawn, isRest: true };
  const code = unspentCode(digest, approvalCode(digest, `sync ${input.source}`, names, []), releases?.spent);
  // First: a release is recorded, even if the commit that brings it makes it unnecessary.
  if (input.releasedCodes.includes(code)) return { kind: 'prune', objects, withdrawn, releasedCode: code };
  const { losses = [], earlierLosses } = input;
  const before = earlierLosses && {
    ...earlierLosses,
    losses: lossesBefore(earlierLosses.losses, input.members, { objects, losses, digest }),
  };
  const lost = judgeLosses(losses, { ...input, earlierLosses: before });
  const problem = holdOf(input, { deletions: objects.length, leaving: names.length }, lost?.text);
  const heldBefore = holdBefore(input, code);
  if (problem === undefined)
    return heldBefore === undefined
      ? { kind: 'prune', objects, withdrawn }
      : { ...heldBefore, kind: 'held', remedy: splitRemedy(heldBefore.message)[1], objects, withdrawn };
  const holders = lost === undefined ? heldBefore?.holders : marksOf(digest, lost.holders, heldBefore);
  const remedy = `${REMEDY_BEGINS} set the annotation ${RELEASE_ANNOTATION}: "${code}" on an object of the source in Git (${problem.carrier}), or run: berth release --source ${input.source} --token ${code}`;
  const message = `${problem.what}${lost === undefined ? '' : `, and they take more with them: ${lost.text}`}; ${stop}. ${problem.advice}${remedy}`;
  return { kind: 'held', message, remedy, code, objects, withdrawn, holders };
}

/** What does not happen. Objects that stay on the hub wait as well, because a mistake may be behind all of it. */
function stopText(objects: readonly KubeObject[], withdrawn: readonly WithdrawnObject[]): string {
  const namesOf = (all: readonly KubeObject[]): string =>
    formatNameList(all.map((object) => formatRef(refOf(object))).sort());
  const staying = namesOf(withdrawn.map(({ object }) => object));
  if (withdrawn.length === 0) return `these stay: ${namesOf(objects)}`;
  if (objects.length === 0) return `this is not changed: ${staying}`;
  return `these stay: ${namesOf(objects)}; and this is not changed: ${staying}`;
}

/** The current hold of the same deletions, if it still stands. */
function holdBefore({ heldLosses, holders, digest }: PruneInput, code: string): HeldLosses | undefined {
  if (heldLosses?.code !== code) return undefined;
  if (heldLosses.holders.length === 0 || holders === undefined) return heldLosses;
  const present = new Set(holders.map((name) => nameHash(digest, name)));
  return heldLosses.holders.some((hash) => present.has(hash)) ? heldLosses : undefined;
}

/** With those of the hold before, of which some may lose nothing at the moment. */
function marksOf(
  digest: Digest,
  holders: readonly string[],
  before: HeldLosses | undefined,
): readonly string[] {
  const hashes = holders.map((name) => nameHash(digest, name));
  return [...new Set([...(before?.holders ?? []), ...hashes])];
}

interface HoldReason {
  readonly what: string;
  readonly advice: string;
  readonly carrier: string;
}

function holdOf(
  input: PruneInput,
  counts: { readonly deletions: number; readonly leaving: number },
  lost: string | undefined,
): HoldReason | undefined {
  const { source, wanted, budget, commit, earlier, digest } = input;
  const stays = input.arrives || input.members.some((member) => wanted.has(identityOf(member)));
  const present = countedMembers(input);
  const before = Math.min(input.membersBefore ?? present.length, present.length);
  const left = `${counts.leaving} of ${before} objects left Git`;
  if (!stays && !input.allowEmpty)
    return {
      what: `${left}${commit === undefined ? '' : ` in commit ${commit.slice(0, 12)}`}, and nothing that source ${source} has in Git would be left on the hub`,
      advice: 'If that is a mistake, correct the source, for example its ref or its paths. ',
      carrier: 'for example a namespace that is added for it',
    };
  const { gone, of } = countGoneMembers(earlier ?? NO_EARLIER_DELETIONS, present, digest);
  const limit = removalLimit(budget, of - (present.length - before));
  // What stays on the hub is no removal. What it changes of placements is judged where they are published.
  if (counts.deletions === 0 || counts.deletions + gone <= limit)
    return lost === undefined ? notServedHold(input, left) : lossHold(left);
  if (earlier === undefined || gone === 0)
    return { what: `${left} (budget ${limit})`, advice: '', carrier: 'for example a namespace' };
  return {
    what: `${left}, after ${gone} that were deleted in the ${durationText(earlier.windowMs)} before (budget ${limit})`,
    advice:
      'Deletions this close to each other count as one, and this hold does not expire: put what should stay back into Git. ',
    carrier: 'for example a namespace',
  };
}

function lossHold(left: string): HoldReason {
  return {
    what: left,
    advice: 'Put what should stay back into Git. ',
    carrier: 'for example a namespace',
  };
}

/** A misspelt kind looks like a removal of the object that the document declared before. */
function notServedHold({ notServed = [] }: PruneInput, left: string): HoldReason | undefined {
  if (notServed.length === 0) return undefined;
  return {
    what: `${left}, while the source has kinds that the hub does not serve, so these objects may be declared under a mistyped kind: ${formatNameList(notServed.toSorted())}`,
    advice:
      'Correct the kind or the group, install its CustomResourceDefinition, or take it out of the source. ',
    carrier: 'for example a namespace',
  };
}

interface CountedMember {
  readonly identity: string;
  readonly isLeaving: boolean;
}

/**
 * The members that the budget is a share of, before or after the commit is on the hub: without objects transferred to
 * another source, and with objects that were deleted recently and come back.
 */
export function countedMembers({
  members,
  wanted,
  isTransferred,
  earlier = NO_EARLIER_DELETIONS,
  digest,
}: Pick<
  PruneInput,
  'members' | 'wanted' | 'isTransferred' | 'earlier' | 'digest'
>): readonly CountedMember[] {
  const present = new Map<string, CountedMember>();
  for (const member of members) {
    const identity = identityOf(member);
    const isLeaving = member.metadata.deletionTimestamp !== undefined;
    if (wanted.has(identity) || !isTransferred(identity)) present.set(identity, { identity, isLeaving });
  }
  const gone = new Set(earlier.deletions.flatMap(({ hashes }) => hashes));
  if (gone.size > 0)
    for (const identity of wanted)
      if (!present.has(identity) && gone.has(deletionHash(digest, identity)))
        present.set(identity, { identity, isLeaving: false });
  return [...present.values()];
}

const NO_EARLIER_DELETIONS: EarlierDeletions = { deletions: [], windowMs: 0, elsewhere: [] };

/**
 * The identities that the object may have on the hub: in `default` if it names no namespace, in none if its kind has
 * none.
 */
export function possibleIdentities(object: KubeObject): readonly string[] {
  let identities = POSSIBLE.get(object);
  if (identities === undefined) POSSIBLE.set(object, (identities = computePossibleIdentities(object)));
  return identities;
}

/** A plan compares the same objects several times. */
const POSSIBLE = new WeakMap<KubeObject, readonly string[]>();

function computePossibleIdentities(object: KubeObject): readonly string[] {
  const ref = refOf(object);
  const own = identityOf(object);
  if (object.metadata.namespace === undefined) return [own, objectIdentity({ ...ref, namespace: 'default' })];
  return ref.namespace === '' ? [own] : [own, objectIdentity({ ...ref, namespace: '' })];
}

/** The identities that the objects may have on the hub. */
export const declaredIdentities = oncePerList(
  (objects: readonly Pick<SourceObject, 'object'>[]): ReadonlySet<string> =>
    new Set(objects.flatMap(({ object }) => possibleIdentities(object))),
);

interface LossRules {
  /** The budget of holders without one of their own. */
  readonly budget: RemovalBudget;
  readonly earlierLosses?: EarlierLosses | undefined;
  readonly digest: Digest;
}

/** Losses that are not allowed. */
interface RefusedLosses {
  /** What is lost, for a message. */
  readonly text: string;
  /** The objects that would lose it, such as `Placement team-a/web`. */
  readonly holders: readonly string[];
}

const NO_EARLIER_LOSSES: EarlierLosses = { losses: [], windowMs: 0 };

/** Losses that a message names; the others are counted. */
const MAX_NAMED = 3;

/**
 * The losses that are not allowed: more clusters or works of one holder than its budget allows, or any loss of a
 * placement that is held. Losses of the holder within the window are added, both to the loss and to the total that the
 * budget is a share of.
 * @returns undefined if every loss is allowed
 */
export function judgeLosses(
  losses: readonly DeletionLoss[],
  { budget, earlierLosses, digest }: LossRules,
): RefusedLosses | undefined {
  const { losses: earlier, windowMs } = earlierLosses ?? NO_EARLIER_LOSSES;
  const refused = losses.flatMap((loss) => {
    if (loss.heldFor !== undefined) return [{ loss, why: `held: ${loss.heldFor}` }];
    const before = earlier.length === 0 ? 0 : sumEarlierLosses(earlier, nameHash(digest, loss.holder));
    const limit = removalLimit(loss.budget ?? budget, loss.of + before);
    if (loss.count + before <= limit) return [];
    const after = before === 0 ? '' : `, after ${before} in the ${durationText(windowMs)} before`;
    return [{ loss, why: `budget ${limit}${after}` }];
  });
  if (refused.length === 0) return undefined;
  const named = refused.slice(0, MAX_NAMED).map(({ loss, why }) => describe(loss, why));
  const more = refused.length > MAX_NAMED ? [`and ${refused.length - MAX_NAMED} more such losses`] : [];
  return { text: [...named, ...more].join('; '), holders: refused.map(({ loss }) => loss.holder) };
}

function describe({ holder, by, what, count, of, clusters }: DeletionLoss, why: string): string {
  const isOwn = by.length === 1 && by[0] === holder;
  const verb = by.length === 1 ? 'takes' : 'take';
  const whose = isOwn ? '' : ` of ${holder}`;
  return `${formatNameList(by)} ${verb} away ${count} of ${of} ${what}${whose} (${why}): ${formatNameList(clusters)}`;
}

/** `10 minutes`, `minute`, `90 seconds`: to follow "the". */
function durationText(ms: number): string {
  const [count, unit] = ms % 60_000 === 0 ? [ms / 60_000, 'minute'] : [ms / 1_000, 'second'];
  return count === 1 ? unit : `${count} ${unit}s`;
}
