import { judgeToken, readToken, type TokenClaims } from '@berth/kube/account-token';
import { setCondition } from '@berth/kube/model/condition-list';
import { parseGoDuration } from '@berth/kube/model/go-duration';
import { apiVersionOf, SECRET, SERVICE_ACCOUNT } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Condition, KubeObject } from '@berth/kube/model/object-meta';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import { requestToken } from '@berth/kube/request-token';
import { reviewToken } from '@berth/kube/review-token';
import { secretTexts } from '@berth/kube/secret-texts';
import type { Clock } from '@berth/runtime/clock/clock';
import { errorText, InputError } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { Logger } from '@berth/runtime/logger';
import { DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import {
  MANAGED_LABEL,
  MANAGED_SERVICE_ACCOUNT,
  type ManagedServiceAccount,
} from '../addon/managed-serviceaccount.ts';

const FIELD_MANAGER = 'berth-accounts';
/** As managed-serviceaccount 0.10.0 has it in the definition of the kind. */
const DEFAULT_VALIDITY = '8640h0m0s';
/** So often the cluster is asked whether it still accepts a token. */
const REVIEW_MS = 600_000;

export interface AccountKeeperOptions {
  readonly hub: KubeApi;
  /** The namespace of the cluster on the hub. */
  readonly clusterName: string;
  readonly cluster: KubeApi;
  /** Of the accounts in the cluster. */
  readonly namespace: string;
  /** The authority of the cluster's API server, PEM. */
  readonly authority: () => Promise<string>;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Keeps one ManagedServiceAccount: its account in the cluster, the token in a Secret of the hub, and what the status says of it. All that is
 * known of a token is read from the token itself, so nothing has to be remembered. A token is in the Secret, and in no log or status.
 * Source of the behaviour: managed-serviceaccount 0.10.0 `pkg/addon/agent/controller/token.go`; unlike there, what is not marked as
 * managed is never used, changed or deleted.
 */
export class AccountKeeper {
  readonly #options: AccountKeeperOptions;

  constructor(options: AccountKeeperOptions) {
    this.#options = options;
  }

  /**
   * @param account as the hub has it; undefined: it seems to be gone
   * @throws the errors of the APIs; InputError for what a user must correct
   */
  async keep(name: string, account: ManagedServiceAccount | undefined): Promise<ReconcileOutcome> {
    if (account === undefined || account.metadata.deletionTimestamp !== undefined) {
      await this.#remove(name);
      return DONE;
    }
    try {
      const uid = await this.#ensureAccount(name);
      const { claims, renewAtMs } = await this.#ensureToken(account, uid);
      await this.#report(account, { claims });
      return {
        kind: 'requeue',
        afterMs: Math.max(0, Math.min(renewAtMs - this.#options.clock.now(), REVIEW_MS)),
      };
    } catch (error) {
      await this.#report(account, { problem: errorText(error) });
      throw error;
    }
  }

  /** @returns the UID of the account in the cluster */
  async #ensureAccount(name: string): Promise<string> {
    const { cluster, namespace } = this.#options;
    const key = { namespace, name };
    const metadata = { ...key, labels: { [MANAGED_LABEL]: 'true' } };
    const found =
      (await cluster.get(SERVICE_ACCOUNT, key)) ??
      (await cluster.create(SERVICE_ACCOUNT, { apiVersion: 'v1', kind: SERVICE_ACCOUNT.kind, metadata }));
    if (!isManaged(found)) throw isOfOthers(`ServiceAccount ${namespace}/${name} of the cluster`);
    return found.metadata.uid ?? '';
  }

  async #ensureToken(
    account: ManagedServiceAccount,
    uid: string,
  ): Promise<{ readonly claims: TokenClaims; readonly renewAtMs: number }> {
    const { hub, cluster, namespace, clusterName, authority, clock, log } = this.#options;
    const { name } = account.metadata;
    const key = { namespace: clusterName, name };
    const secret = await hub.get(SECRET, key);
    const owner = ownerOf(account);
    const isOwned = secret?.metadata.ownerReferences?.some((one) => one.uid === owner.uid) === true;
    if (secret !== undefined && !isOwned && !isManaged(secret))
      throw isOfOthers(`Secret ${clusterName}/${name}`);
    const { token = '', 'ca.crt': knownAuthority } = secret === undefined ? {} : secretTexts(secret);
    const ca = await authority();
    const verdict = judgeToken(token, uid, clock.now());
    const why =
      verdict.kind === 'request'
        ? verdict.why
        : (await reviewToken(cluster, token))?.username === `system:serviceaccount:${namespace}:${name}`
          ? undefined
          : 'refused';
    if (verdict.kind === 'keep' && why === undefined && isOwned && isManaged(secret) && knownAuthority === ca)
      return verdict;
    const fresh = why === undefined ? token : await this.#request(account);
    const metadata = {
      ...(secret?.metadata ?? key),
      labels: { ...secret?.metadata.labels, [MANAGED_LABEL]: 'true' },
      ownerReferences: [owner],
    };
    const data = { 'ca.crt': base64(ca), token: base64(fresh) };
    const wanted = { type: 'Opaque', ...secret, apiVersion: 'v1', kind: SECRET.kind, metadata, data };
    const options = { fieldManager: FIELD_MANAGER, metadataOnly: true };
    await (secret === undefined ? hub.create(SECRET, wanted, options) : hub.update(SECRET, wanted, options));
    const after = judgeToken(fresh, uid, clock.now());
    if (after.kind !== 'keep') throw unusable(`${clusterName}/${name}`, after.why);
    if (why !== undefined)
      log.info('the hub has another token of a service account', {
        ...{ account: name, why, expiresAt: timeText(after.claims.expiresAtMs) },
      });
    return after;
  }

  async #request({ metadata: { name }, spec }: ManagedServiceAccount): Promise<string> {
    const { cluster, namespace, clusterName } = this.#options;
    const validity = spec?.rotation?.validity ?? DEFAULT_VALIDITY;
    const validityMs = parseGoDuration(validity);
    if (validityMs === undefined)
      throw new InputError(`rotation.validity is "${validity}", expected a duration such as 720h`, {
        ...{ code: 'access.validity', subject: `ManagedServiceAccount ${clusterName}/${name}` },
      });
    const token = await requestToken(cluster, { namespace, name }, Math.round(validityMs / 1_000));
    if (readToken(token) === undefined) throw unusable(`${clusterName}/${name}`, 'missing');
    return token;
  }

  /** The Secret goes with its owner, by the hub's garbage collector. */
  async #remove(name: string): Promise<void> {
    const { hub, cluster, clusterName, namespace, log } = this.#options;
    // A deletion follows: what the watch does not show any more is asked for. A kind that is missing is an error.
    const listed = await hub.list(MANAGED_SERVICE_ACCOUNT, {
      ...{ namespace: clusterName, fieldSelector: `metadata.name=${name}` },
    });
    if (listed.items.some(({ metadata }) => metadata.deletionTimestamp === undefined)) return;
    const found = await cluster.get(SERVICE_ACCOUNT, { namespace, name });
    if (found === undefined || !isManaged(found)) return;
    await cluster.delete(SERVICE_ACCOUNT, { namespace, name }, { uid: found.metadata.uid });
    log.info('an account of the cluster is deleted', { account: name });
  }

  async #report(
    account: ManagedServiceAccount,
    outcome: { readonly claims: TokenClaims } | { readonly problem: string },
  ): Promise<void> {
    const { hub, clock } = this.#options;
    const { name, namespace = '', uid, resourceVersion } = account.metadata;
    const { status = {} } = account;
    const now = timeText(clock.now());
    const told = 'problem' in outcome ? [notReported(outcome.problem)] : REPORTED;
    const conditions = told.reduce(
      (list, condition) => setCondition(list, condition, now),
      status.conditions ?? [],
    );
    const next = {
      ...{ ...status, conditions },
      ...('claims' in outcome && {
        expirationTimestamp: timeText(outcome.claims.expiresAtMs),
        tokenSecretRef: { name, lastRefreshTimestamp: timeText(outcome.claims.issuedAtMs) },
      }),
    };
    if (jsonEqual(status, next)) return;
    const patch = { metadata: { uid, resourceVersion }, status: next };
    const options = { subresource: 'status', fieldManager: FIELD_MANAGER, metadataOnly: true } as const;
    await hub.mergePatch(MANAGED_SERVICE_ACCOUNT, { namespace, name }, patch, options);
  }
}

const REPORTED: readonly Condition[] = ['SecretCreated', 'TokenReported'].map((type) => ({
  ...{ type, status: 'True', reason: type, message: '' },
}));

function notReported(message: string): Condition {
  return { type: 'TokenReported', status: 'False', reason: 'TokenReportFailed', message };
}

function ownerOf({ metadata: { name, uid = '' } }: ManagedServiceAccount) {
  const { kind } = MANAGED_SERVICE_ACCOUNT;
  return { apiVersion: apiVersionOf(MANAGED_SERVICE_ACCOUNT), kind, name, uid };
}

function isManaged(object: KubeObject | undefined): boolean {
  return object?.metadata.labels?.[MANAGED_LABEL] === 'true';
}

function isOfOthers(subject: string): InputError {
  return new InputError('belongs to somebody else', {
    ...{ code: 'access.not-managed', subject },
    hint: `delete it, or label it ${MANAGED_LABEL}=true`,
  });
}

function unusable(account: string, why: string): InputError {
  return new InputError(`the cluster gave a token that cannot be used: ${why}`, {
    ...{ code: 'access.token', subject: `ManagedServiceAccount ${account}` },
  });
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const timeText = (ms: number): string => formatRfc3339(instantFromEpochMs(ms));
