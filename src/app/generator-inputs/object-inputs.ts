import { NotRendered } from '@berth/applicationset/failure/failures';
import type {
  ClusterSecret,
  DecisionObject,
  GeneratorInputs,
  PluginRequest,
  PluginResponse,
} from '@berth/applicationset/inputs/generator-inputs';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { secretTexts } from '@berth/kube/secret-texts';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import {
  DECISION_GROUP_INDEX_LABEL,
  DECISION_GROUP_NAME_LABEL,
  PLACEMENT_LABEL,
} from '@berth/ocm/kind/placement-decision';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { groupBy } from '@berth/runtime/lists/group-by';
import { sha256 } from '@berth/runtime/sha256';
import { computeResponse } from '../../../plugin/response/compute-response.ts';
import { parsePluginRequest } from '../../../plugin/response/plugin-request.ts';
import {
  ON_EMPTY_ANNOTATION,
  type PluginPlacement,
  type PluginSource,
} from '../../../plugin/response/plugin-source.ts';
import { SECRET_TYPE_LABEL } from '../../core/argocd/cluster-secrets/cluster-secret.ts';

/** The parts of the generator inputs: objects, and values for missing ones. */
export interface InputParts {
  /** The namespace of Argo CD. Objects in other namespaces are ignored. */
  readonly namespace: string;
  /** ConfigMaps, Secrets and decision objects, in order of precedence. */
  readonly objects: readonly KubeObject[];
  /** Used if no object defines clusters. */
  readonly clusters?: readonly ClusterSecret[];
  /** Used for a missing ConfigMap or Secret. */
  readonly missingConfigMap?: Readonly<Record<string, string>>;
  readonly missingSecret?: Readonly<Record<string, string>>;
  readonly callPlugin?: (request: PluginRequest) => PluginResponse;
}

type WithData = KubeObject & {
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
};

/** The generator inputs that consist of these objects. */
export function objectInputs(parts: InputParts): GeneratorInputs {
  const { namespace } = parts;
  const objects = parts.objects.filter(
    ({ metadata }) => metadata.namespace === undefined || metadata.namespace === namespace,
  );
  const named = (kind: string, name: string): WithData | undefined =>
    objects.find(
      (object) => object.kind === kind && object.apiVersion === 'v1' && object.metadata.name === name,
    );
  const ownClusters = objects.filter(isClusterSecret).map(readClusterSecret);
  const listed = new Map<string, readonly DecisionObject[]>();
  return {
    namespace,
    clusters: ownClusters.length > 0 ? ownClusters : (parts.clusters ?? []),
    configMap: (name) => {
      const object = named('ConfigMap', name);
      return object === undefined ? parts.missingConfigMap : (object.data ?? {});
    },
    secret: (name) => {
      const object = named('Secret', name);
      return object === undefined ? parts.missingSecret : readSecret(object);
    },
    resources: (apiVersion, resource) => {
      const known = listed.get(`${apiVersion} ${resource}`);
      if (known !== undefined) return known;
      const found = objects.filter(
        (object) => object.apiVersion === apiVersion && `${(object.kind ?? '').toLowerCase()}s` === resource,
      );
      const sorted = [...(found as unknown as readonly DecisionObject[])].sort((a, b) =>
        a.metadata.name < b.metadata.name ? -1 : 1,
      );
      listed.set(`${apiVersion} ${resource}`, sorted);
      return sorted;
    },
    callPlugin:
      parts.callPlugin ??
      (({ host }) => {
        throw new NotRendered(
          `the plugin generator calls ${host}: use --hub or --repo DIR to take decisions from a hub or a folder`,
        );
      }),
  };
}

function isClusterSecret({ kind, metadata }: KubeObject): boolean {
  return kind === 'Secret' && metadata.labels?.[SECRET_TYPE_LABEL] === 'cluster';
}

function readClusterSecret(object: KubeObject): ClusterSecret {
  const { name, server, project, config } = readSecret(object);
  const { labels, annotations } = object.metadata;
  return {
    secretName: object.metadata.name,
    ...(name === undefined ? {} : { name }),
    ...(server === undefined ? {} : { server }),
    ...(project === undefined ? {} : { project }),
    ...(config === undefined ? {} : { config }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function readSecret(secret: WithData): Readonly<Record<string, string>> {
  return { ...secretTexts(secret), ...secret.stringData };
}

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
