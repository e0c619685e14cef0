/**
 * The schema of a value: the part of OpenAPI v3 that OCM's definitions use (schema-notation.ts of @berth/ocm writes it). A required
 * field with a default may be left out, as on a hub. A value without a type, and an object without fields, may be anything.
 */
export interface Schema {
  readonly type?: string;
  /** Of an object. */
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** The values of a map, or whether an object may have unknown fields. Default: it may not. */
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  /** The name of the pattern in messages: `a label key`. */
  readonly description?: string;
  readonly nullable?: boolean;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  /** With one key: the entries of a list must differ in it. */
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

/** An object that may have unknown fields. */
export const OPEN = { additionalProperties: true };
