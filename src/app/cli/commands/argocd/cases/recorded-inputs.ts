import { NotRendered } from '@berth/applicationset/failure/failures';
import type { JsonValue } from '@berth/applicationset/json/json-value';
import type {
  ClusterSecret,
  DecisionObject,
  PluginResponse,
  PluginRequest,
  GeneratorInputs,
} from '@berth/applicationset/inputs/generator-inputs';

/**
 * A line of recorded cases: an ApplicationSet, and the objects and plugin responses with which Argo
 * CD rendered it.
 */
export interface RecordedCase {
  readonly id: string;
  readonly applicationSet: JsonValue;
  readonly clusters?: readonly ClusterSecret[];
  readonly configMaps?: readonly NamedData[];
  readonly secrets?: readonly NamedData[];
  readonly decisions?: readonly RecordedDecision[];
  readonly plugin?: readonly { readonly request: PluginRequest; readonly response: PluginResponse }[];
}

interface NamedData {
  readonly name: string;
  readonly data?: Readonly<Record<string, string>>;
}

interface RecordedDecision extends DecisionObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: DecisionObject['metadata'] & { readonly namespace?: string };
}

const NAMESPACE = 'argocd';
/** Resources that the recording cluster always served. */
const OCM_DECISIONS = {
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  resource: 'placementdecisions',
};

/** The inputs of a recorded case, with the recorded plugin responses. */
export function recordedInputs({
  clusters,
  configMaps,
  secrets,
  decisions,
  plugin,
}: RecordedCase): GeneratorInputs {
  const dataOf = (objects: readonly NamedData[] | undefined, name: string) => {
    const object = objects?.find((candidate) => candidate.name === name);
    return object === undefined ? undefined : (object.data ?? {});
  };
  return {
    namespace: NAMESPACE,
    clusters: clusters ?? [],
    configMap: (name) => dataOf(configMaps, name),
    secret: (name) => dataOf(secrets, name),
    resources: (apiVersion, resource) => {
      const ofKind = (decisions ?? []).filter(
        (object) => object.apiVersion === apiVersion && `${object.kind.toLowerCase()}s` === resource,
      );
      const isServed =
        ofKind.length > 0 || (apiVersion === OCM_DECISIONS.apiVersion && resource === OCM_DECISIONS.resource);
      if (!isServed) return undefined;
      return ofKind
        .filter(({ metadata }) => (metadata.namespace ?? NAMESPACE) === NAMESPACE)
        .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    },
    callPlugin: ({ method, host, path, body }) => {
      const recorded = plugin?.find(
        ({ request }) =>
          request.method === method &&
          request.host === host &&
          request.path === path &&
          request.body === body,
      );
      if (recorded !== undefined) return recorded.response;
      throw new NotRendered(
        `no response is recorded for ${method} http://${host}${path} with the body ${body.trim()}`,
      );
    },
  };
}
