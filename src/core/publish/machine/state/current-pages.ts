import type { KubeObject } from '../../../model/object-meta.ts';
import { placementOfPage } from '../../pages/decision-page.ts';
import { latestVersion } from './own-writes.ts';
import type { PassFacts } from './placement-facts.ts';
import type { PlacementState } from './placement-state.ts';

/** The pages of the placement: what the watch shows, plus the controller's own newer writes. */
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

/** Whether the watch shows exactly these pages, so that a plan can be based on it again. */
export function haveSameVersions(a: readonly KubeObject[], b: readonly KubeObject[]): boolean {
  const versions = (pages: readonly KubeObject[]): string =>
    JSON.stringify(pages.map(({ metadata }) => [metadata.name, metadata.resourceVersion]).sort());
  return versions(a) === versions(b);
}
