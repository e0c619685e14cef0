import type { KindInfo } from '@berth/kube/model/kinds';
import type { KubeObject, ObjectMeta } from '@berth/kube/model/object-meta';

/** An object without the fields that must not be reported to the hub. */
export interface ReportableObject {
  readonly object: KubeObject;
  /** Message for users that names the fields which were left out of a Secret; undefined for other objects. */
  readonly withheld: string | undefined;
}

/**
 * Fields of a Secret that cannot contain its data. Annotations can: kubectl apply stores a copy of
 * the object in one.
 */
const SECRET_FIELDS = ['apiVersion', 'kind', 'type', 'immutable'] as const;
const SECRET_METADATA: readonly (keyof ObjectMeta)[] = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'labels',
  'finalizers',
  'ownerReferences',
];

const WITHHELD = 'the data and the annotations of a Secret are not reported';

/**
 * The part of an object that feedback and condition rules may read. The data of a Secret never
 * leaves its cluster: rules can read its type, names, labels and owners, but cannot read or compare
 * its data. Secrets inside another object, such as the manifests of a ManifestWork, are reduced in
 * the same way; then the annotations of that object are left out, too.
 * @param kind the resource that the object was read from; an object that declares kind Secret is
 * also treated as a Secret
 */
export function reportableObject(
  object: KubeObject,
  kind: Pick<KindInfo, 'group' | 'plural'>,
): ReportableObject {
  if ((kind.group === '' && kind.plural === 'secrets') || isSecret(object))
    return { object: reportableSecret(object) as unknown as KubeObject, withheld: WITHHELD };
  const reduced = withoutSecrets(object) as KubeObject;
  if (reduced === object) return { object, withheld: undefined };
  const { annotations: _annotations, ...metadata } = reduced.metadata;
  return { object: { ...reduced, metadata }, withheld: undefined };
}

type Fields = Readonly<Record<string, unknown>>;

/** The value with every Secret in it reduced; the same value when there is none. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(withoutSecrets);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (isSecret(value)) return reportableSecret(value);
  const entries = Object.entries(value).map(([key, item]) => [key, withoutSecrets(item)] as const);
  const isSame = entries.every(([key, item]) => item === (value as Fields)[key]);
  return isSame ? value : Object.fromEntries(entries);
}

function isSecret(value: object): boolean {
  const { apiVersion, kind } = value as Fields;
  return (
    apiVersion === 'v1' &&
    kind === 'Secret' &&
    ('data' in value || 'stringData' in value || 'metadata' in value)
  );
}

function reportableSecret(secret: object): Fields {
  const { metadata } = secret as Fields;
  const isObject = typeof metadata === 'object' && metadata !== null;
  return { ...pick(secret, SECRET_FIELDS), metadata: isObject ? pick(metadata, SECRET_METADATA) : {} };
}

function pick(from: object, fields: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(from).filter(([field]) => fields.includes(field)));
}
