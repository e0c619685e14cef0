import { InputError } from '@berth/runtime/errors';
import {
  getOwn,
  isObject,
  type JsonObject,
  type JsonValue,
  listAt,
  objectAt,
  textAt,
  withoutKey,
} from '@berth/runtime/json/json-value';

const V1ALPHA1 = 'addon.open-cluster-management.io/v1alpha1';

/**
 * Converts between the two versions of OCM's add-on API as OCM's webhook does. Values without a
 * field in v1beta1 are kept in an annotation or under a reserved name, or are lost, as in OCM.
 * Source: ocm `pkg/addon/webhook/v1beta1`, api `addon/v1beta1/conversion.go`.
 * The other kinds of the group are the same in both versions.
 */
export const ADDON_CONVERSIONS: Readonly<Record<string, Convert>> = {
  'clustermanagementaddons.addon.open-cluster-management.io': (object, apiVersion) => ({
    ...object,
    ...(apiVersion === V1ALPHA1 ? addOnToAlpha(object) : addOnToBeta(object)),
    apiVersion,
  }),
  'managedclusteraddons.addon.open-cluster-management.io': (object, apiVersion) => ({
    ...object,
    ...(apiVersion === V1ALPHA1 ? instanceToAlpha(object) : instanceToBeta(object)),
    apiVersion,
  }),
};

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

/** @throws InputError for a registration without what its type needs */
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
  if (config === undefined)
    throw new InputError(`nil ${type}`, {
      code: 'ocm.conversion',
      subject: 'failed to convert ManagedClusterAddOn',
    });
  return config;
}
