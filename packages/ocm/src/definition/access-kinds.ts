import type { OcmKind, OcmVersion } from './ocm-kind.ts';
import { boolean, int32, listBy, listOf, object, string, time } from './schema-notation.ts';
import { condition, conditions } from './shared-schemas.ts';

const accountFields: OcmVersion['fields'] = {
  spec: object({
    'rotation!': object({
      enabled: boolean({ default: true }),
      validity: string({ default: '8640h0m0s' }),
    }),
    ttlSecondsAfterCreation: int32({ exclusiveMinimum: true, minimum: 0 }),
  }),
  status: object({
    conditions: listOf(condition),
    expirationTimestamp: time(),
    tokenSecretRef: object({ 'lastRefreshTimestamp!': time(), 'name!': string() }),
  }),
};

const providers = listBy(
  ['name'],
  object({
    cluster: object({
      'certificate-authority': string(),
      'certificate-authority-data': string({ format: 'byte' }),
      'disable-compression': boolean(),
      extensions: listOf(
        object({
          'extension!': { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          'name!': string(),
        }),
      ),
      'insecure-skip-tls-verify': boolean(),
      'proxy-url': string(),
      'server!': string(),
      'tls-server-name': string(),
    }),
    'name!': string(),
  }),
);

/** Source: cluster-inventory-api 0.1.2 `config/crd/bases`. */
const profileFields: OcmVersion['fields'] = {
  'spec!': object({
    'clusterManager!': object(
      { 'name!': string() },
      {
        'x-kubernetes-validations': [{ message: 'ClusterManager is immutable', rule: 'self == oldSelf' }],
      },
    ),
    displayName: string(),
  }),
  status: object({
    accessProviders: providers,
    conditions,
    credentialProviders: providers,
    properties: listBy(
      ['name'],
      object({
        lastObservedTime: time(),
        'name!': string({ maxLength: 253, minLength: 1 }),
        'value!': string({ maxLength: 1024, minLength: 1 }),
      }),
    ),
    version: object({ kubernetes: string() }),
  }),
};

/** Source: cluster-inventory-api of May 2026 `config/crd/bases`. */
const sliceFields: OcmVersion['fields'] = {
  'decisions!': listOf(
    object({
      'clusterProfileRef!': object({ 'name!': string(), namespace: string() }),
      reason: string(),
    }),
    { maxItems: 100, minItems: 0 },
  ),
  schedulerName: string(),
};

/**
 * Kinds of OCM's add-ons for reaching clusters. A hub has them when the add-on is installed; an embedded hub always serves them.
 * Source: managed-serviceaccount 0.10.0 `charts/managed-serviceaccount/crds`.
 */
export const ACCESS_GROUPS: Readonly<Record<string, readonly OcmKind[]>> = {
  'authentication.open-cluster-management.io': [
    {
      kind: 'ManagedServiceAccount',
      versions: [
        { name: 'v1alpha1', status: true, fields: accountFields },
        { name: 'v1beta1', storage: true, status: true, fields: accountFields },
      ],
    },
  ],
  'multicluster.x-k8s.io': [
    {
      kind: 'ClusterProfile',
      versions: [{ name: 'v1alpha1', storage: true, status: true, fields: profileFields }],
    },
    {
      kind: 'PlacementDecision',
      versions: [{ name: 'v1alpha1', storage: true, fields: sliceFields }],
    },
  ],
};
