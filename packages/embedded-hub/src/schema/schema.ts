import type { JsonValue } from '../json/json-value.ts';

/**
 * The structure of a value, the same for built-in kinds and custom resources. Graphs of built-in kinds are shared and may be
 * cyclic (JSONSchemaProps). Properties are in a Map so that keys like `constructor` are plain keys.
 */
export interface Schema {
  /** Definition name in OpenAPI documents (`io.k8s.api.core.v1.Container`); such a schema is served as a reference. */
  readonly name?: string;
  /** '' means any value. */
  readonly type: SchemaType;
  readonly format?: string;
  /** Description for `kubectl explain`; built-in kinds have none. */
  readonly description?: string;
  readonly nullable?: boolean;
  readonly intOrString?: boolean;
  readonly preserveUnknown?: boolean;
  /** A whole object with apiVersion, kind and metadata. */
  readonly embeddedResource?: boolean;
  readonly properties?: ReadonlyMap<string, Schema>;
  /** How the Go struct declares its fields. Custom kinds have no Go types. */
  readonly goFields?: ReadonlyMap<string, GoFieldFlags>;
  /** Values of the keys that are not declared: a schema, or true for anything. */
  readonly additional?: Schema | true;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly default?: JsonValue;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  /** Strategic merge: key of list items, and strategy words. */
  readonly patchMergeKey?: string;
  readonly patchStrategy?: readonly PatchStrategy[];
  readonly limits?: ValueLimits;
  readonly rules?: readonly ValidationRule[];
}

/** How a Go struct declares a field. Default: by value, with `omitempty`. */
export interface GoFieldFlags {
  /** A pointer: an empty value is kept. */
  readonly pointer?: true;
  /** Written even when it is empty: no `omitempty`. */
  readonly always?: true;
  /** A struct that is omitted when it is zero (`omitzero`). */
  readonly omitZero?: true;
}

export type SchemaType = '' | 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
export type PatchStrategy = 'merge' | 'replace' | 'retainKeys';

/** Value validations, which do not affect pruning. */
export interface ValueLimits {
  readonly enum?: readonly JsonValue[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly not?: Schema;
}

/** One entry of `x-kubernetes-validations`. */
export interface ValidationRule {
  readonly rule: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export const ANY_VALUE: Schema = { type: '', preserveUnknown: true };
