import {
  condition,
  dnsLabel,
  labelSelector,
  metadataSchema,
  nullableTime,
  qualifiedKey,
  quantity,
  time,
} from './meta.ts';
import { any, between, boolean, list, object, oneOf, string, text } from './schema.ts';
import type { ObjectSchema, Schema } from './schema.ts';

const resources: Schema = { type: 'map', values: quantity };

const taint = object({
  'key!': qualifiedKey,
  value: text({ maxLength: 1024 }),
  'effect!': oneOf('NoSelect', 'PreferNoSelect', 'NoSelectIfNew'),
  timeAdded: nullableTime,
});

/** The cluster's name is the name of its namespace on the hub. */
export const managedCluster = kindSchema(metadataSchema(dnsLabel), {
  spec: object({
    hubAcceptsClient: boolean,
    leaseDurationSeconds: between(0, 2147483647),
    managedClusterClientConfigs: list(object({ 'url!': string, caBundle: string })),
    taints: list(taint),
  }),
  status: object(
    {
      conditions: list(condition),
      version: object({ kubernetes: string }),
      allocatable: resources,
      capacity: resources,
      clusterClaims: list(object({ 'name!': string, 'value!': string })),
    },
    { open: true },
  ),
});

export const managedClusterSet = kindSchema(metadataSchema(), {
  spec: object({
    clusterSelector: object({
      selectorType: oneOf('ExclusiveClusterSetLabel', 'LabelSelector', ''),
      labelSelector,
    }),
    managedNamespaces: list(object({ 'name!': dnsLabel }), { uniqueBy: 'name' }),
  }),
  status: any,
});

export const managedClusterSetBinding = kindSchema(metadataSchema(undefined, true), {
  'spec!': object({ 'clusterSet!': text({ minLength: 1 }) }),
  status: any,
});

export const addOnPlacementScore = kindSchema(metadataSchema(undefined, true), {
  status: object({
    conditions: list(condition),
    scores: list(object({ 'name!': string, 'value!': between(-100, 100) }), { uniqueBy: 'name' }),
    validUntil: text({ ...time, nullable: true }),
  }),
});

export const placementDecision = kindSchema(metadataSchema(undefined, true), {
  status: object({
    'decisions!': list(object({ 'clusterName!': string, 'reason!': string, score: { type: 'integer' } })),
  }),
});

/** A kind's own fields around the apiVersion, kind and metadata that the caller has already chosen by. */
export function kindSchema(metadata: ObjectSchema, fields: Readonly<Record<string, Schema>>): ObjectSchema {
  return object({ 'apiVersion!': string, 'kind!': string, 'metadata!': metadata, ...fields });
}
