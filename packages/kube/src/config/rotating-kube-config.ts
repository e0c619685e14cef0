import { KubeConfig } from './kube-config.ts';
import type { KubeConfigParts, KubeUser } from './kubeconfig-entries.ts';

/** A client certificate and its key, PEM. */
export interface ClientPair {
  readonly certPem: string;
  readonly keyPem: string;
}

export type RotatedCredentials = ClientPair | { readonly token: string };

/**
 * A kubeconfig whose client certificate, or token, is replaced while connections use it. New requests use the new
 * credentials within seconds. Requests in progress finish with the old ones.
 */
export class RotatingKubeConfig extends KubeConfig {
  #user: KubeUser;

  constructor(parts: KubeConfigParts, credentials: RotatedCredentials, env?: NodeJS.ProcessEnv) {
    super(parts, env);
    this.#user = userOf(credentials);
  }

  rotate(credentials: RotatedCredentials): void {
    this.#user = userOf(credentials);
  }

  /** Only these credentials are used, no other credentials of the user in the file. */
  override getCurrentUser(): KubeUser {
    return this.#user;
  }
}

function userOf(credentials: RotatedCredentials): KubeUser {
  const name = 'default-auth';
  if ('token' in credentials) return { name, token: credentials.token };
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return { name, certData: base64(credentials.certPem), keyData: base64(credentials.keyPem) };
}
