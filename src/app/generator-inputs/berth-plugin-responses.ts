import { computeResponse } from '../../../plugin/response/compute-response.ts';
import { parsePluginRequest } from '../../../plugin/response/plugin-request.ts';
import {
  ON_EMPTY_ANNOTATION,
  type PluginPlacement,
  type PluginSource,
} from '../../../plugin/response/plugin-source.ts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import {
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  PLACEMENT_LABEL,
} from '@berth/ocm/kind/placement-decision';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { NotRendered } from '@berth/applicationset/failure/failures';
import type { PluginResponse, PluginRequest } from '@berth/applicationset/inputs/generator-inputs';
import { sha256 } from '@berth/runtime/sha256';
import { groupBy } from '@berth/runtime/lists/group-by';

/**
 * Responds to plugin generators like Berth's endpoint, from decisions in a snapshot. Other plugins
 * are not called.
 */
export function berthPluginResponses(snapshot: Snapshot): (request: PluginRequest) => PluginResponse {
  const source = sourceOf(snapshot);
  return ({ host, body }) => {
    const parsed = parsePluginRequest(body);
    if (!parsed.ok)
      throw new NotRendered(
        `the request of the plugin generator to ${host} names no placement: only Berth's own plugin is supported here (${parsed.message})`,
      );
    const { status, body: response } = computeResponse({ request: parsed.request, bindings: [] }, source);
    return { status, body: response.toString('utf8') };
  };
}

function sourceOf(snapshot: Snapshot): PluginSource {
  const clusters = new Map(snapshot.clusters.map((cluster) => [cluster.metadata.name, cluster]));
  const placements = new Map<string, PluginPlacement | undefined>();
  const scores = groupBy(snapshot.scores, (score) => score.metadata.namespace ?? '');
  return {
    problem: () => undefined,
    placement: (name) => {
      if (!placements.has(name)) placements.set(name, placementOf(snapshot, name));
      return placements.get(name);
    },
    cluster: (name): ManagedCluster | undefined => clusters.get(name),
    scores: (name) =>
      (scores.get(name) ?? []).flatMap(({ metadata, status }) =>
        (status?.scores ?? []).map((score) => ({ resource: metadata.name, ...score })),
      ),
    isInSets: () => true,
    waves: ({ applicationSet }) => {
      throw new NotRendered(
        `the waves of ApplicationSet ${applicationSet} are stored on the hub, which is not read here: remove input.parameters.waves to render all clusters`,
      );
    },
    revision: () => 0,
  };
}

function placementOf(snapshot: Snapshot, name: string): PluginPlacement | undefined {
  const [namespace, placement] = name.split('/');
  const pages = snapshot.decisions.filter(
    ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[PLACEMENT_LABEL] === placement,
  );
  if (pages.length === 0) return undefined;
  const groups = pages.map(({ metadata, status }) => ({
    name: metadata.labels?.[DECISION_GROUP_NAME_LABEL] ?? '',
    index: Number(metadata.labels?.[DECISION_GROUP_INDEX_LABEL] ?? 0),
    decisions: status?.decisions ?? [],
  }));
  const found = snapshot.placements.find(
    ({ metadata }) => metadata.namespace === namespace && metadata.name === placement,
  );
  return {
    groups,
    decisionId: sha256(JSON.stringify({ placement: name, groups })).slice(0, 12),
    commit: '',
    emptyAllowed: found?.metadata.annotations?.[ON_EMPTY_ANNOTATION] === 'allow',
  };
}
