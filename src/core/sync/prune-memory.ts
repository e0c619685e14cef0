import type { SourceObject } from '@berth/kube/model/source-object';
import { releaseCodes } from '../publish/approval/approved-plans.ts';
import {
  HELD_LOSSES_ANNOTATION,
  HELD_MESSAGE_ANNOTATION,
  HELD_CODE_ANNOTATION,
  MEMBERS_BEFORE_ANNOTATION,
  RELEASE_ANNOTATION,
  RELEASED_BY_ANNOTATION,
} from '../publish/approval/publish-annotations.ts';
import { countedDeletions, type Deletion, parseDeletions } from './earlier-deletions.ts';
import { type EarlierLoss, parseLosses } from './earlier-losses.ts';
import { declaredIdentities, type HeldLosses, type PruneInput } from './plan-prune.ts';
import { parsePruneReleases, type PruneReleases, splitHashes } from './prune-releases.ts';

/** The deletions and releases that an ApplySet's parent stores, as they count now. */
export interface PruneMemory {
  readonly releases: PruneReleases;
  /** The last release, in Git or by a user. */
  readonly lastRelease: { readonly code: string; readonly by: string | undefined } | undefined;
  /** Deletions are held now. */
  readonly isHeld: boolean;
  /** The deletions that are held because of losses. */
  readonly heldLosses: PruneInput['heldLosses'];
  /** Deletions that count toward the budget. */
  readonly earlier: readonly Deletion[];
  /** Their losses. */
  readonly earlierLosses: readonly EarlierLoss[];
  /**
   * The number of members before objects were added while deletions were pending; undefined: none
   * pending.
   */
  readonly membersBefore: number | undefined;
  /** How long a deletion counts. */
  readonly windowMs: number;
  readonly nowMs: number;
}

/** From the annotations of the parent; none: nothing was ever deleted or released. */
export function readPruneMemory(
  annotations: Readonly<Record<string, string>>,
  { nowMs, windowMs }: { readonly nowMs: number; readonly windowMs: number },
): PruneMemory {
  const {
    [HELD_CODE_ANNOTATION]: held = '',
    [HELD_LOSSES_ANNOTATION]: losses = '',
    [HELD_MESSAGE_ANNOTATION]: message = '',
    [RELEASE_ANNOTATION]: code,
    [RELEASED_BY_ANNOTATION]: by,
    [MEMBERS_BEFORE_ANNOTATION]: before = '',
  } = annotations;
  const isHeld = held !== '';
  const now = { nowMs, windowMs, isHeld };
  return {
    releases: parsePruneReleases(annotations),
    lastRelease: code === undefined ? undefined : { code, by },
    isHeld,
    heldLosses: heldLossesIn(losses, held, message),
    earlier: countedDeletions(parseDeletions(annotations), now),
    earlierLosses: countedDeletions(parseLosses(annotations), now),
    membersBefore: /^\d{1,9}$/.test(before) ? Number(before) : undefined,
    windowMs,
    nowMs,
  };
}

/**
 * The inputs of `planPrune`, from Git and from the stored memory. Controller and plan share this
 * code, so that their results are equal. `elsewhere`: identities of objects that other sources
 * have on the hub or declare.
 */
export function pruneInputFromMemory(
  objects: readonly Pick<SourceObject, 'object'>[],
  { releases, lastRelease, earlier, earlierLosses, membersBefore, heldLosses, windowMs }: PruneMemory,
  elsewhere: Iterable<string>,
): Pick<
  PruneInput,
  'wanted' | 'releasedCodes' | 'releases' | 'earlier' | 'earlierLosses' | 'membersBefore' | 'heldLosses'
> {
  const releasedCodes = lastRelease === undefined ? [] : [lastRelease.code];
  for (const { object } of objects)
    if (object.metadata.annotations !== undefined) releasedCodes.push(...releaseCodes(object.metadata));
  return {
    ...{ wanted: declaredIdentities(objects), releasedCodes },
    releases,
    membersBefore,
    heldLosses,
    earlier: { deletions: earlier, windowMs, elsewhere },
    earlierLosses: { losses: earlierLosses, windowMs },
  };
}

/** Annotations have a limit of size. The holders of a hold with more of them are unknown. */
const MAX_HOLDERS = 1_000;

/**
 * Annotations that let `berth release` check that its code is the current one. Code `''`: nothing is held.
 * @param holders see `PrunePlan`
 */
export function noteHeld(
  code: string,
  message: string,
  holders: readonly string[] | undefined,
): Readonly<Record<string, string>> {
  const hashes = holders === undefined || holders.length > MAX_HOLDERS ? [] : holders;
  return {
    [HELD_CODE_ANNOTATION]: code,
    [HELD_MESSAGE_ANNOTATION]: message,
    [HELD_LOSSES_ANNOTATION]: holders === undefined ? '' : [code, hashes.join('')].join(' ').trim(),
  };
}

/** @param text the code of the hold, and the hashes of its holders */
function heldLossesIn(text: string, held: string, message: string): HeldLosses | undefined {
  const [code = '', hashes = ''] = text.split(' ');
  return code === '' || code !== held ? undefined : { code, message, holders: splitHashes(hashes) };
}

export function noteMembersBefore(count: number | undefined): Readonly<Record<string, string>> {
  return { [MEMBERS_BEFORE_ANNOTATION]: count === undefined ? '' : String(count) };
}
