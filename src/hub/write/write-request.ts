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
  /** Asks authorization on behalf of `user`. */
  can(question: AccessQuestion): boolean;
}

export interface PreparedWrite {
  /** What to store, in the version of the request. */
  readonly object: JsonObject;
  /** false: nothing to store, no event, the resourceVersion stays. */
  readonly changed: boolean;
  /** Texts of `Warning: 299 - "..."` headers. */
  readonly warnings: readonly string[];
}

export interface AdmissionWrite {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly ref: ResourceRef;
  readonly subresource: string;
  readonly object: JsonObject;
  readonly old: JsonObject | undefined;
  readonly user: UserInfo;
  can(question: AccessQuestion): boolean;
}

/** A rule of a kind that needs more than its schema. */
export interface AdmissionCheck {
  /** Refuses by throwing a StatusError; returns texts of warnings. */
  (write: AdmissionWrite): readonly string[];
  /** Changes the object before anything else looks at it. @param now RFC 3339 */
  readonly mutate?: (write: AdmissionWrite, now: string) => JsonObject;
}
