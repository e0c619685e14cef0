import type { JsonObject } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { AccessAttributes, UserInfo } from '../wire/user-info.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** The input of the write pipeline, without sockets, store or clock. */
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
  /** For writes that may create an object: its uid, and the random suffix after `generateName`. */
  readonly identity?: { readonly uid: string; readonly nameSuffix: string } | undefined;
  readonly user: UserInfo;
  readonly admission: readonly AdmissionCheck[];
  /** Admission by other servers; none unless given. */
  readonly dynamic?: DynamicAdmission | undefined;
  /** Converts an object to another version; default: the conversions that need no webhook. */
  readonly convert?: (object: JsonObject, ref: ResourceRef) => JsonObject;
  /** Whether RBAC allows `user` an operation with these attributes. */
  can(attributes: AccessAttributes): boolean;
  /** Whether the namespace exists and is being deleted; default: never. */
  isNamespaceEnding?(namespace: string): boolean;
}

export interface PreparedWrite {
  /** The object to store, in the version of the request. */
  readonly object: JsonObject;
  /** false: nothing to store, no event, the resourceVersion stays. */
  readonly changed: boolean;
  /** Texts of `Warning: 299 - "..."` headers. */
  readonly warnings: readonly string[];
}

/**
 * Admission webhooks and policies as a step of a write. It throws ReviewsNeeded when a webhook must
 * be called first.
 */
export interface DynamicAdmission {
  /**
   * The object after the mutating webhooks.
   * @throws StatusError when one rejects it
   */
  mutate(step: DynamicStep, steps: ObjectSteps): JsonObject;
  /**
   * Warnings of both steps.
   * @throws StatusError when one rejects the object
   */
  validate(step: DynamicStep): readonly string[];
}

export interface DynamicStep {
  readonly operation: 'CREATE' | 'UPDATE';
  readonly object: JsonObject;
  readonly old: JsonObject | undefined;
}

export interface ObjectSteps {
  /** Decodes the result of a webhook: removes unknown fields, adds defaults. */
  readonly complete: (object: JsonObject) => JsonObject;
  /** Lets the hub's own rules change the object once more. */
  readonly mutateAgain: (object: JsonObject) => JsonObject;
}

export interface AdmissionWrite {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly ref: ResourceRef;
  readonly subresource: string;
  readonly object: JsonObject;
  readonly old: JsonObject | undefined;
  readonly user: UserInfo;
  can(attributes: AccessAttributes): boolean;
  isNamespaceEnding?(namespace: string): boolean;
}

/** A validation rule that needs more than the schema. */
export interface AdmissionCheck {
  /** Throws a StatusError to reject; returns warnings. */
  (write: AdmissionWrite): readonly string[];
  /**
   * Changes the object before it is validated.
   * @param now RFC 3339
   */
  readonly mutate?: (write: AdmissionWrite, now: string) => JsonObject;
}
