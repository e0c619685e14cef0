import { byPageNumber, type DecisionPage, type DesiredGroup } from './decision-page.ts';

/**
 * The groups that the pages list, each cluster once. Undefined when nothing is listed twice: a move between pages that was cut short
 * leaves a cluster on both, and when what comes next is held, it would stay so.
 */
export function listedOnce(pages: readonly DecisionPage[]): readonly DesiredGroup[] | undefined {
  const seen = new Set<string>();
  const groups = new Map<string, DesiredGroup>();
  let listed = 0;
  for (const { group = { name: '', index: 0 }, decisions } of [...pages].sort(byPageNumber)) {
    listed += decisions.length;
    const fresh = decisions.filter(({ clusterName }) => !seen.has(clusterName));
    for (const { clusterName } of fresh) seen.add(clusterName);
    const id = `${group.index} ${group.name}`;
    const { name, index } = group;
    groups.set(id, { name, index, decisions: [...(groups.get(id)?.decisions ?? []), ...fresh] });
  }
  return seen.size === listed ? undefined : [...groups.values()];
}
