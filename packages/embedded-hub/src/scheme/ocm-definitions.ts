import { OCM_GROUPS, ocmSchema } from '@berth/ocm/definition/ocm-groups';
import type { OcmKind, OcmVersion } from '@berth/ocm/definition/ocm-kind';
import {
  type JsonObject,
  type JsonValue,
  getOwn,
  isObject,
  listAt,
  objectAt,
  textAt,
  withoutKey,
} from '../json/json-value.ts';
import {
  type ResourceDefinition,
  type ResourceVersion,
  compareVersionPriority,
} from '../schema/resource-definition.ts';
import { errorWithoutReason } from '../wire/status-errors.ts';
import { ALL_VERBS } from './builtin/builtin-definitions.ts';
import { compileRootSchema, definitionName } from './compile-schema.ts';

const V1ALPHA1 = 'addon.open-cluster-management.io/v1alpha1';

/**
 * Converts between the two versions of OCM's add-on API as OCM's webhook does. Values without a
 * field in v1beta1 are kept in an annotation or under a reserved name, or are lost, as in OCM.
 * Source: ocm `pkg/addon/webhook/v1beta1`, api `addon/v1beta1/conversion.go`.
 *
 * By kind; the other kinds of the group are the same in both versions.
 */
export const ADDON_CONVERSIONS: Readonly<Record<string, Convert>> = {
  ClusterManagementAddOn: (object, apiVersion) => ({
    ...object,
    ...(apiVersion === V1ALPHA1 ? addOnToAlpha(object) : addOnToBeta(object)),
    apiVersion,
  }),
  ManagedClusterAddOn: (object, apiVersion) => ({
    ...object,
    ...(apiVersion === V1ALPHA1 ? instanceToAlpha(object) : instanceToBeta(object)),
    apiVersion,
  }),
};

export function ocmDefinitions(): readonly ResourceDefinition[] {
  return Object.entries(OCM_GROUPS).flatMap(([group, kinds]) =>
    kinds.map((kind) => definitionOf(group, kind)),
  );
}

function definitionOf(group: string, row: OcmKind): ResourceDefinition {
  const singular = row.kind.toLowerCase();
  return {
    group,
    plural: `${singular}s`,
    singular,
    kind: row.kind,
    listKind: `${row.kind}List`,
    shortNames: row.short ?? [],
    categories: [],
    namespaced: row.cluster !== true,
    builtIn: false,
    verbs: ALL_VERBS,
    storageKey: `${singular}s.${group}`,
    ...builtInConversion(group, row.kind),
    versions: [...row.versions]
      .sort((a, b) => compareVersionPriority(a.name, b.name))
      .map((version) => versionOf(group, row.kind, version)),
  };
}

/** Conversions between versions of OCM's kinds that differ in more than their names. */
export function builtInConversion(group: string, kind: string): Pick<ResourceDefinition, 'conversion'> {
  const convert = group === 'addon.open-cluster-management.io' ? ADDON_CONVERSIONS[kind] : undefined;
  return convert === undefined ? {} : { conversion: { kind: 'built-in', convert } };
}

function versionOf(group: string, kind: string, version: OcmVersion): ResourceVersion {
  const schema = compileRootSchema(ocmSchema(version));
  return {
    name: version.name,
    served: true,
    storage: version.storage === true,
    schema: { ...schema, name: definitionName(group, version.name, kind) },
    subresources: { status: version.status === true, others: [] },
    printerColumns: version.columns ?? [],
    selectableFields: [],
  };
}

type Convert = (object: JsonObject, apiVersion: string) => JsonObject;

/** The fields whose value is not undefined. */
function present(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** The list under `key` with each object in it changed; undefined where there is none. */
function mapped(
  owner: JsonObject | undefined,
  key: string,
  change: (item: JsonObject) => JsonObject,
): JsonValue[] | undefined {
  if (!Array.isArray(getOwn(owner ?? {}, key))) return undefined;
  return listAt(owner, key).filter(isObject).map(change);
}

function renamed(owner: JsonObject, from: string, to: string): JsonObject {
  const value = getOwn(owner, from);
  return value === undefined ? owner : { ...withoutKey(owner, from), [to]: value };
}

/** Reserved name for a missing default of a configuration. */
const NO_DEFAULT = '__reserved_no_default__';

function addOnToBeta(object: JsonObject): JsonObject {
  const spec = objectAt(object, 'spec') ?? {};
  const defaultConfigs = mapped(spec, 'supportedConfigs', (config) => {
    const { defaultConfig: _default, ...rest } = config;
    return { ...rest, ...(objectAt(config, 'defaultConfig') ?? { name: NO_DEFAULT }) };
  });
  const rest = withoutKey(withoutKey(spec, 'supportedConfigs'), 'addOnConfiguration');
  const status = objectAt(object, 'status');
  return present({
    spec: { ...rest, ...present({ defaultConfigs }) },
    status: status && renamed(status, 'defaultconfigReferences', 'defaultConfigReferences'),
  });
}

function addOnToAlpha(object: JsonObject): JsonObject {
  const spec = objectAt(object, 'spec') ?? {};
  const supportedConfigs = mapped(spec, 'defaultConfigs', ({ name = '', namespace, ...rest }) => {
    if (name === '' || name === NO_DEFAULT) return rest;
    return { ...rest, defaultConfig: present({ name, namespace }) };
  });
  const status = objectAt(object, 'status');
  return present({
    spec: { ...withoutKey(spec, 'defaultConfigs'), ...present({ supportedConfigs }) },
    status: status && renamed(status, 'defaultConfigReferences', 'defaultconfigReferences'),
  });
}

function instanceToBeta(object: JsonObject): JsonObject {
  const spec = objectAt(object, 'spec') ?? {};
  const namespace = textAt(spec, 'installNamespace');
  const status = objectAt(object, 'status');
  return present({
    ...(namespace !== '' && { metadata: withAnnotation(object, namespace) }),
    spec: withoutKey(spec, 'installNamespace'),
    status: status && statusToBeta(status),
  });
}

const INSTALL_NAMESPACE = 'addon.open-cluster-management.io/v1alpha1-install-namespace';

function withAnnotation(object: JsonObject, namespace: string): JsonObject {
  const metadata = objectAt(object, 'metadata') ?? {};
  const annotations = { ...objectAt(metadata, 'annotations'), [INSTALL_NAMESPACE]: namespace };
  return { ...metadata, annotations };
}

const KUBE_CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client';

function statusToBeta(status: JsonObject): JsonObject {
  const driver = getOwn(status, 'kubeClientDriver');
  const configReferences = mapped(status, 'configReferences', (reference) =>
    withoutKey(withoutKey(reference, 'name'), 'namespace'),
  );
  const registrations = mapped(status, 'registrations', (registration) => {
    const { signerName = '', subject } = registration;
    const known = isObject(subject) ? subject : {};
    if (signerName === KUBE_CLIENT_SIGNER) {
      const kubeClient = present({ subject: withoutKey(known, 'organizationUnit'), driver });
      return { type: 'kubeClient', kubeClient };
    }
    const renamedSubject = renamed(known, 'organizationUnit', 'organizationUnits');
    return { type: 'customSigner', customSigner: { signerName, subject: renamedSubject } };
  });
  const rest = withoutKey(withoutKey(status, 'kubeClientDriver'), 'addOnConfiguration');
  return { ...rest, ...present({ configReferences, registrations }) };
}

function instanceToAlpha(object: JsonObject): JsonObject {
  const metadata = objectAt(object, 'metadata') ?? {};
  const annotations = objectAt(metadata, 'annotations');
  const namespace = textAt(annotations, INSTALL_NAMESPACE);
  const status = objectAt(object, 'status');
  const spec = objectAt(object, 'spec') ?? {};
  return present({
    ...(annotations !== undefined && {
      metadata: { ...metadata, annotations: withoutKey(annotations, INSTALL_NAMESPACE) },
    }),
    spec: namespace === '' ? spec : { ...spec, installNamespace: namespace },
    status: status && statusToAlpha(status),
  });
}

/** @throws StatusError 500 for a registration without what its type needs */
function statusToAlpha(status: JsonObject): JsonObject {
  const configReferences = mapped(status, 'configReferences', (reference) => {
    const { name, namespace } = objectAt(reference, 'desiredConfig') ?? {};
    return { ...reference, ...present({ name, namespace }) };
  });
  const registrations = mapped(status, 'registrations', (registration) => {
    if (textAt(registration, 'type') === 'kubeClient')
      return present({
        signerName: KUBE_CLIENT_SIGNER,
        subject: objectAt(requireConfig(registration, 'kubeClient', 'KubeClient'), 'subject'),
      });
    const signer = requireConfig(registration, 'customSigner', 'CustomSigner');
    const subject = objectAt(signer, 'subject');
    return present({
      signerName: getOwn(signer, 'signerName'),
      subject: subject && renamed(subject, 'organizationUnits', 'organizationUnit'),
    });
  });
  const kubeClientDriver = listAt(status, 'registrations')
    .filter(isObject)
    .map((registration) => getOwn(objectAt(registration, 'kubeClient') ?? {}, 'driver'))
    .find((driver) => driver !== undefined && driver !== '');
  return { ...status, ...present({ configReferences, registrations, kubeClientDriver }) };
}

function requireConfig(registration: JsonObject, key: string, type: string): JsonObject {
  const config = objectAt(registration, key);
  if (config === undefined) throw errorWithoutReason(`failed to convert ManagedClusterAddOn: nil ${type}`);
  return config;
}
