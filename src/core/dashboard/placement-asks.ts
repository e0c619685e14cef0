import type { LabelSelector } from '@berth/kube/model/selector/label-selector';
import type { Placement } from '@berth/ocm/kind/placement';
import { formatNameList } from '@berth/runtime/text/name-list';

/** What a placement asks for, as a phrase: `3 clusters of set prod with label region=eu, label tier=gold`. */
export function placementAsks({ spec = {} }: Placement): string {
  const { numberOfClusters: count, clusterSets = [], predicates = [] } = spec;
  const many = count === undefined ? 'every cluster' : `${count} ${count === 1 ? 'cluster' : 'clusters'}`;
  const sets =
    clusterSets.length === 0
      ? ''
      : ` of ${clusterSets.length === 1 ? 'set' : 'sets'} ${formatNameList(clusterSets)}`;
  const wanted = predicates
    .map(({ requiredClusterSelector: selector = {} }) =>
      [
        ...termsOf('label', selector.labelSelector),
        ...termsOf('claim', selector.claimSelector),
        ...(selector.celSelector?.celExpressions ?? []).map((expression) => `CEL ${expression}`),
      ].join(', '),
    )
    .filter((text) => text !== '');
  return `${many}${sets}${wanted.length === 0 ? '' : ` with ${wanted.join('; or with ')}`}`;
}

function termsOf(what: 'label' | 'claim', selector: LabelSelector | undefined): readonly string[] {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return [
    ...Object.entries(matchLabels).map(([key, value]) => `${what} ${key}=${value}`),
    ...matchExpressions.map(({ key, operator, values = [] }) => {
      const list = values.length === 0 ? '' : ` (${values.join(', ')})`;
      return `${what} ${key} ${operator}${list}`;
    }),
  ];
}
