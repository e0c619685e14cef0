import {
  type AccessDecision,
  type CelAuthority,
  type ResourceAttributes,
  CelAuthorizer,
  CelResourceCheck,
} from '@berth/kube-cel/library/authorization';
import type { Authorizer } from '../../auth/rbac/authorizer.ts';
import type { JsonObject } from '../../json/json-value.ts';
import type { ResourceRef } from '../../schema/resource-definition.ts';
import { type UserInfo, serviceAccountGroups } from '../../wire/user-info.ts';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE';

/** The attributes of one write for admission. */
export interface AdmissionAttributes {
  readonly operation: Operation;
  readonly ref: ResourceRef;
  readonly subresource: string;
  /** For a Namespace its own name; '' for other cluster-scoped objects. */
  readonly namespace: string;
  /** '' for an object whose name the server generates. */
  readonly name: string;
  /** In the version of `ref`; for the subresource `scale` the Scale. Undefined for a deletion. */
  readonly object: JsonObject | undefined;
  /** Undefined for a creation. */
  readonly old: JsonObject | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** The options of the request, with their kind. */
  readonly options: JsonObject;
}

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
