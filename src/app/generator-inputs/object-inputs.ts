import { secretTexts } from '@berth/kube/secret-texts';
import { SECRET_TYPE_LABEL } from '../../core/argocd/cluster-secrets/cluster-secret.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { NotRendered } from '@berth/applicationset/failure/failures';
import type {
  ClusterSecret,
  DecisionObject,
  PluginResponse,
  PluginRequest,
  GeneratorInputs,
} from '@berth/applicationset/inputs/generator-inputs';

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
