import { jsonEqual } from '@berth/runtime/json/json-equal';
import type { JsonObject, JsonValue } from '@berth/runtime/json/json-value';
import type { PlacementSpec } from '../kind/placement.ts';
import { ADDON_CONVERSIONS } from './addon-conversions.ts';
import { OCM_GROUPS, ocmSchema } from './ocm-groups.ts';
import type { OcmKind, OcmVersion } from './ocm-kind.ts';
import { PLACEMENT_KIND } from './placement-kind.ts';
import { boolean, int32, int64, listBy, listOf, object, string, time } from './schema-notation.ts';
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

const PLACEMENT_SPEC = PLACEMENT_KIND.versions[0]?.fields['spec!'] ?? {};

export const OPERATOR_GROUP = 'operator.open-cluster-management.io';

/** Their specs tell an operator what to do; Berth has none, so their fields are not described. */
const operatorFields: OcmVersion['fields'] = {
  spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  status: object({ conditions, observedGeneration: int64() }),
};

/** Kinds that show what is installed. A hub or a cluster has them while it is. Source: open-cluster-management.io/api 1.2 `operator/v1`. */
const OPERATOR_GROUPS: Readonly<Record<string, readonly OcmKind[]>> = {
  [OPERATOR_GROUP]: ['ClusterManager', 'Klusterlet'].map((kind) => ({
    kind,
    cluster: true,
    versions: [{ name: 'v1', storage: true, status: true, fields: operatorFields }],
  })),
};

const ALL_GROUPS = { ...OCM_GROUPS, ...ACCESS_GROUPS, ...OPERATOR_GROUPS };

/**
 * The CustomResourceDefinitions of OCM's kinds, made from the one description of their fields.
 * @param groups default: those that each hub has
 */
export function ocmCrds(groups: readonly string[] = Object.keys(OCM_GROUPS)): readonly JsonObject[] {
  return groups.flatMap((group) => (ALL_GROUPS[group] ?? []).map((row) => crdOf(group, row)));
}

/** Also those that a hub has with an add-on. */
export function allCrds(): readonly JsonObject[] {
  return ocmCrds([...Object.keys(OCM_GROUPS), ...Object.keys(ACCESS_GROUPS)]);
}

function crdOf(group: string, { kind, cluster, short, versions }: OcmKind): JsonObject {
  const singular = kind.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      scope: cluster === true ? 'Cluster' : 'Namespaced',
      names: {
        plural: `${singular}s`,
        singular,
        kind,
        listKind: `${kind}List`,
        shortNames: [...(short ?? [])],
      },
      versions: versions.map((version) => ({
        name: version.name,
        served: true,
        storage: version.storage === true,
        schema: { openAPIV3Schema: ocmSchema(version) },
        subresources: version.status === true ? { status: {} } : {},
        ...(version.columns !== undefined && {
          additionalPrinterColumns: version.columns.map((column) => ({ ...column })),
        }),
      })),
    },
  };
}

/**
 * A placement's spec without fields that equal their defaults. It is the same for the spec in Git
 * and for the stored one, independent of the defaults in the hub's CRD.
 */
export function withoutPlacementDefaults(spec: PlacementSpec): unknown {
  return withoutDefaults(PLACEMENT_SPEC, spec);
}

/** @param schema OpenAPI v3; fields that it does not have are kept */
function withoutDefaults(schema: JsonObject, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutDefaults(objectOf(schema['items']), item));
  if (typeof value !== 'object' || value === null) return value;
  const properties = objectOf(schema['properties']);
  const kept = Object.entries(value).flatMap(([name, one]) => {
    const field = objectOf(Object.hasOwn(properties, name) ? properties[name] : undefined);
    const isDefault = one === undefined || ('default' in field && jsonEqual(field['default'], one));
    return isDefault ? [] : [[name, withoutDefaults(field, one)] as const];
  });
  return Object.fromEntries(kept);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/** What an API server has to be told to serve OCM's kinds: their definitions, and how their versions are converted. */
export const OCM_HUB_KINDS = { definitions: allCrds(), conversions: ADDON_CONVERSIONS };
