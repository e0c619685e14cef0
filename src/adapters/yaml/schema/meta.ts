import { DNS_LABEL, DNS_SUBDOMAIN, QUALIFIED_NAME } from '@berth/ocm/definition/patterns';
import { namedPattern } from './pattern-names.ts';
import type { JsonObject } from '@berth/runtime/json/json-value';
import { boolean, integer, listOf, mapOf, object, string } from '@berth/ocm/definition/schema-notation';
import { OPEN } from './schema.ts';

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[-+]\d{2}:\d{2})$/;

export const dnsLabel = string({ ...namedPattern(DNS_LABEL), minLength: 1, maxLength: 63 });
const dnsSubdomain = string({ ...namedPattern(DNS_SUBDOMAIN), minLength: 1, maxLength: 253 });
export const qualifiedKey = string({ ...namedPattern(QUALIFIED_NAME), maxLength: 316 });
export const time = string({ pattern: RFC3339.source, description: 'a time such as 2026-01-31T12:00:00Z' });
export const nullableTime = { ...time, nullable: true };

/** Metadata of every kind. Values of labels and annotations must be strings: `"true"`, not `true`. */
export function metadataSchema(name: JsonObject = dnsSubdomain, namespaced?: boolean): JsonObject {
  return object({
    'name!': name,
    [namespaced === true ? 'namespace!' : 'namespace']: dnsLabel,
    labels: mapOf(string()),
    annotations: mapOf(string()),
    finalizers: listOf(string()),
    ownerReferences: listOf(
      object({
        'apiVersion!': string(),
        'kind!': string(),
        'name!': string(),
        'uid!': string(),
        controller: boolean(),
        blockOwnerDeletion: boolean(),
      }),
    ),
    generateName: string(),
    uid: string(),
    resourceVersion: string(),
    generation: integer(),
    creationTimestamp: nullableTime,
    deletionTimestamp: nullableTime,
    deletionGracePeriodSeconds: {},
    managedFields: {},
    selfLink: string(),
  });
}

export const condition = object(
  {
    'type!': string(),
    'status!': string({ enum: ['True', 'False', 'Unknown'] }),
    reason: string(),
    message: string(),
    observedGeneration: integer(),
    lastTransitionTime: nullableTime,
  },
  OPEN,
);

/**
 * Operators and values are checked by the rules of selectors, which need the complete requirement.
 */
export const selectorRequirement = object({
  'key!': string(),
  'operator!': string(),
  values: listOf(string()),
});
export const labelSelector = object({
  matchLabels: mapOf(string()),
  matchExpressions: listOf(selectorRequirement),
});

/** The schema of an unknown kind: the fields of every Kubernetes object. */
export const anyObject = object(
  {
    'apiVersion!': string({ minLength: 1 }),
    'kind!': string({ minLength: 1 }),
    'metadata!': metadataSchema(string()),
  },
  OPEN,
);

/** The schema of a kind from its own fields, without apiVersion, kind and metadata. */
export function kindSchema(metadata: JsonObject, fields: Readonly<Record<string, JsonObject>>): JsonObject {
  return object({ 'apiVersion!': string(), 'kind!': string(), 'metadata!': metadata, ...fields });
}
