import type { KubeObject } from '@berth/kube/model/object-meta';
import { isNewerResourceVersion } from '@berth/kube/model/resource-version';
import type { PublishState } from '../../judge/publish-state.ts';
import { placementOfPage } from '../../pages/decision-page.ts';
import { latestVersion } from './own-writes.ts';
import type { PassFacts } from './placement-facts.ts';
import type { PlacementState } from './placement-state.ts';

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
