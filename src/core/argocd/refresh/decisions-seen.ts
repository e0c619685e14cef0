import { compileLabelSelector, matchesLabels } from '@berth/kube/model/selector/label-selector-compile';
import type { ObjectMeta } from '@berth/kube/model/object-meta';
import { pageLabels } from '../../publish/pages/decision-page.ts';
import type { PublishedGroup, PublishedPlacement } from '../../publish/pages/published-placements.ts';
import type { DecisionUse } from './decision-use.ts';
import type { GeneratorConfigs } from './generator-config.ts';

export interface SeenBy {
  readonly configs: GeneratorConfigs;
  /** The only namespace in which clusterDecisionResource lists PlacementDecisions. */
  readonly argocdNamespace: string;
  /** Metadata of the PlacementDecisions of a placement (`namespace/name`) on the hub. */
  readonly pagesOf: (placement: string) => readonly ObjectMeta[];
}

/**
 * The groups of a published decision that a generator reads, or undefined if it does not use the placement. A
 * placeholder in the name of a placement matches any text, because only Argo CD knows its value.
 */
export function decisionsSeen(
  use: DecisionUse,
  { placement, groups }: PublishedPlacement,
  { configs, argocdNamespace, pagesOf }: SeenBy,
): readonly PublishedGroup[] | undefined {
  if (use.kind === 'plugin') {
    const isUsed = configs.plugins.has(use.configMap) && namePattern(use.placement).test(placement);
    // Each item contains the id of the whole decision, even if only one group is requested.
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

/** Labels that Berth writes are computed. Labels that others added are read from the PlacementDecisions. */
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

/** `team-a/{{ name }}-web` matches `team-a/east-web`. */
function namePattern(text: string): RegExp {
  const known = text.split(/\{\{[\s\S]*?\}\}/).map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${known.join('.*')}$`);
}
