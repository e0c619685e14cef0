import type { KindInfo } from './kinds.ts';
import type { KubeObject } from './object-meta.ts';

/** `namespace` is '' for cluster-scoped kinds. */
export interface ObjectKey {
  readonly namespace: string;
  readonly name: string;
}

export interface ListOptions {
  /** '' or absent: all namespaces. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ObjectList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
}

export interface WatchOptions extends ListOptions {
  readonly resourceVersion: string;
  readonly signal: AbortSignal;
  /** Called when the server accepted the watch: from then on silence means that nothing changed. */
  readonly onOpen?: (() => void) | undefined;
}

export type WatchEvent =
  | { readonly type: 'added' | 'modified' | 'deleted'; readonly object: KubeObject }
  | { readonly type: 'bookmark'; readonly resourceVersion: string };

export interface WriteOptions {
  /** `token`: of a ServiceAccount, to be created; the object has the name of the account. */
  readonly subresource?: 'status' | 'approval' | 'token' | undefined;
  readonly fieldManager?: string | undefined;
  readonly dryRun?: boolean | undefined;
  /**
   * Requests a PartialObjectMetadata as the response, if the server supports it; otherwise the
   * complete object.
   */
  readonly metadataOnly?: boolean | undefined;
}

export interface DeleteOptions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly dryRun?: boolean | undefined;
}

/** Endpoints of an API server other than resources. */
export interface ServerEndpoints {
  /** @throws TransientError when there is no response; every response of the server is a value */
  probe(
    path: '/livez' | '/healthz' | '/version',
  ): Promise<{ readonly statusCode: number; readonly text: string }>;
}

/**
 * The Kubernetes API as Berth uses it, for the embedded hub, a real hub or a managed cluster.
 * Failures are thrown: ConflictError (409 on a write, also AlreadyExists), TransientError (network,
 * 429, 5xx, time-out), InputError (other 4xx, `code` is `kube.` and the Status reason in lower
 * case, e.g. `kube.notfound`, `kube.forbidden`, `kube.invalid`). Only `get` turns 404 into a value.
 * A failed read is always an error, never an empty list.
 */
export interface KubeApi {
  /** The server's URL, verbatim as configured. */
  readonly server: string;
  /**
   * Calls back each time that the server answers again after an outage. Absent: nobody notices outages.
   * @returns what ends this
   */
  readonly onRecovery?: ((listener: () => void) => () => void) | undefined;
  get(kind: KindInfo, key: ObjectKey): Promise<KubeObject | undefined>;
  /** Reads all pages of one consistent list. */
  list(kind: KindInfo, options?: ListOptions): Promise<ObjectList>;
  /**
   * Streams changes after `resourceVersion`; ends with an error when the version has expired (410:
   * `kube.expired`).
   */
  watch(kind: KindInfo, options: WatchOptions): AsyncIterable<WatchEvent>;
  create(kind: KindInfo, object: KubeObject, options?: WriteOptions): Promise<KubeObject>;
  /** PUT; the object's resourceVersion is the precondition. */
  update(kind: KindInfo, object: KubeObject, options?: WriteOptions): Promise<KubeObject>;
  /** JSON merge patch; put uid and resourceVersion into its metadata for a precondition. */
  mergePatch(kind: KindInfo, key: ObjectKey, patch: object, options?: WriteOptions): Promise<KubeObject>;
  /** Server-side apply. */
  apply(
    kind: KindInfo,
    object: KubeObject,
    options: WriteOptions & { readonly fieldManager: string; readonly force?: boolean },
  ): Promise<KubeObject>;
  /** Resolves when the server has accepted the deletion. Finalizers may delay it further. `false`: there is no such object. */
  delete(kind: KindInfo, key: ObjectKey, options?: DeleteOptions): Promise<boolean>;
  /** Finds the resource of a kind through discovery; undefined when the server does not have it. */
  resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined>;
}
