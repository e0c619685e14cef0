import { type CelCost, type CelOverload, overload } from '../value/overload.ts';
import { CelFailure, CelOpaque, type CelResult, type CelValue } from '../value/cel-value.ts';
import { costSize, LIST_CREATE_COST } from '../value/cel-cost.ts';

/**
 * The Kubernetes authorization library: `authorizer.group('apps').resource('deployments').check('create').allowed()`. Source: apiserver
 * `pkg/cel/library/authz.go` and `cost.go`.
 */

/** Authorization on behalf of one user. */
export interface CelAuthority {
  resource(attributes: ResourceAttributes): AccessDecision;
  path(verb: string, path: string): AccessDecision;
  /** The same for a service account. */
  serviceAccount(namespace: string, name: string): CelAuthority;
}

/** The resource of an access check, as in a SubjectAccessReview. An attribute that is not set is ''. */
export interface ResourceAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface AccessDecision {
  readonly allowed: boolean;
  /** '' where the authorizer gives none. */
  readonly reason: string;
}

abstract class Receiver extends CelOpaque {
  equals(other: CelOpaque): boolean {
    return other === this;
  }
}

/** The variable `authorizer`. */
export class CelAuthorizer extends Receiver {
  readonly typeName = AUTHORIZER;
  readonly authority: CelAuthority;

  constructor(authority: CelAuthority) {
    super();
    this.authority = authority;
  }
}

class PathCheck extends Receiver {
  readonly typeName = PATH_CHECK;
  readonly authority: CelAuthority;
  readonly path: string;

  constructor(authority: CelAuthority, path: string) {
    super();
    this.authority = authority;
    this.path = path;
  }
}

class GroupCheck extends Receiver {
  readonly typeName = GROUP_CHECK;
  readonly authority: CelAuthority;
  readonly group: string;

  constructor(authority: CelAuthority, group: string) {
    super();
    this.authority = authority;
    this.group = group;
  }
}

/** Type of `authorizer.group(…).resource(…)` and of the variable `authorizer.requestResource`. */
export class CelResourceCheck extends Receiver {
  readonly typeName = RESOURCE_CHECK;
  readonly authority: CelAuthority;
  readonly attributes: Omit<ResourceAttributes, 'verb'>;

  constructor(authority: CelAuthority, attributes: Omit<ResourceAttributes, 'verb'>) {
    super();
    this.authority = authority;
    this.attributes = attributes;
  }
}

class Decision extends Receiver {
  readonly typeName = DECISION;
  readonly decision: AccessDecision;

  constructor(decision: AccessDecision) {
    super();
    this.decision = decision;
  }
}

const AUTHORIZER = 'kubernetes.authorization.Authorizer';
const PATH_CHECK = 'kubernetes.authorization.PathCheck';
const GROUP_CHECK = 'kubernetes.authorization.GroupCheck';
const RESOURCE_CHECK = 'kubernetes.authorization.ResourceCheck';
const DECISION = 'kubernetes.authorization.Decision';

/** Types of the two variables. */
export const AUTHORIZER_TYPES = { authorizer: AUTHORIZER, resourceCheck: RESOURCE_CHECK } as const;

/** The cost of one check. The cost limit of an expression allows two. */
export const CHECK_COST = 350_000;
const SELECTOR_REQUIREMENT_COST = 0.5 * (LIST_CREATE_COST + 40);
const SELECTOR_READ_COST = 0.1;

const checkCost: CelCost = () => CHECK_COST;
const selectorCost: CelCost = ([, selector]) =>
  LIST_CREATE_COST +
  Math.ceil(costSize(selector) * SELECTOR_READ_COST) +
  Math.ceil(costSize(selector) * SELECTOR_REQUIREMENT_COST);

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_SUBDOMAIN = 253;

function serviceAccountOf({ authority }: CelAuthorizer, namespace: string, name: string): CelResult {
  if (!DNS_SUBDOMAIN.test(name) || name.length > MAX_SUBDOMAIN)
    return new CelFailure('Invalid service account name');
  if (!DNS_LABEL.test(namespace)) return new CelFailure('Invalid service account namespace');
  return new CelAuthorizer(authority.serviceAccount(namespace, name));
}

function resourceOf({ authority, group }: GroupCheck, resource: string): CelResult {
  if (resource.trim() === '') return new CelFailure('resource must not be empty');
  return new CelResourceCheck(authority, { group, resource, subresource: '', namespace: '', name: '' });
}

/** Sets one attribute of the check. */
const setting =
  (key: 'subresource' | 'namespace' | 'name') =>
  ({ authority, attributes }: CelResourceCheck, word: string): CelValue =>
    new CelResourceCheck(authority, { ...attributes, [key]: word });

/** RBAC ignores selectors, so they are dropped. */
const unchanged = (check: CelResourceCheck): CelValue => check;

export const AUTHORIZATION: readonly CelOverload[] = [
  overload(`${AUTHORIZER}.path(string): ${PATH_CHECK}`, ({ authority }: CelAuthorizer, path: string) =>
    path.trim() === '' ? new CelFailure('path must not be empty') : new PathCheck(authority, path),
  ),
  overload(
    `${AUTHORIZER}.group(string): ${GROUP_CHECK}`,
    ({ authority }: CelAuthorizer, group: string) => new GroupCheck(authority, group),
  ),
  overload(`${AUTHORIZER}.serviceAccount(string, string): ${AUTHORIZER}`, serviceAccountOf),
  overload(`${GROUP_CHECK}.resource(string): ${RESOURCE_CHECK}`, resourceOf),
  overload(`${RESOURCE_CHECK}.subresource(string): ${RESOURCE_CHECK}`, setting('subresource')),
  overload(`${RESOURCE_CHECK}.namespace(string): ${RESOURCE_CHECK}`, setting('namespace')),
  overload(`${RESOURCE_CHECK}.name(string): ${RESOURCE_CHECK}`, setting('name')),
  overload(`${RESOURCE_CHECK}.fieldSelector(string): ${RESOURCE_CHECK}`, unchanged, selectorCost),
  overload(`${RESOURCE_CHECK}.labelSelector(string): ${RESOURCE_CHECK}`, unchanged, selectorCost),
  overload(
    `${PATH_CHECK}.check(string): ${DECISION}`,
    ({ authority, path }: PathCheck, verb: string) => new Decision(authority.path(verb, path)),
    checkCost,
  ),
  overload(
    `${RESOURCE_CHECK}.check(string): ${DECISION}`,
    ({ authority, attributes }: CelResourceCheck, verb: string) =>
      new Decision(authority.resource({ ...attributes, verb })),
    checkCost,
  ),
  overload(`${DECISION}.allowed(): bool`, ({ decision }: Decision) => decision.allowed),
  overload(`${DECISION}.reason(): string`, ({ decision }: Decision) => decision.reason),
  overload(`${DECISION}.errored(): bool`, () => false),
  overload(`${DECISION}.error(): string`, () => ''),
];
