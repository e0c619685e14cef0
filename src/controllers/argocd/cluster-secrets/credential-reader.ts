import type { Reflector } from '@berth/kube/cache/reflector';
import { secretTexts } from '@berth/kube/secret-texts';
import {
  givenCredentials,
  givenSecretName,
  type SecretTexts,
  type ServiceAccountStatus,
  tokenCredentials,
} from '../../../core/argocd/cluster-secrets/read-credentials.ts';
import {
  type CredentialReading,
  placeholderCredentials,
  type Registration,
} from '../../../core/argocd/cluster-secrets/plan-cluster-secrets.ts';
import { SECRET } from '@berth/kube/model/kinds';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi, ObjectKey } from '@berth/kube/model/kube-api';

export interface CredentialReaderOptions {
  readonly hub: KubeApi;
  readonly clock: Clock;
  readonly serviceAccounts: Reflector;
}

/** A Secret is read again after this time, or when its ManagedServiceAccount reports a new token. */
const READ_AGAIN_MS = 300_000;

/** Reads how Argo CD reaches a cluster. Secrets in the cluster namespaces are read by name, never watched. */
export class CredentialReader {
  readonly #options: CredentialReaderOptions;
  readonly #read = new Map<
    string,
    { readonly stamp: string; readonly atMs: number; readonly reading: CredentialReading }
  >();

  constructor(options: CredentialReaderOptions) {
    this.#options = options;
  }

  /** @throws BerthError the errors of the hub */
  async read(registration: Registration): Promise<CredentialReading> {
    const { access } = registration.gitOpsCluster;
    if (access.kind === 'blank') return placeholderCredentials(registration);
    const cluster = registration.cluster.metadata.name;
    const stamp = JSON.stringify([access, registration.cluster.spec, this.#tokenOf(registration)]);
    const known = this.#read.get(cluster);
    const nowMs = this.#options.clock.now();
    if (known?.stamp === stamp && nowMs - known.atMs < READ_AGAIN_MS) return known.reading;
    const reading = await this.#readNow(registration);
    // Only a complete reading is kept: what is missing may appear at any moment.
    if (reading.kind === 'read') this.#read.set(cluster, { stamp, atMs: nowMs, reading });
    else this.#read.delete(cluster);
    return reading;
  }

  async #readNow(registration: Registration): Promise<CredentialReading> {
    const { gitOpsCluster, cluster } = registration;
    const { access } = gitOpsCluster;
    const { name } = cluster.metadata;
    if (access.kind === 'service-account') {
      const secret = this.#tokenOf(registration)?.name;
      const texts = secret === undefined ? undefined : await this.#secret({ namespace: name, name: secret });
      return tokenCredentials(cluster, access.name, texts);
    }
    const given = givenSecretName(name);
    const texts = await this.#secret({ namespace: name, name: given });
    return access.kind === 'agent' && texts === undefined
      ? placeholderCredentials(registration)
      : givenCredentials(name, given, texts);
  }

  #tokenOf({ gitOpsCluster, cluster }: Registration): ServiceAccountStatus['tokenSecretRef'] {
    const { access } = gitOpsCluster;
    if (access.kind !== 'service-account') return undefined;
    const account = this.#options.serviceAccounts.store.get(`${cluster.metadata.name}/${access.name}`);
    return ((account?.['status'] ?? {}) as ServiceAccountStatus).tokenSecretRef;
  }

  async #secret(key: ObjectKey): Promise<SecretTexts | undefined> {
    const secret = await this.#options.hub.get(SECRET, key);
    return secret && secretTexts(secret);
  }
}
