import {
  type AddOnScore,
  ON_EMPTY_ANNOTATION,
  type PluginPlacement,
  type PluginSource,
} from '../../../../plugin/response/plugin-source.ts';
import type { ObjectStore } from '@berth/kube/cache/object-store';
import type { AddOnPlacementScore } from '@berth/ocm/kind/addon-placement-score';
import type { ManagedClusterSet } from '@berth/ocm/kind/managed-cluster-set';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { isMember, membershipOf } from '@berth/placement/filter/set-membership';
import type { PublishedPlacement } from '../../../core/publish/pages/published-placements.ts';
import { sha256 } from '@berth/runtime/sha256';
import type { ControllerHttpOptions } from './controller-http-options.ts';

type Parts = Pick<ControllerHttpOptions, 'publishedPlacements' | 'inventory' | 'commitOf' | 'waves'>;

/**
 * The data of the plugin endpoint: published decisions and clusters, from the controller's memory.
 */
export function publishedPluginSource({
  publishedPlacements,
  inventory,
  commitOf,
  waves,
}: Parts): PluginSource {
  const { clusters, clusterSets, placements, scores } = inventory;
  const ids = new WeakMap<PublishedPlacement, string>();
  const decisionId = (published: PublishedPlacement): string => {
    const known = ids.get(published) ?? sha256(JSON.stringify(published)).slice(0, 12);
    ids.set(published, known);
    return known;
  };
  const lastCommits = new Map<string, string>();
  /** If a placement was deleted while its decision stays published, the previous commit counts. */
  const lastCommitOf = (name: string): string => {
    const placement = placements.store.get(name);
    if (placement !== undefined) lastCommits.set(name, commitOf(placement));
    return lastCommits.get(name) ?? '';
  };
  const clusterOf = (name: string): ManagedCluster | undefined =>
    clusters.store.get(name) as unknown as ManagedCluster | undefined;
  const scoresOf = scoresByCluster(scores.store);
  return {
    problem: () =>
      inventory.problem() ??
      (publishedPlacements.complete ? undefined : 'the first publication is not complete'),
    placement: (name): PluginPlacement | undefined => {
      const published = publishedPlacements.get(name);
      if (published === undefined) return undefined;
      const annotations = placements.store.get(name)?.metadata.annotations;
      return {
        groups: published.groups,
        decisionId: decisionId(published),
        commit: lastCommitOf(name),
        emptyAllowed: annotations?.[ON_EMPTY_ANNOTATION] === 'allow',
      };
    },
    cluster: clusterOf,
    scores: scoresOf,
    isInSets: (name, sets) => {
      const cluster = clusterOf(name);
      if (cluster === undefined) return false;
      return [...sets].some((set) => {
        const found = clusterSets.store.get(set) as unknown as ManagedClusterSet | undefined;
        return found !== undefined && isMember(cluster, membershipOf(found));
      });
    },
    waves: (request) => waves?.readWaves(request) ?? WITHOUT_WAVES,
    // Each of these revisions only grows.
    revision: () => clusters.store.revision + clusterSets.store.revision + scores.store.revision,
  };
}

const NONE: readonly AddOnScore[] = [];
const WITHOUT_WAVES = {
  ok: false,
  isWrong: true,
  message: 'input.parameters.waves needs berth serve --argocd-waves',
} as const;

/** The scores of a cluster are in its namespace. They are grouped again when one of them changed. */
function scoresByCluster(store: ObjectStore): (cluster: string) => readonly AddOnScore[] {
  let revision = -1;
  const grouped = new Map<string, AddOnScore[]>();
  return (cluster) => {
    if (revision !== store.revision) {
      grouped.clear();
      for (const object of store.list()) {
        const { metadata, status } = object as unknown as AddOnPlacementScore;
        const namespace = metadata.namespace ?? '';
        const known = grouped.get(namespace) ?? [];
        for (const { name, value } of status?.scores ?? [])
          known.push({ resource: metadata.name, name, value });
        grouped.set(namespace, known);
      }
      revision = store.revision;
    }
    return grouped.get(cluster) ?? NONE;
  };
}
