import { byPageNumber, type DecisionPage } from './decision-page.ts';
import type { PageAction, SettledPage } from './plan-pages.ts';

/**
 * Lists each published cluster once. After an interrupted change a moved cluster may be on two
 * pages, and it would stay there while the next change is held. The first page keeps the cluster.
 */
export function listClustersOnce(pages: readonly DecisionPage[]): {
  readonly actions: readonly PageAction[];
  readonly pages: readonly SettledPage[];
} {
  const seen = new Set<string>();
  const actions: PageAction[] = [];
  const settled = [...pages].sort(byPageNumber).map(({ name, group, decisions: before }): SettledPage => {
    const decisions = before.filter(
      ({ clusterName }) => !seen.has(clusterName) && seen.add(clusterName).size > 0,
    );
    if (decisions.length < before.length) actions.push({ kind: 'write', page: name, decisions });
    return { name, group: group ?? { name: '', index: 0 }, decisions };
  });
  return { actions, pages: settled };
}
