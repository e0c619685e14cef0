import type { JsonObject } from '@berth/runtime/json/json-value';

/** A creation or an update of an object of OCM, as admission sees it. Admission reviews no status and no deletion. */
export interface OcmWrite {
  readonly operation: 'CREATE' | 'UPDATE';
  readonly object: JsonObject;
  /** Undefined for a creation. */
  readonly old: JsonObject | undefined;
  readonly userName: string;
}

/** Why a write is refused. */
export type OcmRefusal =
  /** 400 */
  | { readonly kind: 'bad-request'; readonly message: string }
  /** 403; the message names no object. */
  | { readonly kind: 'forbidden'; readonly message: string }
  /** 422 */
  | {
      readonly kind: 'invalid';
      readonly field: string;
      readonly value: string;
      readonly problems: readonly string[];
    };

/** A condition that must be checked with access to the hub. */
export type OcmRequirement =
  /** The user must have this right. */
  | { readonly kind: 'right'; readonly right: OcmRight; readonly otherwise: OcmRefusal }
  /** The namespace may be absent, but must not be terminating. */
  | { readonly kind: 'namespace-stays'; readonly namespace: string; readonly otherwise: OcmRefusal };

/** The required right: `resourceAttributes` of a SubjectAccessReview. */
export interface OcmRight {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
}

/** A refusal for every user, or the conditions on user and hub, in this order. */
export type OcmReview =
  | { readonly kind: 'refused'; readonly refusal: OcmRefusal }
  | { readonly kind: 'requirements'; readonly requirements: readonly OcmRequirement[] };
