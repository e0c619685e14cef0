import type { KubeObject } from '@berth/kube/model/object-meta';
import { isNewerResourceVersion } from '@berth/kube/model/resource-version';
import type { PublishState } from '../../judge/publish-state.ts';
import { placementOfPage } from '../../pages/decision-page.ts';
import type { WatchedChange } from './placement-event.ts';
import type {
  Disturbance,
  OwnWrite,
  PassFacts,
  PlacementState,
  UnattributedChange,
} from './placement-state.ts';

/*
 * Read-your-writes while the watch is behind. Each write has the previous version as its
 * precondition, so the versions before the last write are known exactly. Every other version that
 * the watch shows is newer.
 */

const ABSENT = '(absent)';

function versionOf(object: KubeObject | undefined): string {
  return object?.metadata.resourceVersion ?? ABSENT;
}

/** The newest known version: the last write, or what the watch shows if that is newer. */
export function latestVersion(
  write: OwnWrite | undefined,
  seen: KubeObject | undefined,
): KubeObject | undefined {
  return write?.older.includes(versionOf(seen)) === true ? write.after : seen;
}

/**
 * The last write after a write that turned `before` into `after`. Either is undefined if the object
 * does not exist.
 */
export function recordWrite(earlier: OwnWrite | undefined, change: WatchedChange): OwnWrite | undefined {
  const version = versionOf(change.before);
  if (version === versionOf(change.after)) return earlier;
  return {
    after: change.after,
    version: versionOf(change.after),
    older: [...(earlier?.older ?? []), version],
  };
}

/**
 * The last write after the watch showed the object. If the watch already showed the write, an older
 * version means that the hub was restored from a backup.
 * @returns undefined when the watch shows a version newer than the write
 */
export function afterShown(write: OwnWrite | undefined, seen: KubeObject | undefined): OwnWrite | undefined {
  const version = versionOf(seen);
  if (write === undefined || write.older.includes(version)) return write;
  if (version !== write.version) return undefined;
  // The watch has the object now, so the copy is not needed.
  return write.older.length === 0 ? write : { after: undefined, version, older: [] };
}

/** Whether the watch still shows a version before the write. */
export function isWatchBehind(write: OwnWrite): boolean {
  return write.older.length > 0;
}

/** Whether the version is that of the write or an older one, so that it is nothing new. */
export function isOwnWrite(write: OwnWrite | undefined, seen: KubeObject | undefined): boolean {
  if (write === undefined) return false;
  const version = versionOf(seen);
  return write.older.includes(version) || write.version === version;
}

/** A key for a change of an object. A write and the watch event that shows it have the same key. */
export function changeKey(name: string, { before, after }: WatchedChange): string {
  return after === undefined ? `${name} deleted ${versionOf(before)}` : `${name} ${versionOf(after)}`;
}

/**
 * The pages of the placement: those that the watch shows, and newer ones that this controller
 * wrote.
 */
export function currentPages(
  state: Pick<PlacementState, 'pages'>,
  { key, pages, seenPage }: Pick<PassFacts, 'key' | 'pages' | 'seenPage'>,
): readonly KubeObject[] {
  if (state.pages.size === 0) return pages;
  const shown = new Set(pages.map(({ metadata }) => metadata.name));
  const names = [...shown, ...[...state.pages.keys()].filter((name) => !shown.has(name))];
  return names
    .map((name) => latestVersion(state.pages.get(name), seenPage(name)))
    .filter((page): page is KubeObject => page !== undefined && placementOfPage(page) === key);
}

/** The names and versions of pages as one text, in a fixed order. */
export function pageVersions(pages: readonly KubeObject[]): string {
  return JSON.stringify(pages.map(({ metadata }) => [metadata.name, metadata.resourceVersion]).sort());
}

/**
 * Whether both lists have the same pages in the same versions. If the watch shows exactly the pages
 * that were read, plans can use the watch again.
 */
export function haveSameVersions(a: readonly KubeObject[], b: readonly KubeObject[]): boolean {
  return pageVersions(a) === pageVersions(b);
}

/** The newest resource version of the pages; '0' if there are none. */
export function newestPageVersion(pages: readonly KubeObject[]): string {
  const versions = pages.map(({ metadata }) => metadata.resourceVersion ?? '0');
  return versions.reduce(
    (newest, version) => (isNewerResourceVersion(version, newest) ? version : newest),
    '0',
  );
}

/**
 * The names of the pages that were written after the last record was made, on a hub that was
 * restored from a backup since. Undefined if it was not restored since.
 */
export function pagesSinceRecord(
  pages: readonly KubeObject[],
  state: Pick<PublishState, 'pagesVersion' | 'restores'> | undefined,
  { restoredTo }: Pick<PassFacts, 'restoredTo'>,
): ReadonlySet<string> | undefined {
  const backups = restoredTo.slice(state?.restores ?? 0);
  if (backups.length === 0) return undefined;
  // The hub gives versions after that of the backup a second time.
  const limits = state?.pagesVersion === undefined ? backups : [...backups, state.pagesVersion];
  const isNewer = ({ metadata: { resourceVersion = '0' } }: KubeObject): boolean =>
    limits.some((limit) => isNewerResourceVersion(resourceVersion, limit));
  return new Set(pages.filter(isNewer).map(({ metadata }) => metadata.name));
}

/** Berth restores its pages this often. Then it leaves them to the other writer. */
export const RIVAL_ROUNDS = 3;
/** How long a round counts. Three rounds within this time are not an accident. */
const ROUND_COUNTS_MS = 600_000;

/**
 * When the rounds of changes by others that still count began, oldest first, in milliseconds since
 * the epoch. The clock may have been set back, so a round may be in the future.
 */
export function recentRivalRounds(
  { rivalRoundsAtMs }: Pick<PlacementState, 'rivalRoundsAtMs'>,
  nowMs: number,
): readonly number[] {
  return rivalRoundsAtMs.filter((atMs) => Math.abs(nowMs - atMs) < ROUND_COUNTS_MS);
}

/** Milliseconds until the round no longer counts. */
export function untilForgotten(roundAtMs: number, nowMs: number): number {
  return Math.max(1, ROUND_COUNTS_MS - Math.abs(nowMs - roundAtMs));
}

/**
 * Notes that another writer changed a page, if this process is the leader and the placement exists.
 * All changes until Berth writes a page again are one round, so a person who deletes five pages
 * does not count as a rival. While a write has an unknown outcome, a change may be that write and
 * does not count.
 */
export function noteRivalWrite(state: PlacementState, { rivalAtMs }: UnattributedChange): PlacementState {
  if (rivalAtMs === undefined || !state.wroteSinceRival || state.isUncertain) return state;
  const recent = recentRivalRounds(state, rivalAtMs);
  const rivalRoundsAtMs = [...recent, rivalAtMs].slice(-RIVAL_ROUNDS - 1);
  return {
    ...state,
    rivalRoundsAtMs,
    wroteSinceRival: false,
    wasAnnotated: state.wasAnnotated && recent.length > 0,
  };
}

/**
 * How long Berth waits for a new decision after changes by others. Without a limit, endless changes
 * would block the placement.
 */
const MAX_WAIT_MS = 10_000;

/*
 * Decisions depend on earlier ones: Steady prefers clusters that are published. Berth therefore
 * discards a result that was computed from pages that others changed. It first restores the pages,
 * and then decides the placement again.
 */

/** The disturbance after others changed which clusters the pages list. */
export function extendDisturbance(earlier: Disturbance | undefined, nowMs: number): Disturbance {
  return { firstMs: stillRunning(earlier, nowMs)?.firstMs ?? nowMs, lastMs: nowMs };
}

/** Whether a new decision has to wait because of changes by others. */
export function isDisturbed(disturbance: Disturbance | undefined, nowMs: number): boolean {
  const running = stillRunning(disturbance, nowMs);
  return running !== undefined && !isOver(running.firstMs, nowMs);
}

function stillRunning(disturbance: Disturbance | undefined, nowMs: number): Disturbance | undefined {
  return disturbance === undefined || isOver(disturbance.lastMs, nowMs) ? undefined : disturbance;
}

function isOver(sinceMs: number, nowMs: number): boolean {
  return Math.abs(nowMs - sinceMs) >= MAX_WAIT_MS;
}
