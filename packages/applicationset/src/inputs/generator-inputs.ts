import type { JsonValue } from '../json/json-value.ts';

/**
 * The inputs of generators besides the ApplicationSet: objects in the namespace of Argo CD, and
 * responses of plugins.
 */
export interface GeneratorInputs {
  /** The namespace of Argo CD. */
  readonly namespace: string;
  readonly clusters: readonly ClusterSecret[];
  /** The data of a ConfigMap; undefined if no ConfigMap has this name. */
  configMap(name: string): Readonly<Record<string, string>> | undefined;
  /** The decoded data of a Secret. */
  secret(name: string): Readonly<Record<string, string>> | undefined;
  /**
   * The objects of a resource in the namespace of Argo CD, by name. Undefined if the API server
   * does not serve the resource.
   */
  resources(apiVersion: string, resource: string): readonly DecisionObject[] | undefined;
  /** A decision names a cluster without a cluster Secret, which Argo CD leaves out silently. */
  onUnknownCluster?(name: string): void;
  /** @throws NotRendered if no response is known */
  callPlugin(request: PluginRequest): PluginResponse;
}

/** A cluster Secret, decoded. */
export interface ClusterSecret {
  readonly secretName: string;
  readonly name?: string;
  readonly server?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly project?: string;
  /** JSON text; `{}` if absent. */
  readonly config?: string;
}

/** An object with a list of decisions in its status. */
export interface DecisionObject {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly status?: JsonValue | undefined;
}

export interface PluginRequest {
  readonly method: 'POST' | 'GET';
  readonly host: string;
  readonly path: string;
  readonly body: string;
}

export interface PluginResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** Delay before the headers, in milliseconds. */
  readonly delayMs?: number;
  /** Delay after half of the body, in milliseconds. */
  readonly bodyDelayMs?: number;
}
