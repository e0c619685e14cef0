import { isObject, type JsonObject, listAt, objectAt, textAt } from '../json/json-value.ts';
import type { AccessAttributes, UserInfo } from '../wire/user-info.ts';
import { badRequest } from '../wire/status-errors.ts';
import type { Authorizer } from './rbac/authorizer.ts';
import { type Credentials, tokenUser } from './authenticate.ts';
import type { PolicyRule } from './rbac/rbac-rules.ts';

export interface ReviewContext {
  readonly user: UserInfo;
  readonly authorizer: Authorizer;
  readonly credentials: Credentials;
  /** From the path, of a LocalSubjectAccessReview. */
  readonly namespace: string;
}

/** Evaluates a review object, which is not stored. Undefined for other kinds. */
export async function evaluateReview(
  kind: string,
  review: JsonObject,
  context: ReviewContext,
): Promise<JsonObject | undefined> {
  const spec = objectAt(review, 'spec') ?? {};
  switch (kind) {
    case 'SelfSubjectAccessReview':
      return { ...review, status: decide(spec, context.user, context.authorizer) };
    case 'SubjectAccessReview':
    case 'LocalSubjectAccessReview':
      return {
        ...review,
        status: decide(localSpec(kind, spec, context), reviewedUser(spec), context.authorizer),
      };
    case 'SelfSubjectRulesReview':
      return {
        ...review,
        status: rulesStatus(context.authorizer.rulesFor(context.user, textAt(spec, 'namespace'))),
      };
    case 'SelfSubjectReview':
      return { ...review, status: { userInfo: userJson(context.user) } };
    case 'TokenReview':
      return { ...review, status: await tokenStatus(spec, context.credentials) };
    default:
      return undefined;
  }
}

function decide(spec: JsonObject, user: UserInfo, authorizer: Authorizer): JsonObject {
  const resource = objectAt(spec, 'resourceAttributes');
  const path = objectAt(spec, 'nonResourceAttributes');
  if ((resource === undefined) === (path === undefined))
    throw badRequest('spec: exactly one of resourceAttributes and nonResourceAttributes must be set');
  const allowed =
    resource === undefined
      ? authorizer.allowsPath(user, textAt(path, 'verb'), textAt(path, 'path'))
      : authorizer.allows(user, attributesOf(resource));
  return allowed ? { allowed: true, reason: 'RBAC' } : { allowed: false };
}

function attributesOf(attributes: JsonObject): AccessAttributes {
  return {
    verb: textAt(attributes, 'verb'),
    group: textAt(attributes, 'group'),
    resource: textAt(attributes, 'resource'),
    subresource: textAt(attributes, 'subresource'),
    namespace: textAt(attributes, 'namespace'),
    name: textAt(attributes, 'name'),
  };
}

function localSpec(kind: string, spec: JsonObject, context: ReviewContext): JsonObject {
  const attributes = objectAt(spec, 'resourceAttributes');
  if (kind !== 'LocalSubjectAccessReview' || attributes === undefined) return spec;
  if (textAt(attributes, 'namespace') !== context.namespace)
    throw badRequest('spec.resourceAttributes.namespace must match the namespace of the request');
  return spec;
}

function reviewedUser(spec: JsonObject): UserInfo {
  const extra = Object.entries(objectAt(spec, 'extra') ?? {}).map(([key, value]): [string, string[]] => [
    key,
    Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [],
  ]);
  return {
    name: textAt(spec, 'user'),
    uid: textAt(spec, 'uid'),
    groups: listAt(spec, 'groups').filter((group): group is string => typeof group === 'string'),
    extra: Object.fromEntries(extra),
  };
}

function rulesStatus(rules: readonly PolicyRule[]): JsonObject {
  const resourceRules = rules.filter((rule) => rule.resources.length > 0);
  const pathRules = rules.filter((rule) => rule.nonResourceURLs.length > 0);
  return {
    resourceRules: resourceRules.map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs: [...verbs],
      apiGroups: [...apiGroups],
      resources: [...resources],
      ...(resourceNames.length > 0 && { resourceNames: [...resourceNames] }),
    })),
    nonResourceRules: pathRules.map(({ verbs, nonResourceURLs }) => ({
      verbs: [...verbs],
      nonResourceURLs: [...nonResourceURLs],
    })),
    incomplete: false,
  };
}

async function tokenStatus(spec: JsonObject, credentials: Credentials): Promise<JsonObject> {
  const audiences = listAt(spec, 'audiences').filter((item): item is string => typeof item === 'string');
  const user = await tokenUser(
    textAt(spec, 'token'),
    credentials,
    audiences.length > 0 ? audiences : undefined,
  );
  if (user === undefined) return { authenticated: false, user: {}, error: 'invalid bearer token' };
  return {
    authenticated: true,
    user: userJson(user),
    audiences: audiences.length > 0 ? audiences : [credentials.serviceAccounts.issuer],
  };
}

export function userJson(user: UserInfo): JsonObject {
  const extra = Object.entries(user.extra ?? {}).map(([key, values]): [string, string[]] => [
    key,
    [...values],
  ]);
  return {
    username: user.name,
    ...(user.uid !== undefined && user.uid !== '' && { uid: user.uid }),
    groups: [...user.groups],
    ...(extra.length > 0 && { extra: Object.fromEntries(extra) }),
  };
}

/**
 * A decoded review body as an object.
 * @throws StatusError 400
 */
export function reviewBody(value: unknown, kind: string): JsonObject {
  if (isObject(value)) return value;
  throw badRequest(`the body must be a ${kind} object`);
}
