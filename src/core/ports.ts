import type { KindInfo } from './model/kinds.ts';
import type { KubeObject } from './model/object-meta.ts';

/** Time as an argument. The fake of the tests drifts and jumps. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once after `delayMs`; the returned function cancels. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** A clock that measures as well: what it measures by is never set and never goes back. */
export interface MonotonicClock extends Clock {
  /** Milliseconds since some moment before the start of this process; comparable only within it. */
  monotonicMs(): number;
}

/** Structured log: a constant message and fields. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  child(fields: LogFields): Logger;
}

export type LogFields = Readonly<Record<string, unknown>>;

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
  readonly subresource?: 'status' | undefined;
  readonly fieldManager?: string | undefined;
  readonly dryRun?: boolean | undefined;
  /** The writer knows what it wrote: where the server can, the answer is a PartialObjectMetadata, else the whole object. */
  readonly metadataOnly?: boolean | undefined;
}

export interface DeleteOptions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan' | undefined;
}

/**
 * What Berth asks of a Kubernetes API: the embedded hub, a real hub or a managed cluster alike. Failures are thrown:
 * ConflictError (409 on a write, also AlreadyExists), TransientError (network, 429, 5xx, time-out), InputError (other 4xx,
 * `code` is `kube.` and the Status reason in lower case, e.g. `kube.notfound`, `kube.forbidden`, `kube.invalid`).
 * Only `get` turns 404 into a value. A failed read is always an error, never an empty list.
 */
export interface KubeApi {
  /** The server's URL, verbatim as configured. */
  readonly server: string;
  get(kind: KindInfo, key: ObjectKey): Promise<KubeObject | undefined>;
  /** Reads all pages of one consistent list. */
  list(kind: KindInfo, options?: ListOptions): Promise<ObjectList>;
  /** Streams changes after `resourceVersion`; ends with an error when the server says the version is gone (410: `kube.expired`). */
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
  /** Resolves when the server accepted; the object may linger on finalizers. A missing object is `false`. */
  delete(kind: KindInfo, key: ObjectKey, options?: DeleteOptions): Promise<boolean>;
  /** Finds the resource of a kind through discovery; undefined when the server does not have it. */
  resolve(apiVersion: string, kind: string): Promise<KindInfo | undefined>;
}
