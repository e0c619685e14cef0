import { compileLabelSelector, matchesLabels } from '../../model/selector/label-selector-compile.ts';
import type { ObjectMeta } from '../../model/object-meta.ts';
import { pageLabels } from '../../publish/pages/decision-page.ts';
import type { PublishedGroup, PublishedPlacement } from '../../publish/pages/published-placements.ts';
import type { DecisionUse } from './decision-use.ts';
import type { GeneratorConfigs } from './generator-config.ts';

export interface SeenBy {
  readonly configs: GeneratorConfigs;
  /** In which alone clusterDecisionResource lists PlacementDecisions. */
  readonly argocdNamespace: string;
  /** Metadata of the PlacementDecisions of a placement, `namespace/name`, as the hub has them. */
  readonly pagesOf: (placement: string) => readonly ObjectMeta[];
}

/**
 * What a generator reads of a published decision: the groups of it, or undefined when it does not use the placement.
 * A placeholder in the name of a placement means any text, since only Argo CD knows its value.
 */
export function decisionsSeen(
  use: DecisionUse,
  { placement, groups }: PublishedPlacement,
  { configs, argocdNamespace, pagesOf }: SeenBy,
): readonly PublishedGroup[] | undefined {
  if (use.kind === 'plugin') {
    const isUsed = configs.plugins.has(use.configMap) && namePattern(use.placement).test(placement);
    // Each item carries the id of the whole decision, also where only a group is asked for.
    return isUsed ? groups : undefined;
  }
  const [namespace = '', name = ''] = placement.split('/');
  if (namespace !== argocdNamespace || !configs.decisionResources.has(use.configMap)) return undefined;
  if (use.name !== undefined) {
    const isPage = pagesOf(placement).some((page) => page.name === use.name);
    return isPage ? groups : undefined;
  }
  return seenBySelector(use.selector, name, groups, pagesOf(placement));
}

/** Labels of pages are those that Berth writes; others, which somebody added, are read from the pages. */
function seenBySelector(
  selector: Extract<DecisionUse, { kind: 'decision-resource' }>['selector'],
  name: string,
  groups: readonly PublishedGroup[],
  pages: readonly ObjectMeta[],
): readonly PublishedGroup[] | undefined {
  const compiled = compileLabelSelector(selector);
  if (!compiled.ok) return undefined;
  const seen = groups.filter((group) => {
    const own = pageLabels(name, group);
    const alike = pages.filter(({ labels = {} }) =>
      Object.entries(own).every(([key, value]) => labels[key] === value),
    );
    return [own, ...alike.map(({ labels }) => labels)].some((labels) =>
      matchesLabels(compiled.selector, labels),
    );
  });
  return seen.length === 0 ? undefined : seen;
}

/** `team-a/{{ name }}-web` fits `team-a/east-web`. */
function namePattern(text: string): RegExp {
  const known = text.split(/\{\{[\s\S]*?\}\}/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${known.join('.*')}$`);
}
