import type { KubeObject } from '@berth/kube/model/object-meta';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { foldStringData } from './secret-data.ts';

/** The object's content (everything but metadata) under the Update strategy. */
export interface ContentPlan {
  readonly content: ObjectContent;
  /** The API server cannot change the object into this: delete and create it again. */
  readonly recreate?: boolean;
  /** If the API server refuses the change as invalid, delete and create it again. */
  readonly recreateWhenInvalid?: boolean;
}

export type ObjectContent = Readonly<Record<string, unknown>>;
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

export function planContent(live: KubeObject, manifest: KubeObject): ContentPlan {
  const slash = manifest.apiVersion.indexOf('/');
  const group = slash === -1 ? '' : manifest.apiVersion.slice(0, slash);
  const key = `${group}/${manifest.kind}`;
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

const INJECTED_BUNDLE = 'ca-bundle.crt';

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

const TOKEN_SECRET = 'kubernetes.io/service-account-token';

/** Fields that the API server assigns and that cannot change afterwards. */
const ASSIGNED_SERVICE_FIELDS = [
  'clusterIP',
  'clusterIPs',
  'ipFamilies',
  'ipFamilyPolicy',
  'healthCheckNodePort',
];

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

/** Fields that no API server changes. */
const FIXED_STORAGE_FIELDS = ['provisioner', 'parameters', 'reclaimPolicy', 'volumeBindingMode'];

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
