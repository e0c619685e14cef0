import { type JsonObject, type JsonValue, getOwn, setOwn } from '../json/json-value.ts';
import type { ResourceRef } from '../schema/resource-definition.ts';
import type { Schema } from '../schema/schema.ts';
import type { AccessAttributes, UserInfo } from '../wire/user-info.ts';

const partial = new WeakMap<Schema, Schema | 'whole'>();

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

/** The top-level fields that a write changed, and a schema of these fields alone. */
export interface ChangedPart {
  readonly schema: Schema;
  readonly part: JsonObject;
  /** The complete object with the processed part. */
  readonly whole: (processed: JsonObject) => JsonObject;
}

/**
 * The schema for some of the fields, without `required`. Rules about the complete object are not
 * checked on a part.
 */
function partialSchema(schema: Schema): Schema | 'whole' {
  const cached = partial.get(schema);
  if (cached !== undefined) return cached;
  const withRequiredFields = [...(schema.properties?.values() ?? [])].some(
    (one) => one.default !== undefined,
  );
  const { required: _required, ...rest } = schema;
  const result = withRequiredFields || schema.limits !== undefined ? 'whole' : rest;
  partial.set(schema, result);
  return result;
}

/**
 * The part of an object that must be validated. A patch leaves most fields identical (by reference)
 * to those of the live object, which are valid already. Most writes of a hub are status writes, and
 * this way large specs do not slow them down.
 */
export function changedPart(schema: Schema, object: JsonObject, live: JsonObject | undefined): ChangedPart {
  const partSchema = live === undefined ? 'whole' : partialSchema(schema);
  if (live === undefined || partSchema === 'whole')
    return { schema, part: object, whole: (processed) => processed };
  const part: JsonObject = {};
  for (const key of Object.keys(object)) {
    const value = object[key] as JsonValue;
    if (value !== getOwn(live, key)) setOwn(part, key, value);
  }
  return {
    schema: partSchema,
    part,
    whole: (processed) => (processed === part ? object : mergePart(object, part, processed)),
  };
}

function mergePart(object: JsonObject, part: JsonObject, processed: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const key of Object.keys(object)) {
    if (!Object.hasOwn(part, key)) setOwn(result, key, object[key] as JsonValue);
    else if (Object.hasOwn(processed, key)) setOwn(result, key, processed[key] as JsonValue);
  }
  return result;
}
