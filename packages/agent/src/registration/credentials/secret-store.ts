import { SECRET } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';
import {
  CREDENTIAL_KEYS,
  type CredentialFiles,
  type CredentialKey,
  type CredentialStore,
} from './credential-store.ts';
import { retryOnConflict } from '@berth/kube/retry-on-conflict';

/** Stores credentials in a Secret, as OCM's agent does. One write is one request. Other keys in the Secret stay. */
export class SecretStore implements CredentialStore {
  /** A Secret has no folder. Relative paths in the kubeconfig are replaced by data of the Secret. */
  readonly folder = '/';
  readonly #api: KubeApi;
  readonly #key: ObjectKey;

  /** @param api of the cluster that the agent runs in. The namespace must exist. */
  constructor(api: KubeApi, key: ObjectKey) {
    this.#api = api;
    this.#key = key;
  }

  get place(): string {
    return `Secret ${this.#key.namespace}/${this.#key.name}`;
  }

  async read(): Promise<CredentialFiles> {
    const data = dataOf(await this.#api.get(SECRET, this.#key));
    return Object.fromEntries(
      CREDENTIAL_KEYS.filter((key) => data[key] !== undefined).map((key) => [
        key,
        Buffer.from(data[key] ?? '', 'base64').toString('utf8'),
      ]),
    );
  }

  async write(changes: { readonly [Key in CredentialKey]?: string | undefined }): Promise<void> {
    return retryOnConflict(() => this.#writeOnce(changes));
  }

  async #writeOnce(changes: { readonly [Key in CredentialKey]?: string | undefined }): Promise<void> {
    const encoded = Object.entries(changes).map(
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
