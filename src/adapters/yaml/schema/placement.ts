import { kindSchema } from './cluster.ts';
import { labelSelector, metadataSchema, qualifiedKey, selectorRequirement } from './meta.ts';
import { any, between, integer, list, object, oneOf, string, text } from './schema.ts';
import type { Schema } from './schema.ts';

const claimSelector = object({ matchExpressions: list(selectorRequirement) });

const clusterSelector = object({
  labelSelector,
  claimSelector,
  celSelector: object({ celExpressions: list(string) }),
});

const scoreCoordinate = object({
  type: oneOf('BuiltIn', 'AddOn'),
  builtIn: string,
  addOn: object({ 'resourceName!': string, 'scoreName!': string }),
});

const spreadConstraint = object({
  'topologyKey!': qualifiedKey,
  'topologyKeyType!': oneOf('Label', 'Claim'),
  maxSkew: between(1, 2147483647),
  whenUnsatisfiable: oneOf('DoNotSchedule', 'ScheduleAnyway'),
});

const toleration = object({
  key: qualifiedKey,
  operator: oneOf('Equal', 'Exists', ''),
  value: text({ maxLength: 1024 }),
  effect: oneOf('NoSelect', 'PreferNoSelect', 'NoSelectIfNew'),
  tolerationSeconds: integer,
});

const clustersPerDecisionGroup: Schema = {
  type: 'intOrString',
  pattern: /^((100|[1-9][0-9]?)%|[1-9][0-9]*)$/,
  patternName: 'a number of at least 1, or a percentage from "1%" to "100%"',
};

const groupName = text({
  pattern: /^[a-zA-Z0-9][-A-Za-z0-9_.]{0,61}[a-zA-Z0-9]$/,
  patternName: 'a name of 2 to 63 letters, digits, -, _ or .',
});

export const placement = kindSchema(metadataSchema(undefined, true), {
  'spec!': object({
    clusterSets: list(string),
    numberOfClusters: between(0, 2147483647),
    predicates: list(object({ requiredClusterSelector: clusterSelector })),
    prioritizerPolicy: object({
      mode: oneOf('Additive', 'Exact', ''),
      configurations: list(object({ 'scoreCoordinate!': scoreCoordinate, weight: between(-10, 10) })),
    }),
    spreadPolicy: object({ spreadConstraints: list(spreadConstraint, { maxItems: 8 }) }),
    tolerations: list(toleration),
    decisionStrategy: object({
      groupStrategy: object({
        clustersPerDecisionGroup,
        decisionGroups: list(
          object({
            'groupName!': groupName,
            'groupClusterSelector!': object({ labelSelector, claimSelector }),
          }),
        ),
      }),
    }),
    sortBy: oneOf('ClusterName', 'Score'),
    scoreRateLimit: text({ pattern: /^[0-9]+[hms]$/, patternName: 'a duration such as 30s, 5m or 1h' }),
  }),
  status: any,
});
