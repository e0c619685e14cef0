import type { OcmKind } from './ocm-kind.ts';
import { CLUSTERS_PER_GROUP, DURATION, GROUP_NAME, QUALIFIED_NAME, TOPOLOGY_KEY } from './patterns.ts';
import { int32, int64, intOrString, listOf, object, string, time } from './schema-notation.ts';
import { claimSelector, conditions, labelSelector } from './shared-schemas.ts';

export const PLACEMENT_KIND: OcmKind = {
  kind: 'Placement',
  versions: [
    {
      name: 'v1beta1',
      storage: true,
      status: true,
      fields: {
        'spec!': object({
          clusterSets: listOf(string()),
          decisionStrategy: object({
            groupStrategy: object({
              clustersPerDecisionGroup: intOrString({
                default: '100%',
                pattern: CLUSTERS_PER_GROUP,
              }),
              decisionGroups: listOf(
                object({
                  'groupClusterSelector!': object({
                    claimSelector: claimSelector,
                    labelSelector: labelSelector,
                  }),
                  'groupName!': string({ pattern: GROUP_NAME }),
                }),
              ),
            }),
          }),
          numberOfClusters: int32(),
          predicates: listOf(
            object({
              requiredClusterSelector: object({
                celSelector: object({ celExpressions: listOf(string()) }),
                claimSelector: claimSelector,
                labelSelector: labelSelector,
              }),
            }),
          ),
          prioritizerPolicy: object({
            configurations: listOf(
              object({
                'scoreCoordinate!': object({
                  addOn: object({ 'resourceName!': string(), 'scoreName!': string() }),
                  builtIn: string(),
                  'type!': string({ default: 'BuiltIn', enum: ['BuiltIn', 'AddOn'] }),
                }),
                weight: int32({ default: 1, maximum: 10, minimum: -10 }),
              }),
            ),
            mode: string({ default: 'Additive' }),
          }),
          scoreRateLimit: string({ default: '1m', pattern: DURATION }),
          sortBy: string({ default: 'ClusterName', enum: ['ClusterName', 'Score'] }),
          spreadPolicy: object({
            spreadConstraints: listOf(
              object({
                maxSkew: int32({ default: 1, minimum: 1 }),
                'topologyKey!': string({
                  maxLength: 316,
                  pattern: TOPOLOGY_KEY,
                }),
                'topologyKeyType!': string({ enum: ['Label', 'Claim'] }),
                whenUnsatisfiable: string({
                  default: 'ScheduleAnyway',
                  enum: ['DoNotSchedule', 'ScheduleAnyway'],
                }),
              }),
              { maxItems: 8 },
            ),
          }),
          tolerations: listOf(
            object({
              effect: string({ enum: ['NoSelect', 'PreferNoSelect', 'NoSelectIfNew'] }),
              key: string({ maxLength: 316, pattern: QUALIFIED_NAME }),
              operator: string({ default: 'Equal' }),
              tolerationSeconds: int64(),
              value: string({ maxLength: 1024 }),
            }),
          ),
        }),
        status: object({
          conditions: conditions,
          decisionGroups: listOf(
            object({
              clusterCount: int32({ default: 0 }),
              decisionGroupIndex: int32(),
              decisionGroupName: string(),
              decisions: listOf(string()),
            }),
          ),
          lastScoreUpdateTime: time(),
          numberOfSelectedClusters: int32(),
        }),
      },
      columns: [
        {
          name: 'Succeeded',
          type: 'string',
          jsonPath: '.status.conditions[?(@.type=="PlacementSatisfied")].status',
        },
        {
          name: 'Reason',
          type: 'string',
          jsonPath: '.status.conditions[?(@.type=="PlacementSatisfied")].reason',
        },
        { name: 'SelectedClusters', type: 'integer', jsonPath: '.status.numberOfSelectedClusters' },
      ],
    },
  ],
};
