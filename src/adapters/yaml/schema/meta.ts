import { DNS_LABEL, DNS_SUBDOMAIN, QUALIFIED_NAME } from '@berth/ocm/definition/patterns';
import { namedPattern } from './pattern-names.ts';
import { any, boolean, integer, list, object, oneOf, string, stringMap, text } from './schema.ts';
import type { ObjectSchema, Schema } from './schema.ts';

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[-+]\d{2}:\d{2})$/;

export const dnsLabel = text({ ...namedPattern(DNS_LABEL), minLength: 1, maxLength: 63 });
const dnsSubdomain = text({ ...namedPattern(DNS_SUBDOMAIN), minLength: 1, maxLength: 253 });
export const qualifiedKey = text({ ...namedPattern(QUALIFIED_NAME), maxLength: 316 });
export const time = text({ pattern: RFC3339, patternName: 'a time such as 2026-01-31T12:00:00Z' });
export const nullableTime = text({ ...time, nullable: true });

/** Metadata of every kind. Values of labels and annotations must be strings: `"true"`, not `true`. */
export function metadataSchema(name: Schema = dnsSubdomain, namespaced?: boolean): ObjectSchema {
  return object({
    'name!': name,
    [namespaced === true ? 'namespace!' : 'namespace']: dnsLabel,
    labels: stringMap,
    annotations: stringMap,
    finalizers: list(string),
    ownerReferences: list(
      object({
        'apiVersion!': string,
        'kind!': string,
        'name!': string,
        'uid!': string,
        controller: boolean,
        blockOwnerDeletion: boolean,
      }),
    ),
    generateName: string,
    uid: string,
    resourceVersion: string,
    generation: integer,
    creationTimestamp: nullableTime,
    deletionTimestamp: nullableTime,
    deletionGracePeriodSeconds: any,
    managedFields: any,
    selfLink: string,
  });
}

export const condition = object(
  {
    'type!': string,
    'status!': oneOf('True', 'False', 'Unknown'),
    reason: string,
    message: string,
    observedGeneration: integer,
    lastTransitionTime: nullableTime,
  },
  { open: true },
);

/**
 * Operators and values are checked by the rules of selectors, which need the complete requirement.
 */
export const selectorRequirement = object({ 'key!': string, 'operator!': string, values: list(string) });
export const labelSelector = object({ matchLabels: stringMap, matchExpressions: list(selectorRequirement) });

/** The schema of an unknown kind: the fields of every Kubernetes object. */
export const anyObject = object(
  {
    'apiVersion!': text({ minLength: 1 }),
    'kind!': text({ minLength: 1 }),
    'metadata!': metadataSchema(string),
  },
  { open: true },
);

/** The schema of a kind from its own fields, without apiVersion, kind and metadata. */
export function kindSchema(metadata: ObjectSchema, fields: Readonly<Record<string, Schema>>): ObjectSchema {
  return object({ 'apiVersion!': string, 'kind!': string, 'metadata!': metadata, ...fields });
}
