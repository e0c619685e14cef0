import {
  CLUSTERS_PER_GROUP,
  COUNT_OR_PERCENT,
  DNS_LABEL,
  DNS_SUBDOMAIN,
  DURATION,
  DURATION_OR_NONE,
  GROUP_NAME,
  QUALIFIED_NAME,
  QUANTITY,
  TOPOLOGY_KEY,
  WORK_AGENT_USER,
} from '@berth/ocm/definition/patterns';
import { boolean, integer, listOf, mapOf, object, string } from '@berth/ocm/definition/schema-notation';
import type { JsonObject } from '@berth/runtime/json/json-value';
import { OPEN } from './schema.ts';

/** A pattern of OCM's definitions, with its name for messages. */
interface NamedPattern {
  readonly pattern: string;
  readonly description: string;
}

const NAMES: Readonly<Record<string, string>> = {
  [CLUSTERS_PER_GROUP]: 'a number of at least 1, or a percentage from "1%" to "100%"',
  [COUNT_OR_PERCENT]: 'a number, or a percentage from "0%" to "100%"',
  [DNS_LABEL]: 'a DNS label',
  [DNS_SUBDOMAIN]: 'a DNS subdomain name',
  [DURATION]: 'a duration such as 30s, 5m or 1h',
  [DURATION_OR_NONE]: 'a duration such as 30s, 10m or 1h, or None',
  [GROUP_NAME]: 'a name of 2 to 63 letters, digits, -, _ or .',
  [QUALIFIED_NAME]: 'a label key',
  [QUANTITY]: 'a quantity such as 4, 500m or 16Gi',
  [TOPOLOGY_KEY]: 'a label key',
  [WORK_AGENT_USER]: 'a name that starts with work-agent',
};

/** Corrections of OCM's patterns, which are not anchored and accept `|` as a unit. */
const STRICTER: Readonly<Record<string, RegExp>> = { [DURATION_OR_NONE]: /^([0-9]+[hms])+$|^None$/ };

export function namedPattern(pattern: string): NamedPattern {
  return { pattern, description: NAMES[pattern] ?? `a string that matches ${pattern}` };
}

const compiled = new Map<string, RegExp>();

export function patternOf(text: string): RegExp {
  let pattern = compiled.get(text);
  if (pattern === undefined) compiled.set(text, (pattern = STRICTER[text] ?? new RegExp(text)));
  return pattern;
}

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
