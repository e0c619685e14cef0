import { APPLICATION_SET } from '../../argocd/argocd-kinds.ts';
import { SECRET_TYPE_LABEL } from '../../argocd/cluster-secrets/cluster-secret.ts';
import { ADOPTED_ANNOTATION } from '../../sync/applied/adoption.ts';
import { PRUNE_ANNOTATION } from '../../sync/applied/departure.ts';
import {
  isFromGit,
  type ManagedFields,
  type ManagedFieldSet as FieldTree,
  managedFieldsOf,
} from '../../sync/applied/field-names.ts';
import { APPLY_SET_ID_LABEL, APPLY_SET_PART_OF_LABEL } from '../../sync/apply-set.ts';
import {
  ADDON_PLACEMENT_SCORE,
  CLUSTER_MANAGEMENT_ADDON,
  CONFIG_MAP,
  type KindInfo,
  LEASE,
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_ADDON,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  MANIFEST_WORK,
  MANIFEST_WORK_REPLICA_SET,
  PLACEMENT,
  PLACEMENT_DECISION,
  SECRET,
} from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';
import type { Digest } from '../../publish/approval/approval-code.ts';
import { REMOVALS_CONFIG_MAP } from '../../publish/judge/removal-budget.ts';
import { RECORDS_LABEL } from '../../publish/record/compact-record.ts';
import { withoutContent } from './work-content.ts';

export interface RedactOptions {
  readonly argocdNamespace: string;
  /** The values of a Secret as text. */
  readonly textsOf: (secret: KubeObject) => Readonly<Record<string, string>>;
  readonly digest: Digest;
}

/** Replaces the data in a redacted cluster Secret: the address of the cluster, without credentials. */
export const CLUSTER_FIELD = 'cluster';

/** Keys of Argo CD's cluster Secrets that are kept; `config` contains the credentials. */
const CLUSTER_KEYS = ['name', 'server', 'project'];
/** Keys of the ConfigMaps of plugin generators. `token` names a Secret. */
const PLUGIN_KEYS = ['baseUrl', 'token', 'requestTimeout'];
/** Annotations of all objects that are kept: those that configure Berth and OCM's schedulers. */
const READ_ANNOTATIONS =
  /^((berth\.dev|cluster\.open-cluster-management\.io|applyset\.kubernetes\.io)\/|addon\.open-cluster-management\.io\/lifecycle$)/;
const OCM_GROUP = /\.open-cluster-management\.io$/;
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * Keeps only what a plan reads of an object on a hub: no data of Secrets, no content of works and of other applied
 * objects, and only annotations that configure Berth or that generators of Argo CD pass on.
 * @returns undefined if nothing of the object is kept
 */
export function redactObject(
  object: KubeObject,
  kind: KindInfo,
  options: RedactOptions,
): KubeObject | undefined {
  const { kind: name, group, version } = kind;
  const base = { apiVersion: group === '' ? version : `${group}/${version}`, kind: name };
  const known = { ...base, metadata: redactMetadata(object.metadata, keptOwners(object, kind)) };
  const is = (other: KindInfo): boolean => other.kind === name && other.group === group;
  if (is(MANAGED_CLUSTER))
    return { ...known, spec: withoutBundles(object['spec']), ...part(object, 'status') };
  if (is(MANAGED_CLUSTER_SET) || is(MANAGED_CLUSTER_SET_BINDING))
    return { ...known, ...part(object, 'spec') };
  if (is(PLACEMENT)) return { ...known, ...part(object, 'spec'), ...part(object, 'status') };
  if (is(PLACEMENT_DECISION) || is(ADDON_PLACEMENT_SCORE)) return { ...known, ...part(object, 'status') };
  if (is(MANIFEST_WORK) || is(MANIFEST_WORK_REPLICA_SET))
    return isMember(object) ? withoutContent({ ...known, ...part(object, 'spec') }, options.digest) : known;
  if (is(CLUSTER_MANAGEMENT_ADDON)) return { ...known, ...part(object, 'spec') };
  if (is(MANAGED_CLUSTER_ADDON))
    return {
      ...known,
      spec: fieldOf(object, 'spec', 'configs'),
      status: fieldOf(object, 'status', 'configReferences'),
    };
  if (is(LEASE)) return known;
  if (is(APPLICATION_SET)) return { ...known, ...part(object, 'spec') };
  if (is(CONFIG_MAP)) return redactConfigMap(object, known, options);
  if (is(SECRET) && object.metadata.labels?.[SECRET_TYPE_LABEL] === 'cluster')
    return redactClusterSecret(object, known, options);
  return isMember(object) ? { ...base, metadata: memberMetadata(object.metadata) } : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function part(object: KubeObject, field: 'spec' | 'status'): Fields {
  return object[field] === undefined ? {} : { [field]: object[field] };
}

function isMember({ metadata }: KubeObject): boolean {
  return metadata.labels?.[APPLY_SET_PART_OF_LABEL] !== undefined;
}

function redactMetadata(metadata: ObjectMeta, owners: readonly ManagedFields[]): ObjectMeta {
  const { name, namespace, uid, generation, creationTimestamp, deletionTimestamp, labels } = metadata;
  const { annotations = {}, ownerReferences } = metadata;
  const read = Object.entries(annotations).filter(([key]) => READ_ANNOTATIONS.test(key));
  return defined({
    ...{ name, namespace, uid, generation, creationTimestamp, deletionTimestamp, labels, ownerReferences },
    annotations: read.length === 0 ? undefined : Object.fromEntries(read),
    managedFields: owners.length === 0 ? undefined : owners,
  });
}

/** Git may declare these, and decisions are made from them: fields of other managers keep their values. */
const INPUTS = [
  MANAGED_CLUSTER,
  MANAGED_CLUSTER_SET,
  MANAGED_CLUSTER_SET_BINDING,
  PLACEMENT,
  ADDON_PLACEMENT_SCORE,
];

/** The owners of fields that a plan reads. Their keys tell no content; those of annotations that are omitted are omitted. */
function keptOwners(object: KubeObject, { group, kind }: KindInfo): readonly ManagedFields[] {
  const all = managedFieldsOf(object);
  const isInput = INPUTS.some((input) => input.kind === kind && input.group === group);
  if (isMember(object))
    return all.filter((entry) => OCM_GROUP.test(group) || isFromGit(entry)).map(withReadAnnotations);
  return isInput ? all.filter(({ subresource = '' }) => subresource === '').map(withReadAnnotations) : [];
}

function withReadAnnotations(entry: ManagedFields): ManagedFields {
  const { 'f:metadata': { 'f:annotations': annotations = {}, ...others } = {}, ...rest } =
    entry.fieldsV1 ?? {};
  const isRead = ([key]: readonly [string, unknown]): boolean =>
    !key.startsWith('f:') || READ_ANNOTATIONS.test(key.slice(2));
  const read: FieldTree = Object.fromEntries(Object.entries(annotations).filter(isRead));
  const metadata: FieldTree = { ...others, ...withField('f:annotations', read) };
  return { ...entry, fieldsV1: { ...rest, ...withField('f:metadata', metadata) } };
}

/** A tree without fields would be the whole value. */
function withField(name: string, tree: FieldTree): FieldTree {
  return Object.keys(tree).length === 0 ? {} : { [name]: tree };
}

/** An applied object is only counted, so its content is removed; not what says whether it is deleted when it leaves Git. */
function memberMetadata(metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, deletionTimestamp, labels, annotations = {} } = metadata;
  const set = labels?.[APPLY_SET_PART_OF_LABEL] ?? '';
  const kept = only(annotations, [PRUNE_ANNOTATION, ADOPTED_ANNOTATION]);
  return defined({
    ...{ name, namespace, deletionTimestamp, labels: { [APPLY_SET_PART_OF_LABEL]: set } },
    annotations: Object.keys(kept).length === 0 ? undefined : kept,
  });
}

function fieldOf(object: KubeObject, part: 'spec' | 'status', field: string): Fields {
  const { [field]: value } = (object[part] ?? {}) as Fields;
  return value === undefined ? {} : { [field]: value };
}

function withoutBundles(spec: unknown): unknown {
  const { managedClusterClientConfigs: configs, ...rest } = (spec ?? {}) as Fields;
  if (!Array.isArray(configs)) return rest;
  const urls = (configs as readonly { readonly url?: unknown }[]).map(({ url }) => defined({ url }));
  return { ...rest, managedClusterClientConfigs: urls };
}

function redactConfigMap(
  object: KubeObject,
  known: KubeObject,
  { argocdNamespace }: RedactOptions,
): KubeObject | undefined {
  const { labels = {}, namespace } = object.metadata;
  const data = (object['data'] ?? {}) as Readonly<Record<string, string>>;
  if (labels[RECORDS_LABEL] !== undefined || object.metadata.name === REMOVALS_CONFIG_MAP)
    return { ...known, data };
  if (namespace === argocdNamespace && data['baseUrl'] !== undefined)
    return { ...known, data: withoutToken(only(data, PLUGIN_KEYS)) };
  if (labels[APPLY_SET_ID_LABEL] !== undefined) return known;
  return isMember(object) ? { ...known, metadata: memberMetadata(object.metadata) } : undefined;
}

/** A value that begins with `$` names a Secret. Any other value is refused by Argo CD, and may be the token itself. */
function withoutToken(data: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { token } = data;
  return token === undefined || token === '' || token.startsWith('$') ? data : { ...data, token: 'redacted' };
}

function redactClusterSecret(object: KubeObject, known: KubeObject, { textsOf }: RedactOptions): KubeObject {
  const { [LAST_APPLIED]: _, ...annotations } = object.metadata.annotations ?? {};
  const metadata = Object.keys(annotations).length === 0 ? {} : { annotations };
  return {
    ...known,
    metadata: { ...known.metadata, ...metadata },
    [CLUSTER_FIELD]: only(textsOf(object), CLUSTER_KEYS),
  };
}

function only(
  texts: Readonly<Record<string, string>>,
  keys: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).filter(([key]) => keys.includes(key)));
}

function defined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
