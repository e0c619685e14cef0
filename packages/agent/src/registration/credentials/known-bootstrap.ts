import type { KubeConfig } from '@berth/kube/config/kube-config';
import { errorText } from '@berth/runtime/errors';
import type { Logger } from '@berth/runtime/logger';
import { sha256 } from '@berth/runtime/sha256';
import type { CredentialStore } from './credential-store.ts';

export interface KnownBootstrapOptions {
  readonly readBootstrap: () => KubeConfig;
  readonly store: CredentialStore;
  readonly log: Logger;
  /** Of the bootstrap credentials with which the cluster registered. */
  readonly digest: string;
}

/**
 * The bootstrap credentials that are no wish to register again: those with which the cluster registered, and those that
 * came while the hub had the cluster. Only credentials that came later bring a deleted cluster back.
 */
export class KnownBootstrap {
  readonly #options: KnownBootstrapOptions;
  #digest: string;

  constructor(options: KnownBootstrapOptions) {
    this.#options = options;
    this.#digest = options.digest;
  }

  /** False while the bootstrap kubeconfig cannot be read. */
  get isReplaced(): boolean {
    return (this.#current() ?? this.#digest) !== this.#digest;
  }

  /** Called while the hub has the cluster. What cannot be stored is known until the process ends. */
  async know(): Promise<void> {
    const digest = this.#current();
    if (digest === undefined || digest === this.#digest) return;
    this.#digest = digest;
    const { store, log } = this.#options;
    try {
      await store.write({ 'bootstrap-digest': digest });
    } catch (error) {
      log.warn('the digest of the bootstrap credentials cannot be stored', {
        place: store.place,
        problem: errorText(error),
      });
    }
  }

  #current(): string | undefined {
    try {
      return bootstrapDigest(this.#options.readBootstrap());
    } catch {
      return undefined;
    }
  }
}

/** A digest of the bootstrap credentials, to find out later whether there are new ones. */
export function bootstrapDigest(config: KubeConfig): string {
  return sha256(JSON.stringify(config.getCurrentUser()));
}
