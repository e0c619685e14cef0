import type { OcmKind, OcmVersion } from './ocm-kind.ts';
import {
  CONTAINER_PATH,
  C_IDENTIFIER,
  DNS_LABEL,
  DNS_LABEL_OR_EMPTY,
  QUANTITY,
  SIGNER_NAME,
} from './patterns.ts';
import { int64, intOrString, listBy, listOf, mapOf, object, string } from './schema-notation.ts';
import { conditions, rolloutAll, rolloutProgressive, rolloutProgressivePerGroup } from './shared-schemas.ts';
import { manifestWorkSpec } from './work-kinds.ts';

export const addOnConfiguration = object({
  crName: string(),
  crdName: string(),
  lastObservedGeneration: int64(),
});

export const addOnMeta = object({ description: string(), displayName: string() });

export const addOnConfig = object({
  group: string({ default: '' }),
  'name!': string({ minLength: 1 }),
  namespace: string(),
  'resource!': string({ minLength: 1 }),
});

export const addOnConfigs = listOf(addOnConfig);

export const installStrategy = object(
  {
    placements: listBy(
      ['namespace', 'name'],
      object({
        configs: addOnConfigs,
        'name!': string({ minLength: 1 }),
        'namespace!': string({ minLength: 1 }),
        rolloutStrategy: object(
          {
            all: rolloutAll,
            progressive: rolloutProgressive,
            progressivePerGroup: rolloutProgressivePerGroup,
            type: string({ default: 'All', enum: ['All', 'Progressive', 'ProgressivePerGroup'] }),
          },
          { default: { type: 'All' } },
        ),
      }),
    ),
    type: string({ default: 'Manual', enum: ['Manual', 'Placements'] }),
  },
  { default: { type: 'Manual' } },
);

export const desiredConfig = object({
  'name!': string({ minLength: 1 }),
  namespace: string(),
  specHash: string(),
});

export const defaultConfigReferences = listOf(
  object({
    desiredConfig: desiredConfig,
    group: string({ default: '' }),
    'resource!': string({ minLength: 1 }),
  }),
);

export const installProgressions = listOf(
  object({
    conditions: conditions,
    configReferences: listOf(
      object({
        desiredConfig: desiredConfig,
        group: string({ default: '' }),
        lastAppliedConfig: desiredConfig,
        lastKnownGoodConfig: desiredConfig,
        'resource!': string({ minLength: 1 }),
      }),
    ),
    'name!': string({ minLength: 1 }),
    'namespace!': string({ minLength: 1 }),
  }),
);

export const signerSubject = object({
  groups: listOf(string()),
  organizationUnit: listOf(string()),
  user: string(),
});

export const relatedObjects = listOf(
  object({ 'group!': string(), 'name!': string(), namespace: string(), 'resource!': string() }),
);

export const supportedConfigs = listBy(
  ['group', 'resource'],
  object({ group: string({ default: '' }), 'resource!': string({ minLength: 1 }) }),
);

export const addOnDeploymentConfigSpec = object({
  agentInstallNamespace: string({
    default: 'open-cluster-management-agent-addon',
    maxLength: 63,
    pattern: DNS_LABEL_OR_EMPTY,
  }),
  customizedVariables: listBy(
    ['name'],
    object({
      'name!': string({ maxLength: 255, pattern: C_IDENTIFIER }),
      value: string({ maxLength: 1024 }),
    }),
  ),
  nodePlacement: object({
    nodeSelector: mapOf(string()),
    tolerations: listOf(
      object({
        effect: string(),
        key: string(),
        operator: string(),
        tolerationSeconds: int64(),
        value: string(),
      }),
    ),
  }),
  proxyConfig: object({
    caBundle: string({ format: 'byte' }),
    httpProxy: string(),
    httpsProxy: string(),
    noProxy: string(),
  }),
  registries: listOf(object({ 'mirror!': string(), source: string() })),
  resourceRequirements: listBy(
    ['containerID'],
    object({
      'containerID!': string({ pattern: CONTAINER_PATH }),
      'resources!': object({
        claims: listBy(['name'], object({ 'name!': string(), request: string() })),
        limits: mapOf(intOrString({ pattern: QUANTITY })),
        requests: mapOf(intOrString({ pattern: QUANTITY })),
      }),
    }),
  ),
});

export const addOnTemplateSpec = object({
  'addonName!': string(),
  'agentSpec!': manifestWorkSpec,
  registration: listOf(
    object({
      customSigner: object({
        'signerName!': string({ maxLength: 571, minLength: 5, pattern: SIGNER_NAME }),
        'signingCA!': object({ 'name!': string(), namespace: string() }),
        subject: signerSubject,
      }),
      kubeClient: object({
        hubPermissions: listOf(
          object({
            currentCluster: object({ 'clusterRoleName!': string() }),
            singleNamespace: object({
              'namespace!': string(),
              'roleRef!': object(
                { 'apiGroup!': string(), 'kind!': string(), 'name!': string() },
                { 'x-kubernetes-map-type': 'atomic' },
              ),
            }),
            'type!': string({ enum: ['CurrentCluster', 'SingleNamespace'] }),
          }),
        ),
      }),
      'type!': string({ enum: ['KubeClient', 'CustomSigner'] }),
    }),
  ),
});

const conditionColumns = (...types: readonly string[]): NonNullable<OcmVersion['columns']> =>
  types.map((type) => ({
    name: type,
    type: 'string',
    jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
  }));

/** The kinds of `addon.open-cluster-management.io`. */
export const ADDON_KINDS: readonly OcmKind[] = [
  {
    kind: 'ClusterManagementAddOn',
    cluster: true,
    short: ['cma', 'cmas'],
    versions: [
      {
        name: 'v1alpha1',
        storage: true,
        status: true,
        fields: {
          'spec!': object({
            addOnConfiguration: addOnConfiguration,
            addOnMeta: addOnMeta,
            installStrategy: installStrategy,
            supportedConfigs: listBy(
              ['group', 'resource'],
              object({
                defaultConfig: object({ 'name!': string({ minLength: 1 }), namespace: string() }),
                group: string({ default: '' }),
                'resource!': string({ minLength: 1 }),
              }),
            ),
          }),
          status: object({
            defaultconfigReferences: defaultConfigReferences,
            installProgressions: installProgressions,
          }),
        },
        columns: [
          { name: 'DISPLAY NAME', type: 'string', jsonPath: '.spec.addOnMeta.displayName' },
          { name: 'CRD NAME', type: 'string', jsonPath: '.spec.addOnConfiguration.crdName' },
        ],
      },
      {
        name: 'v1beta1',
        status: true,
        fields: {
          'spec!': object({
            addOnMeta: addOnMeta,
            defaultConfigs: listBy(['group', 'resource'], addOnConfig),
            installStrategy: installStrategy,
          }),
          status: object({
            defaultConfigReferences: defaultConfigReferences,
            installProgressions: installProgressions,
          }),
        },
        columns: [{ name: 'DISPLAY NAME', type: 'string', jsonPath: '.spec.addOnMeta.displayName' }],
      },
    ],
  },
  {
    kind: 'ManagedClusterAddOn',
    short: ['mca', 'mcas'],
    versions: [
      {
        name: 'v1alpha1',
        storage: true,
        status: true,
        fields: {
          'spec!': object({
            configs: addOnConfigs,
            installNamespace: string({
              default: 'open-cluster-management-agent-addon',
              maxLength: 63,
              pattern: DNS_LABEL,
            }),
          }),
          status: object({
            addOnConfiguration: addOnConfiguration,
            addOnMeta: addOnMeta,
            conditions: conditions,
            configReferences: listOf(
              object({
                desiredConfig: desiredConfig,
                group: string({ default: '' }),
                lastAppliedConfig: desiredConfig,
                lastObservedGeneration: int64(),
                'name!': string({ minLength: 1 }),
                namespace: string(),
                'resource!': string({ minLength: 1 }),
              }),
            ),
            healthCheck: object({ mode: string({ default: 'Lease', enum: ['Lease', 'Customized'] }) }),
            kubeClientDriver: string({ enum: ['csr', 'token'] }),
            namespace: string(),
            registrations: listOf(
              object({
                'signerName!': string({ maxLength: 571, minLength: 5, pattern: SIGNER_NAME }),
                subject: signerSubject,
              }),
            ),
            relatedObjects: relatedObjects,
            supportedConfigs: supportedConfigs,
          }),
        },
        columns: conditionColumns('Available', 'Degraded', 'Progressing'),
      },
      {
        name: 'v1beta1',
        status: true,
        fields: {
          'spec!': object({ configs: addOnConfigs }),
          status: object({
            addOnMeta: addOnMeta,
            conditions: conditions,
            configReferences: listOf(
              object({
                desiredConfig: desiredConfig,
                group: string({ default: '' }),
                lastAppliedConfig: desiredConfig,
                lastObservedGeneration: int64(),
                'resource!': string({ minLength: 1 }),
              }),
            ),
            healthCheck: object({ mode: string({ default: 'Lease', enum: ['Lease', 'Customized'] }) }),
            namespace: string(),
            registrations: listOf(
              object({
                customSigner: object({
                  'signerName!': string({ maxLength: 571, minLength: 5, pattern: SIGNER_NAME }),
                  subject: object({
                    groups: listOf(string()),
                    organizationUnits: listOf(string()),
                    user: string(),
                  }),
                }),
                kubeClient: object({
                  driver: string({ enum: ['csr', 'token'] }),
                  subject: object({ groups: listOf(string()), user: string() }),
                }),
                'type!': string({ enum: ['kubeClient', 'customSigner'] }),
              }),
            ),
            relatedObjects: relatedObjects,
            supportedConfigs: supportedConfigs,
          }),
        },
        columns: conditionColumns('Available', 'Degraded', 'Progressing'),
      },
    ],
  },
  {
    kind: 'AddOnDeploymentConfig',
    versions: [
      { name: 'v1alpha1', storage: true, fields: { 'spec!': addOnDeploymentConfigSpec } },
      { name: 'v1beta1', fields: { 'spec!': addOnDeploymentConfigSpec } },
    ],
  },
  {
    kind: 'AddOnTemplate',
    cluster: true,
    versions: [
      {
        name: 'v1alpha1',
        storage: true,
        fields: { 'spec!': addOnTemplateSpec },
        columns: [{ name: 'ADDON NAME', type: 'string', jsonPath: '.spec.addonName' }],
      },
      {
        name: 'v1beta1',
        fields: { 'spec!': addOnTemplateSpec },
        columns: [{ name: 'ADDON NAME', type: 'string', jsonPath: '.spec.addonName' }],
      },
    ],
  },
];
