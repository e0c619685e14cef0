import { groupVersionOf } from '@berth/kube/model/object-ref';
import type { KubeObject, ObjectMeta, OwnerReference } from '@berth/kube/model/object-meta';
import { InputError } from '@berth/runtime/errors';
import { canonicalJson, jsonEqual } from '@berth/runtime/json/json-equal';
import { withOwner, withoutOwnerLabel } from '../applied/ownership.ts';

const INJECTED_BUNDLE = 'ca-bundle.crt';

const TOKEN_SECRET = 'kubernetes.io/service-account-token';

/** Fields that the API server assigns and that cannot change afterwards. */
const ASSIGNED_SERVICE_FIELDS = [
  'clusterIP',
  'clusterIPs',
  'ipFamilies',
  'ipFamilyPolicy',
  'healthCheckNodePort',
];

/** Fields that no API server changes. */
const FIXED_STORAGE_FIELDS = ['provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode'];

/** The plan of the Update strategy for an existing object. */
export type UpdatePlan =
  | { readonly action: 'none' }
  | { readonly action: 'update'; readonly object: KubeObject; readonly recreateWhenInvalid: boolean }
  | { readonly action: 'recreate'; readonly object: KubeObject };

/** Digest of a text, hex; passed in because the core has no crypto. */
export type Digest = (text: string) => string;

/**
 * Builds the wanted object (live metadata merged with the manifest's, content by the rule of its
 * kind) and writes it only if it differs. Server-side defaults usually make it differ, so the
 * caller caches the result of its last write of the same manifest.
 */
export function planUpdate(
  live: KubeObject,
  manifest: KubeObject,
  ownership: Ownership,
  digest: Digest,
): UpdatePlan {
  const wanted = withSpecHash(manifest, digest);
  const plan = planContent(live, wanted);
  if (plan.recreate === true)
    return { action: 'recreate', object: objectToCreate(manifest, ownership, digest) };
  const metadata = mergeMetadata(live.metadata, wanted.metadata, ownership);
  if (sameMetadata(live, metadata) && jsonEqual(objectContent(live), plan.content)) return { action: 'none' };
  const object = { ...plan.content, apiVersion: manifest.apiVersion, kind: manifest.kind, metadata };
  return { action: 'update', object, recreateWhenInvalid: plan.recreateWhenInvalid ?? false };
}

export function objectToCreate(manifest: KubeObject, ownership: Ownership, digest: Digest): KubeObject {
  const wanted = withSpecHash(manifest, digest);
  return { ...wanted, metadata: metadataToCreate(wanted.metadata, ownership) };
}

/**
 * OCM's agent adds this to Services; kept, so that the agents can replace each other without a
 * write.
 */
function withSpecHash(manifest: KubeObject, digest: Digest): KubeObject {
  if (manifest.kind !== 'Service' || manifest.apiVersion !== 'v1') return manifest;
  const annotations = {
    ...manifest.metadata.annotations,
    'operator.openshift.io/spec-hash': digest(canonicalJson(manifest['spec'] ?? {})),
  };
  return { ...manifest, metadata: { ...manifest.metadata, annotations } };
}

/** Whether all metadata that the Update strategy may change is the same. */
export function sameMetadata(live: KubeObject, metadata: KubeObject['metadata']): boolean {
  return (
    jsonEqual(live.metadata.labels ?? {}, metadata.labels ?? {}) &&
    jsonEqual(live.metadata.annotations ?? {}, metadata.annotations ?? {}) &&
    jsonEqual(live.metadata.ownerReferences ?? [], metadata.ownerReferences ?? [])
  );
}

export interface Ownership {
  readonly reference: OwnerReference;
  readonly owned: boolean;
}

/**
 * Metadata of an existing object under the Update strategy: labels and annotations are merged (the
 * manifest wins, entries of others stay), owner references are updated, everything else, including
 * finalizers, is unchanged.
 */
function mergeMetadata(live: ObjectMeta, manifest: ObjectMeta, ownership: Ownership): ObjectMeta {
  const merged = withOwner(live.ownerReferences ?? [], ownership.reference, ownership.owned);
  const { labels, annotations, ownerReferences: _live, ...rest } = live;
  return {
    ...rest,
    ...mapField('labels', withoutOwnerLabel(mergeMap(labels, manifest.labels))),
    ...mapField('annotations', mergeMap(annotations, manifest.annotations)),
    ...(merged.length === 0 ? {} : { ownerReferences: merged }),
  };
}

/**
 * Metadata of an object to create. The manifest's finalizers are used only here. Its owner references are never used.
 */
function metadataToCreate(manifest: ObjectMeta, ownership: Ownership): ObjectMeta {
  const { uid: _uid, resourceVersion: _version, ownerReferences: _references, ...rest } = manifest;
  return ownership.owned ? { ...rest, ownerReferences: [ownership.reference] } : rest;
}

type StringMap = Readonly<Record<string, string>>;

function mergeMap(
  live: StringMap | undefined,
  manifest: StringMap | null | undefined,
): StringMap | undefined {
  return manifest === undefined || manifest === null ? live : { ...live, ...manifest };
}

function mapField(name: 'labels' | 'annotations', value: StringMap | undefined): Partial<ObjectMeta> {
  return value === undefined || Object.keys(value).length === 0 ? {} : { [name]: value };
}

/** The object's content (everything but metadata) under the Update strategy. */
interface ContentPlan {
  readonly content: ObjectContent;
  /** The API server cannot change the object into this: delete and create it again. */
  readonly recreate?: boolean;
  /** If the API server refuses the change as invalid, delete and create it again. */
  readonly recreateWhenInvalid?: boolean;
}

type ObjectContent = Readonly<Record<string, unknown>>;
type ContentRule = (live: ObjectContent, manifest: ObjectContent, labels: LabelsOf) => ContentPlan;

interface LabelsOf {
  readonly manifest: Readonly<Record<string, string>>;
}

/**
 * Exceptions from "the content becomes the manifest", by `group/Kind`, as in OCM's agent
 * (library-go's resourceapply). All other kinds are replaced, so a field that was removed from the
 * manifest is removed or defaulted again.
 */
const RULES: Readonly<Record<string, ContentRule>> = {
  '/Namespace': keepLive,
  '/Pod': keepLive,
  '/ServiceAccount': keepLive,
  '/ConfigMap': configMap,
  '/Secret': secret,
  '/Service': service,
  'rbac.authorization.k8s.io/Role': fields('rules'),
  'rbac.authorization.k8s.io/ClusterRole': clusterRole,
  'rbac.authorization.k8s.io/RoleBinding': fields('subjects', 'roleRef'),
  'rbac.authorization.k8s.io/ClusterRoleBinding': fields('subjects', 'roleRef'),
  'policy/PodDisruptionBudget': fields('spec'),
  'networking.k8s.io/NetworkPolicy': fields('spec'),
  'apiextensions.k8s.io/CustomResourceDefinition': fields('spec'),
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': fields('spec'),
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': fields('spec'),
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhooks,
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhooks,
  'storage.k8s.io/StorageClass': storageClass,
  'storage.k8s.io/CSIDriver': recreatedSpec,
};

function planContent(live: KubeObject, manifest: KubeObject): ContentPlan {
  const key = `${groupVersionOf(manifest.apiVersion).group}/${manifest.kind}`;
  const rule = Object.hasOwn(RULES, key) ? RULES[key] : undefined;
  const wanted = objectContent(manifest);
  return rule === undefined
    ? { content: wanted }
    : rule(objectContent(live), wanted, { manifest: manifest.metadata.labels ?? {} });
}

/** Everything but metadata; a status in a manifest does not count, the main endpoint ignores it. */
export function objectContent(object: KubeObject): ObjectContent {
  const { metadata: _metadata, status: _status, ...content } = object;
  return content;
}

function keepLive(live: ObjectContent): ContentPlan {
  return { content: live };
}

/**
 * Takes the named fields from the manifest (an absent one is removed), and keeps the other live
 * fields.
 */
function fields(...names: readonly string[]): ContentRule {
  return (live, manifest) => ({ content: withFields(live, manifest, names) });
}

function withFields(live: ObjectContent, manifest: ObjectContent, names: readonly string[]): ObjectContent {
  const content: Record<string, unknown> = { ...live };
  for (const name of names) {
    if (manifest[name] === undefined) delete content[name];
    else content[name] = manifest[name];
  }
  return content;
}

function configMap(live: ObjectContent, manifest: ObjectContent, labels: LabelsOf): ContentPlan {
  const content = withFields(live, manifest, ['data', 'binaryData']);
  const injected = labels.manifest['config.openshift.io/inject-trusted-cabundle'] === 'true';
  const bundle = (live['data'] as ObjectContent | undefined)?.[INJECTED_BUNDLE];
  const data = content['data'] as ObjectContent | undefined;
  if (!injected || bundle === undefined || data?.[INJECTED_BUNDLE] !== undefined) return { content };
  return { content: { ...content, data: { ...data, [INJECTED_BUNDLE]: bundle } } };
}

function secret(live: ObjectContent, manifest: ObjectContent): ContentPlan {
  const folded = foldStringData(manifest);
  const liveType = live['type'] ?? 'Opaque';
  const type = folded['type'] ?? (liveType === TOKEN_SECRET ? TOKEN_SECRET : 'Opaque');
  if (type !== liveType) return { content: { ...folded, type }, recreate: true };
  const ownKeys = folded['data'] as ObjectContent | undefined;
  // The token controller adds keys of its own.
  const data =
    type === TOKEN_SECRET ? { ...(live['data'] as ObjectContent | undefined), ...ownKeys } : ownKeys;
  const content: Record<string, unknown> = { ...live, type, data };
  if (data === undefined) delete content['data'];
  return { content, recreateWhenInvalid: true };
}

function service(live: ObjectContent, manifest: ObjectContent): ContentPlan {
  const liveSpec = (live['spec'] ?? {}) as ObjectContent;
  const spec: Record<string, unknown> = { ...(manifest['spec'] as ObjectContent | undefined) };
  for (const name of ASSIGNED_SERVICE_FIELDS)
    if (spec[name] === undefined && liveSpec[name] !== undefined) spec[name] = liveSpec[name];
  return { content: { ...live, spec } };
}

function clusterRole(live: ObjectContent, manifest: ObjectContent): ContentPlan {
  const aggregated = live['aggregationRule'] !== undefined && live['aggregationRule'] !== null;
  // The rules of an aggregated role are written by the control plane.
  const names = aggregated ? ['aggregationRule'] : ['aggregationRule', 'rules'];
  return { content: withFields(live, manifest, names) };
}

interface Webhook {
  readonly name: string;
  readonly clientConfig?: { readonly caBundle?: string };
}

function webhooks(live: ObjectContent, manifest: ObjectContent): ContentPlan {
  const liveHooks = new Map(
    ((live['webhooks'] ?? []) as readonly Webhook[]).map((hook) => [hook.name, hook]),
  );
  const wanted = ((manifest['webhooks'] ?? []) as readonly Webhook[]).map((hook) => {
    const bundle = liveHooks.get(hook.name)?.clientConfig?.caBundle;
    // Bundles are injected by others, unless the manifest brings its own.
    if (bundle === undefined || hook.clientConfig?.caBundle !== undefined) return hook;
    return { ...hook, clientConfig: { ...hook.clientConfig, caBundle: bundle } };
  });
  return { content: { ...live, webhooks: wanted } };
}

function storageClass(live: ObjectContent, manifest: ObjectContent): ContentPlan {
  const other = FIXED_STORAGE_FIELDS.some(
    (field) => manifest[field] !== undefined && !jsonEqual(manifest[field], live[field]),
  );
  return { content: manifest, recreate: other, recreateWhenInvalid: true };
}

function recreatedSpec(live: ObjectContent, manifest: ObjectContent): ContentPlan {
  const unchanged = jsonEqual(live['spec'], {
    ...(live['spec'] as ObjectContent),
    ...(manifest['spec'] as ObjectContent),
  });
  return unchanged ? { content: live } : { content: manifest, recreateWhenInvalid: true };
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * A Secret with `stringData` moved into `data`.
 * @throws InputError if a key is in both. The API server would accept it and use `stringData`.
 */
function foldStringData(secret: Fields): Fields {
  const { stringData, ...rest } = secret;
  if (stringData === undefined || stringData === null) return rest;
  const data: Record<string, unknown> = { ...(rest['data'] as Fields | undefined) };
  for (const [key, value] of Object.entries(stringData as Record<string, string>)) {
    if (Object.hasOwn(data, key))
      throw new InputError('is in data and in stringData, expected in one of them', {
        code: 'work.secret-key',
        subject: `Secret key ${key}`,
      });
    Object.defineProperty(data, key, {
      value: toBase64(value),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return { ...rest, data };
}

function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}
