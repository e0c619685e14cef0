import type { OcmKind, OcmVersion } from './ocm-kind.ts';
import { boolean, int32, listOf, object, string, time } from './schema-notation.ts';
import { condition } from './shared-schemas.ts';

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
};
