import type { JsonObject } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { AccessQuestion, UserInfo } from '../wire/user-info.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** A write as the pipeline sees it: no sockets, no store, no clock. */
export interface WriteRequest {
  readonly ref: ResourceRef;
  /** '' for the resource itself, else `status`, `scale`, `approval`, `finalize`. */
  readonly subresource: string;
  /** '' for cluster-scoped resources. */
  readonly namespace: string;
  /** Name in the path; '' on POST. */
  readonly name: string;
  /** `fieldManager` of the query, else the User-Agent up to the first `/`; '' only for apply-patch without one. */
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  /** RFC 3339, whole seconds, UTC. */
  readonly now: string;
  /** Needed when an object may come into being: uid, and the random letters after `generateName`. */
  readonly identity?: { readonly uid: string; readonly nameSuffix: string } | undefined;
  readonly user: UserInfo;
  readonly admission: readonly AdmissionCheck[];
  /** Admission by other servers; none unless given. */
  readonly dynamic?: DynamicAdmission | undefined;
  /** An object in another version of its kind; what the hub can say itself unless given. */
  readonly convert?: (object: JsonObject, ref: ResourceRef) => JsonObject;
  /** Asks authorization on behalf of `user`. */
  can(question: AccessQuestion): boolean;
  /** Whether the namespace is there and being deleted; none is unless given. */
  isNamespaceEnding?(namespace: string): boolean;
}

export interface PreparedWrite {
  /** What to store, in the version of the request. */
  readonly object: JsonObject;
  /** false: nothing to store, no event, the resourceVersion stays. */
  readonly changed: boolean;
  /** Texts of `Warning: 299 - "..."` headers. */
  readonly warnings: readonly string[];
}

/** Webhooks, as a step of a write. They may throw what the caller of the pipeline catches to ask them. */
export interface DynamicAdmission {
  /** The object as webhooks leave it. @throws StatusError when one refuses */
  mutate(step: DynamicStep, makes: ObjectSteps): JsonObject;
  /** Texts of warnings of both steps. @throws StatusError when one refuses */
  validate(step: DynamicStep): readonly string[];
}

export interface DynamicStep {
  readonly operation: 'CREATE' | 'UPDATE';
  readonly object: JsonObject;
  readonly old: JsonObject | undefined;
}

export interface ObjectSteps {
  /** Reads what a webhook made: known fields, defaults. */
  readonly complete: (object: JsonObject) => JsonObject;
  /** Lets the hub's own rules change the object once more. */
  readonly again: (object: JsonObject) => JsonObject;
}

export interface AdmissionWrite {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly ref: ResourceRef;
  readonly subresource: string;
  readonly object: JsonObject;
  readonly old: JsonObject | undefined;
  readonly user: UserInfo;
  can(question: AccessQuestion): boolean;
  isNamespaceEnding?(namespace: string): boolean;
}

/** A rule of a kind that needs more than its schema. */
export interface AdmissionCheck {
  /** Refuses by throwing a StatusError; returns texts of warnings. */
  (write: AdmissionWrite): readonly string[];
  /** Changes the object before anything else looks at it. @param now RFC 3339 */
  readonly mutate?: (write: AdmissionWrite, now: string) => JsonObject;
}
