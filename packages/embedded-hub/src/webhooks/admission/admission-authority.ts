import type { AccessDecision, CelAuthority, ResourceAttributes } from '@berth/kube-cel/library/authorization';
import { CelAuthorizer, CelResourceCheck } from '@berth/kube-cel/library/authorization';
import { serviceAccountGroups } from '../../auth/service-account-groups.ts';
import type { Authorizer } from '../../auth/rbac/authorizer.ts';
import type { UserInfo } from '../../wire/user-info.ts';
import type { AdmissionAttributes } from './admission-attributes.ts';

/**
 * The `authorizer` of admission expressions, for the user of the write or for a service account.
 */
export class AdmissionAuthority implements CelAuthority {
  readonly #authorizer: Authorizer;
  readonly #user: UserInfo;
  readonly #counter: { count: number };

  constructor(authorizer: Authorizer, user: UserInfo, counter = { count: 0 }) {
    this.#authorizer = authorizer;
    this.#user = user;
    this.#counter = counter;
  }

  /** The number of checks, including those for service accounts. */
  get checks(): number {
    return this.#counter.count;
  }

  resource(attributes: ResourceAttributes): AccessDecision {
    return this.#decision(this.#authorizer.allows(this.#user, attributes));
  }

  path(verb: string, path: string): AccessDecision {
    return this.#decision(this.#authorizer.allowsPath(this.#user, verb, path));
  }

  serviceAccount(namespace: string, name: string): CelAuthority {
    const user = {
      name: `system:serviceaccount:${namespace}:${name}`,
      groups: serviceAccountGroups(namespace),
    };
    return new AdmissionAuthority(this.#authorizer, user, this.#counter);
  }

  #decision(allowed: boolean): AccessDecision {
    this.#counter.count += 1;
    return { allowed, reason: '' };
  }
}

/** The variables `authorizer` and `authorizer.requestResource` of one write. */
export function authorizerVariables(
  authority: CelAuthority,
  { ref, subresource, namespace, name }: AdmissionAttributes,
): { readonly authorizer: CelAuthorizer; readonly requestResource: CelResourceCheck } {
  const { group, plural: resource } = ref.definition;
  return {
    authorizer: new CelAuthorizer(authority),
    requestResource: new CelResourceCheck(authority, { group, resource, subresource, namespace, name }),
  };
}
