import type { ObjectMeta } from '@berth/kube/model/object-meta';
import { compileLabelSelector, matchesLabels } from '@berth/kube/model/selector/label-selector-compile';
import { pageLabels } from '../../publish/pages/decision-page.ts';
import type { PublishedPlacement, PublishedGroup } from '../../publish/pages/published-placements.ts';
import type { DecisionUse, GeneratorConfigs } from './decision-use.ts';

export interface SeenDecisions {
  /** `namespace/name` of the used and published placements, sorted. */
  readonly placements: readonly string[];
  /**
   * 12 hexadecimal digits that change when one of these decisions changes; undefined: no published decision is used.
   */
  readonly digest: string | undefined;
}

/** The published decisions that an ApplicationSet reads. Equal for equal decisions, in every process and order. */
export function seenDecisions(
  uses: readonly DecisionUse[],
  published: readonly PublishedPlacement[],
  options: SeenBy & { readonly digest: (text: string) => string },
): SeenDecisions {
  const seen = published.flatMap((one) => {
    const groups = uses.flatMap((use) => decisionsSeen(use, one, options) ?? []);
    return groups.length === 0 ? [] : [{ placement: one.placement, groups: distinct(groups) }];
  });
  if (seen.length === 0) return { placements: [], digest: undefined };
  seen.sort((a, b) => (a.placement < b.placement ? -1 : 1));
  const text = JSON.stringify(
    seen.map(({ placement, groups }) => [
      placement,
      groups.map(({ name, index, decisions }) => [
        name,
        index,
        decisions.map(({ clusterName, reason, score }) => [clusterName, reason, score ?? null]),
      ]),
    ]),
  );
  return {
    placements: seen.map(({ placement }) => placement),
    digest: options.digest(text).slice(0, 12),
  };
}

/** Two generators of one ApplicationSet may read the same group. */
function distinct(groups: PublishedPlacement['groups']): PublishedPlacement['groups'] {
  return [...new Set(groups)].sort((a, b) => a.index - b.index || (a.name < b.name ? -1 : 1));
}

interface SeenBy {
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
function decisionsSeen(
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
