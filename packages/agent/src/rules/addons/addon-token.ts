import type { Condition } from '@berth/kube/model/object-meta';
import { findCondition } from '@berth/kube/model/condition-list';
import { formatRfc3339, instantFromEpochMs } from '@berth/kube/model/rfc3339';
import type { TokenClaims } from '@berth/kube/account-token';

/* Rules of the driver `token`. Source: open-cluster-management.io/ocm `pkg/registration/register/token`, since 1.2. */

const TOKEN_REFRESHED = 'TokenRefreshed';

export type TokenInfrastructure =
  | { readonly kind: 'ready'; readonly accountUid: string }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'malformed'; readonly why: string };

/** What an add-on's manager says of the account. The UID is part of the condition's message, by agreement. */
export function tokenInfrastructure(conditions: readonly Condition[] | undefined): TokenInfrastructure {
  const condition = findCondition(conditions, 'TokenInfrastructureReady');
  if (condition?.status !== 'True') return { kind: 'waiting' };
  const { message } = condition;
  const [, accountUid] = /UID: ([^)]*)\)/.exec(message) ?? [];
  if (accountUid) return { kind: 'ready', accountUid };
  const problem = !message.includes('UID: ')
    ? 'ServiceAccount UID not found in message'
    : accountUid === ''
      ? 'empty ServiceAccount UID in message'
      : 'malformed ServiceAccount UID in message';
  return { kind: 'malformed', why: `${problem}: ${message}` };
}

export function tokenRefreshed({ expiresAtMs }: TokenClaims): Condition {
  const until = formatRfc3339(instantFromEpochMs(expiresAtMs));
  return {
    type: TOKEN_REFRESHED,
    status: 'True',
    reason: 'AddonTokenRefreshed',
    message: `Addon token refreshed, expires at ${until}`,
  };
}

export function tokenNotRefreshed(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  problem: string,
): Condition {
  return {
    type: TOKEN_REFRESHED,
    status: 'False',
    reason: 'TokenCreationFailed',
    message: `Failed to create token: failed to create token for ServiceAccount ${namespace}/${name}: ${problem}`,
  };
}
