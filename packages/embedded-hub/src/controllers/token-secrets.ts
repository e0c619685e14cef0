import { hasToken, isTokenSecret } from '../admission/legacy-tokens.ts';
import type { ServiceAccountTokens } from '../auth/tokens/service-account-tokens.ts';
import { objectAt, textAt } from '../json/json-value.ts';
import type { ApiCluster } from '../cluster/api-cluster.ts';
import { metadataOf } from '../request/cluster.ts';
import { ObjectController } from './object-controller.ts';

const SECRETS = { group: '', version: 'v1', plural: 'secrets' };
const ACCOUNTS = { group: '', version: 'v1', plural: 'serviceaccounts' };
const ACCOUNT_NAME = 'kubernetes.io/service-account.name';
const TEN_YEARS_SECONDS = 3650 * 86_400;

/**
 * Fills Secrets of type service-account-token, for clients that do not use TokenRequest. Runs with
 * `legacyTokenSecrets`.
 */
export class TokenSecrets extends ObjectController<ApiCluster> {
  readonly #tokens: ServiceAccountTokens;
  readonly #caPem: string;

  constructor(cluster: ApiCluster, caPem: string) {
    super(cluster, { name: 'token-secrets', user: 'tokens-controller', storage: 'secrets' });
    this.#tokens = cluster.credentials.serviceAccounts;
    this.#caPem = caPem;
  }

  protected async reconcile(key: string): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    const secrets = this.client.ref(SECRETS);
    const accounts = this.client.ref(ACCOUNTS);
    if (secrets === undefined || accounts === undefined) return;
    const secret = this.client.get(secrets, { namespace, name });
    if (secret === undefined || !isTokenSecret(secret) || hasToken(secret)) return;
    const accountName = textAt(objectAt(metadataOf(secret), 'annotations'), ACCOUNT_NAME);
    const account = this.client.get(accounts, { namespace, name: accountName });
    if (account === undefined) return;
    const uid = textAt(metadataOf(account), 'uid');
    const boundTo = { kind: 'Secret', name, uid: textAt(metadataOf(secret), 'uid') };
    const issuedAt = Math.floor(this.cluster.clock.now() / 1000);
    const times = { issuedAt, expiresAt: issuedAt + TEN_YEARS_SECONDS };
    const token = await this.#tokens.issue({ namespace, name: accountName, uid, boundTo }, [], times);
    const data = { token: base64(token), 'ca.crt': base64(this.#caPem), namespace: base64(namespace) };
    const annotations = { 'kubernetes.io/service-account.uid': uid };
    await this.client.mergePatch(secrets, { namespace, name }, { metadata: { annotations }, data });
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
