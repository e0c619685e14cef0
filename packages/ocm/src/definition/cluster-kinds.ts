import type { OcmKind } from './ocm-kind.ts';
import { DNS_LABEL, QUALIFIED_NAME, QUANTITY } from './patterns.ts';
import { PLACEMENT_KIND } from './placement-kind.ts';
import {
  boolean,
  int32,
  int64,
  intOrString,
  listBy,
  listOf,
  mapOf,
  object,
  string,
  time,
} from './schema-notation.ts';
import { condition, conditions, labelSelector } from './shared-schemas.ts';

export const conditionsOnly = object({ conditions: listOf(condition) });

/** The kinds of `cluster.open-cluster-management.io`. */
export const CLUSTER_KINDS: readonly OcmKind[] = [
  {
    kind: 'ManagedCluster',
    cluster: true,
    short: ['mcl', 'mcls'],
    versions: [
      {
        name: 'v1',
        storage: true,
        status: true,
        fields: {
          spec: object({
            hubAcceptsClient: boolean(),
            leaseDurationSeconds: int32({ default: 60 }),
            managedClusterClientConfigs: listOf(
              object({ caBundle: string({ format: 'byte' }), 'url!': string() }),
            ),
            taints: listOf(
              object({
                'effect!': string({ enum: ['NoSelect', 'PreferNoSelect', 'NoSelectIfNew'] }),
                'key!': string({ maxLength: 316, pattern: QUALIFIED_NAME }),
                timeAdded: time({ nullable: true }),
                value: string({ maxLength: 1024 }),
              }),
            ),
          }),
          status: object({
            allocatable: mapOf(intOrString({ pattern: QUANTITY })),
            capacity: mapOf(intOrString({ pattern: QUANTITY })),
            clusterClaims: listOf(
              object({
                name: string({ maxLength: 253, minLength: 1 }),
                value: string({ maxLength: 1024, minLength: 1 }),
              }),
            ),
            conditions: conditions,
            managedNamespaces: listBy(
              ['clusterSet', 'name'],
              object({
                'clusterSet!': string(),
                conditions: conditions,
                'name!': string({ maxLength: 63, pattern: DNS_LABEL }),
              }),
            ),
            version: object({ kubernetes: string() }),
          }),
        },
        columns: [
          { name: 'Hub Accepted', type: 'boolean', jsonPath: '.spec.hubAcceptsClient' },
          {
            name: 'Managed Cluster URLs',
            type: 'string',
            jsonPath: '.spec.managedClusterClientConfigs[*].url',
          },
          {
            name: 'Joined',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="ManagedClusterJoined")].status',
          },
          {
            name: 'Available',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="ManagedClusterConditionAvailable")].status',
          },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      },
    ],
  },
  {
    kind: 'ClusterClaim',
    cluster: true,
    versions: [
      {
        name: 'v1alpha1',
        storage: true,
        fields: { spec: object({ value: string({ maxLength: 1024, minLength: 1 }) }) },
      },
    ],
  },
  {
    kind: 'AddOnPlacementScore',
    versions: [
      {
        name: 'v1alpha1',
        storage: true,
        status: true,
        fields: {
          status: object({
            conditions: conditions,
            scores: listBy(
              ['name'],
              object({ 'name!': string(), 'value!': int32({ maximum: 100, minimum: -100 }) }),
            ),
            validUntil: time(),
          }),
        },
      },
    ],
  },
  PLACEMENT_KIND,
  {
    kind: 'PlacementDecision',
    versions: [
      {
        name: 'v1beta1',
        storage: true,
        status: true,
        fields: {
          status: object({
            'decisions!': listOf(object({ 'clusterName!': string(), 'reason!': string(), score: int64() })),
          }),
        },
      },
    ],
  },
  {
    kind: 'ManagedClusterSet',
    cluster: true,
    short: ['mclset', 'mclsets'],
    versions: [
      {
        name: 'v1beta2',
        storage: true,
        status: true,
        fields: {
          spec: object(
            {
              clusterSelector: object(
                {
                  labelSelector: labelSelector,
                  'selectorType!': string({
                    default: 'ExclusiveClusterSetLabel',
                    enum: ['ExclusiveClusterSetLabel', 'LabelSelector'],
                  }),
                },
                { default: { selectorType: 'ExclusiveClusterSetLabel' } },
              ),
              managedNamespaces: listBy(
                ['name'],
                object({ 'name!': string({ maxLength: 63, pattern: DNS_LABEL }) }),
              ),
            },
            { default: { clusterSelector: { selectorType: 'ExclusiveClusterSetLabel' } } },
          ),
          status: conditionsOnly,
        },
        columns: [
          {
            name: 'Empty',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="ClusterSetEmpty")].status',
          },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
      },
    ],
  },
  {
    kind: 'ManagedClusterSetBinding',
    short: ['mclsetbinding', 'mclsetbindings'],
    versions: [
      {
        name: 'v1beta2',
        storage: true,
        status: true,
        fields: { spec: object({ clusterSet: string({ minLength: 1 }) }), status: conditionsOnly },
      },
    ],
  },
];
