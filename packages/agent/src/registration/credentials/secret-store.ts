import { SECRET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import { CREDENTIAL_KEYS, type CredentialKey } from './credential-store.ts';
import { retryOnConflict } from '@berth/kube/create-if-absent';

/** Stores credentials in a Secret, as OCM's agent does. One write is one request. Other keys in the Secret stay. */
export class SecretStore<Key extends string = CredentialKey> {
  /** A Secret has no folder. Relative paths in the kubeconfig are replaced by data of the Secret. */
  readonly folder = '/';
  readonly #api: KubeApi;
  readonly #key: ObjectKey;
  readonly #keys: readonly string[];

  /**
   * @param api of the cluster that the agent runs in. The namespace must exist.
   * @param keys that are read
   */
  constructor(
    api: KubeApi,
    key: ObjectKey,
    keys: readonly Key[] = CREDENTIAL_KEYS as readonly string[] as Key[],
  ) {
    this.#api = api;
    this.#key = key;
    this.#keys = keys;
  }

  get place(): string {
    return `Secret ${this.#key.namespace}/${this.#key.name}`;
  }

  async read(): Promise<Readonly<Partial<Record<Key, string>>>> {
    const data = dataOf(await this.#api.get(SECRET, this.#key));
    const found = this.#keys
      .filter((key) => data[key] !== undefined)
      .map((key) => [key, Buffer.from(data[key] ?? '', 'base64').toString('utf8')]);
    return Object.fromEntries(found) as Partial<Record<Key, string>>;
  }

  async write(changes: { readonly [One in Key]?: string | undefined }): Promise<void> {
    return retryOnConflict(() => this.#writeOnce(changes));
  }

  async #writeOnce(changes: { readonly [One in Key]?: string | undefined }): Promise<void> {
    const encoded = Object.entries<string | undefined>(changes).map(
      ([key, content]) =>
        [key, content === undefined ? null : Buffer.from(content).toString('base64')] as const,
    );
    const existing = await this.#api.get(SECRET, this.#key);
    if (existing !== undefined) {
      const { uid, resourceVersion } = existing.metadata;
      const patch = { metadata: { uid, resourceVersion }, data: Object.fromEntries(encoded) };
      await this.#api.mergePatch(SECRET, this.#key, patch);
      return;
    }
    const data = Object.fromEntries(encoded.filter(([, content]) => content !== null));
    await this.#api.create(SECRET, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...this.#key },
      type: 'Opaque',
      data,
    });
  }
}

function dataOf(secret: KubeObject | undefined): Readonly<Record<string, string | undefined>> {
  return (secret?.['data'] ?? {}) as Readonly<Record<string, string | undefined>>;
}
