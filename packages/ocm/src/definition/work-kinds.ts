import type { OcmKind } from './ocm-kind.ts';
import { DNS_SUBDOMAIN, WORK_AGENT_USER } from './patterns.ts';
import {
  boolean,
  embeddedObject,
  int32,
  int64,
  integer,
  listBy,
  listOf,
  object,
  string,
  time,
} from './schema-notation.ts';
import { conditions, rolloutAll, rolloutProgressive, rolloutProgressivePerGroup } from './shared-schemas.ts';

export const orphaningRule = object({
  group: string(),
  'name!': string(),
  namespace: string(),
  'resource!': string(),
});

export const manifestWorkSpec = object({
  deleteOption: object({
    propagationPolicy: string({ default: 'Foreground', enum: ['Foreground', 'Orphan', 'SelectivelyOrphan'] }),
    selectivelyOrphans: object({ orphaningRules: listOf(orphaningRule) }),
    ttlSecondsAfterFinished: int64(),
  }),
  executor: object({
    subject: object({
      serviceAccount: object({
        'name!': string({ maxLength: 253, minLength: 1, pattern: DNS_SUBDOMAIN }),
        'namespace!': string({ maxLength: 253, minLength: 1, pattern: DNS_SUBDOMAIN }),
      }),
      'type!': string({ enum: ['ServiceAccount'] }),
    }),
  }),
  manifestConfigs: listOf(
    object({
      conditionRules: listBy(
        ['condition'],
        object(
          {
            celExpressions: listOf(string()),
            'condition!': string(),
            message: string(),
            messageExpression: string(),
            'type!': string({ enum: ['WellKnownConditions', 'CEL'] }),
          },
          {
            'x-kubernetes-validations': [
              {
                message: 'Condition is required for CEL rules',
                rule: 'self.type != \'CEL\' || self.condition != ""',
              },
            ],
          },
        ),
      ),
      feedbackRules: listOf(
        object({
          jsonPaths: listBy(['name'], object({ 'name!': string(), 'path!': string(), version: string() })),
          'type!': string({ enum: ['WellKnownStatus', 'JSONPaths'] }),
        }),
      ),
      feedbackScrapeType: string({ default: 'Poll', enum: ['Poll', 'Watch'] }),
      'resourceIdentifier!': orphaningRule,
      updateStrategy: object({
        serverSideApply: object({
          fieldManager: string({ default: 'work-agent', pattern: WORK_AGENT_USER }),
          force: boolean(),
          ignoreFields: listBy(
            ['condition'],
            object({
              'condition!': string({ default: 'OnSpokePresent', enum: ['OnSpokePresent', 'OnSpokeChange'] }),
              jqPathExpressions: listOf(string()),
              jsonPaths: listOf(string()),
              jsonPointers: listOf(string()),
            }),
          ),
        }),
        'type!': string({ default: 'Update', enum: ['Update', 'CreateOnly', 'ServerSideApply', 'ReadOnly'] }),
      }),
    }),
  ),
  workload: object({ manifests: listOf(embeddedObject()) }),
});

export const workSummary = object({
  applied: integer(),
  available: integer(),
  degraded: integer(),
  desiredTotal: integer(),
  progressing: integer(),
  total: integer(),
  updated: integer(),
});

/** The kinds of `work.open-cluster-management.io`. */
export const WORK_KINDS: readonly OcmKind[] = [
  {
    kind: 'ManifestWork',
    versions: [
      {
        name: 'v1',
        storage: true,
        status: true,
        fields: {
          spec: manifestWorkSpec,
          status: object({
            conditions: conditions,
            resourceStatus: object({
              manifests: listOf(
                object({
                  'conditions!': conditions,
                  'resourceMeta!': object({
                    group: string(),
                    kind: string(),
                    name: string(),
                    namespace: string(),
                    'ordinal!': int32(),
                    resource: string(),
                    version: string(),
                  }),
                  statusFeedback: object({
                    values: listBy(
                      ['name'],
                      object({
                        'fieldValue!': object({
                          boolean: boolean(),
                          integer: int64(),
                          jsonRaw: string({ maxLength: 1024 }),
                          string: string(),
                          'type!': string({ enum: ['Integer', 'String', 'Boolean', 'JsonRaw'] }),
                        }),
                        'name!': string(),
                      }),
                    ),
                  }),
                }),
              ),
            }),
          }),
        },
      },
    ],
  },
  {
    kind: 'AppliedManifestWork',
    cluster: true,
    versions: [
      {
        name: 'v1',
        storage: true,
        status: true,
        fields: {
          spec: object({ agentID: string(), 'hubHash!': string(), 'manifestWorkName!': string() }),
          status: object({
            appliedResources: listOf(
              object({
                group: string(),
                'name!': string(),
                namespace: string(),
                'resource!': string(),
                uid: string(),
                'version!': string(),
              }),
            ),
            evictionStartTime: time(),
          }),
        },
      },
    ],
  },
  {
    kind: 'ManifestWorkReplicaSet',
    short: ['mwrs'],
    versions: [
      {
        name: 'v1alpha1',
        storage: true,
        status: true,
        fields: {
          spec: object({
            'cascadeDeletionPolicy!': string({ default: 'Background', enum: ['Background', 'Foreground'] }),
            manifestWorkTemplate: manifestWorkSpec,
            'placementRefs!': listOf(
              object({
                'name!': string({ minLength: 1 }),
                rolloutStrategy: object(
                  {
                    all: rolloutAll,
                    progressive: rolloutProgressive,
                    progressivePerGroup: rolloutProgressivePerGroup,
                    type: string({ default: 'All', enum: ['All', 'Progressive', 'ProgressivePerGroup'] }),
                  },
                  { default: { all: { progressDeadline: 'None' }, type: 'All' } },
                ),
              }),
              { minItems: 1 },
            ),
          }),
          status: object({
            conditions: conditions,
            placementSummary: listOf(
              object({ availableDecisionGroups: string(), name: string(), summary: workSummary }),
            ),
            summary: workSummary,
          }),
        },
        columns: [
          {
            name: 'Placement',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="PlacementVerified")].reason',
          },
          {
            name: 'Found',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="PlacementVerified")].status',
          },
          {
            name: 'ManifestWorks',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="ManifestworkApplied")].reason',
          },
          {
            name: 'Applied',
            type: 'string',
            jsonPath: '.status.conditions[?(@.type=="ManifestworkApplied")].status',
          },
        ],
      },
    ],
  },
];
