import { ADDON_CONVERSIONS } from '@berth/ocm/definition/addon-conversions';
import {
  isObject,
  type JsonObject,
  type JsonValue,
  listAt,
  objectAt,
  textAt,
} from '@berth/runtime/json/json-value';
import { CLUSTER_SET_LABEL } from '@berth/ocm/kind/managed-cluster';
import { kind, MANAGED_CLUSTER, MANAGED_CLUSTER_SET_BINDING, type KindInfo } from '@berth/kube/model/kinds';

const GROUP = 'admissionregistration.k8s.io';
export const VALIDATING_CONFIGURATION = kind(GROUP, 'v1', 'ValidatingWebhookConfiguration', 'Cluster');
export const MUTATING_CONFIGURATION = kind(GROUP, 'v1', 'MutatingWebhookConfiguration', 'Cluster');

/** Name of both configurations. */
export const ADMISSION_NAME = 'berth-admission';
export const MUTATE_PATH = '/admission/mutate';
export const VALIDATE_PATH = '/admission/validate';
export const CONVERT_PATH = '/convert';

/** The definitions whose versions have different fields. */
export const CONVERTED = Object.keys(ADDON_CONVERSIONS);

/** How the API server of the hub connects to `berth serve`. */
export type WebhookAddress =
  | { readonly kind: 'service'; readonly namespace: string; readonly name: string; readonly port: number }
  /** `https://HOST[:PORT]`, without a path. */
  | { readonly kind: 'url'; readonly url: string };

/** The time that a write waits for a response before the API server gives up. */
const TIMEOUT_SECONDS = 5;

/* CEL of match conditions, https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/ */
const CREATES = `request.operation == 'CREATE'`;
const setOf = (object: string): string =>
  `(has(${object}.metadata.labels) && '${CLUSTER_SET_LABEL}' in ${object}.metadata.labels ? ${object}.metadata.labels['${CLUSTER_SET_LABEL}'] : '')`;
const isAccepted = (object: string): string =>
  `(has(${object}.spec.hubAcceptsClient) && ${object}.spec.hubAcceptsClient)`;
const configsOf = (object: string): string =>
  `(has(${object}.spec.managedClusterClientConfigs) ? ${object}.spec.managedClusterClientConfigs : [])`;
const isUnstamped = `object.spec.taints.exists(t, !has(t.timeAdded) || t.timeAdded == null)`;
const taintsChange = `(has(object.spec.taints) && (!has(oldObject.spec.taints) || object.spec.taints != oldObject.spec.taints || ${isUnstamped}))`;

interface Hook {
  readonly name: string;
  readonly of: KindInfo;
  readonly failurePolicy: 'Fail' | 'Ignore';
  /** CEL: whether the write must be reviewed. */
  readonly condition: string;
}

const MUTATING: readonly Hook[] = [
  {
    name: 'complete.managedclusters.admission.berth.dev',
    of: MANAGED_CLUSTER,
    failurePolicy: 'Ignore',
    condition: `${CREATES} || ${setOf('object')} == '' || ${taintsChange}`,
  },
];

const VALIDATING: readonly Hook[] = [
  {
    name: 'rights.managedclusters.admission.berth.dev',
    of: MANAGED_CLUSTER,
    failurePolicy: 'Fail',
    condition: `${CREATES} || ${setOf('object')} != ${setOf('oldObject')} || ${isAccepted('object')} && !${isAccepted('oldObject')}`,
  },
  {
    name: 'addresses.managedclusters.admission.berth.dev',
    of: MANAGED_CLUSTER,
    failurePolicy: 'Ignore',
    condition: `!(${CREATES}) && ${configsOf('object')} != ${configsOf('oldObject')}`,
  },
  {
    name: 'managedclustersetbindings.admission.berth.dev',
    of: MANAGED_CLUSTER_SET_BINDING,
    failurePolicy: 'Fail',
    condition: `${CREATES} || object.spec != oldObject.spec`,
  },
];

/**
 * The configurations that make the API server ask Berth. `Fail` is used only if a write could give a user rights
 * without permission: a new cluster, its acceptance, its set, a binding. All other writes continue while Berth is down.
 * The API server never asks about status, leases, certificates, works and deletions.
 *
 * @param caBundle the authorities that Berth's certificate may be signed by, PEM in Base64; absent: any
 */
export function webhookConfigurations(
  address: WebhookAddress,
  caBundle?: string,
): readonly { readonly kind: KindInfo; readonly webhooks: readonly JsonObject[] }[] {
  const render = (path: string, { name, of, failurePolicy, condition }: Hook): JsonObject => ({
    name,
    admissionReviewVersions: ['v1'],
    clientConfig: { ...clientConfig(address, path), ...(caBundle !== undefined && { caBundle }) },
    failurePolicy,
    matchConditions: [{ name: 'matters', expression: condition }],
    rules: [
      {
        apiGroups: [of.group],
        apiVersions: ['*'],
        operations: ['CREATE', 'UPDATE'],
        resources: [of.plural],
        scope: of.namespaced ? 'Namespaced' : 'Cluster',
      },
    ],
    sideEffects: 'None',
    timeoutSeconds: TIMEOUT_SECONDS,
  });
  return [
    { kind: MUTATING_CONFIGURATION, webhooks: MUTATING.map((hook) => render(MUTATE_PATH, hook)) },
    { kind: VALIDATING_CONFIGURATION, webhooks: VALIDATING.map((hook) => render(VALIDATE_PATH, hook)) },
  ];
}

/**
 * `spec.conversion` of a definition whose versions Berth converts. The fields of the other kind of address are null,
 * so that a merge patch removes them.
 * @param caBundle Base64; absent: nobody answers yet, and reads and writes that need a conversion fail
 */
export function conversionBy(address: WebhookAddress, caBundle?: string): JsonObject {
  const others = caBundle === undefined ? {} : { caBundle, url: null, service: null };
  return {
    strategy: 'Webhook',
    webhook: {
      clientConfig: { ...others, ...clientConfig(address, CONVERT_PATH) },
      conversionReviewVersions: ['v1'],
    },
  };
}

/** Who converts the versions of a definition. Berth may take the place of nobody, and its own. */
export type Converter = 'nobody' | 'berth' | 'another program' | 'the API server';

/**
 * A definition whose spec nobody wrote comes with the API server, which then converts its versions. Berth converts where the
 * authority that the API server trusts is Berth's.
 * @param crd with its managedFields
 */
export function converterOf(crd: JsonObject): Converter {
  const writers = listAt(objectAt(crd, 'metadata'), 'managedFields').filter(isObject);
  if (!writers.some((entry) => holds(entry['fieldsV1'], ['f:spec']))) return 'the API server';
  const conversion = objectAt(objectAt(crd, 'spec'), 'conversion');
  const client = objectAt(objectAt(conversion, 'webhook'), 'clientConfig');
  if (textAt(conversion, 'strategy') !== 'Webhook' || textAt(client, 'caBundle') === '') return 'nobody';
  const isOurs = writers.some(
    (entry) => textAt(entry, 'manager') === ADMISSION_NAME && holds(entry['fieldsV1'], CA_BUNDLE),
  );
  return isOurs ? 'berth' : 'another program';
}

/** The way to the field in `fieldsV1`. */
const CA_BUNDLE = ['f:spec', 'f:conversion', 'f:webhook', 'f:clientConfig', 'f:caBundle'];

function holds(fields: JsonValue | undefined, [first, ...rest]: readonly string[]): boolean {
  return first === undefined || (isObject(fields) && first in fields && holds(fields[first], rest));
}

/** Host names and addresses that the certificate must cover. */
export function hostOf(address: WebhookAddress): string {
  return address.kind === 'service'
    ? `${address.name}.${address.namespace}.svc`
    : new URL(address.url).hostname.replace(/^\[|\]$/g, '');
}

function clientConfig(address: WebhookAddress, path: string): JsonObject {
  if (address.kind === 'url') return { url: `${address.url.replace(/\/$/, '')}${path}` };
  const { namespace, name, port } = address;
  return { service: { namespace, name, port, path } };
}

/**
 * Whether the server's object contains everything that is wanted. It may contain more, because the server adds
 * defaults. Lists must have the same length.
 */
export function hasAll(live: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(live) &&
      live.length === wanted.length &&
      wanted.every((item, index) => hasAll(live[index], item))
    );
  if (typeof wanted !== 'object' || wanted === null) return (live ?? null) === wanted;
  if (typeof live !== 'object' || live === null) return false;
  return Object.entries(wanted).every(([key, value]) => hasAll((live as JsonObject)[key], value));
}
