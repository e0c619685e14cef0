import { KubeConfig } from './kube-config.ts';
import type { KubeConfigParts, KubeUser } from './kubeconfig-entries.ts';

/** A client certificate and its key, PEM. */
export interface ClientPair {
  readonly certPem: string;
  readonly keyPem: string;
}

/**
 * A kubeconfig whose client certificate is replaced while connections use it. New requests use the new certificate
 * within seconds. Requests in progress finish with the old one.
 */
export class RotatingKubeConfig extends KubeConfig {
  #user: KubeUser;

  constructor(parts: KubeConfigParts, pair: ClientPair, env?: NodeJS.ProcessEnv) {
    super(parts, env);
    this.#user = userOf(pair);
  }

  rotate(pair: ClientPair): void {
    this.#user = userOf(pair);
  }

  /** Only the certificate is used, no other credentials of the user in the file. */
  override getCurrentUser(): KubeUser {
    return this.#user;
  }
}

function userOf({ certPem, keyPem }: ClientPair): KubeUser {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return { name: 'default-auth', certData: base64(certPem), keyData: base64(keyPem) };
}
