import type { KindInfo } from '../../model/kinds.ts';
import type { KubeObject, ObjectMeta } from '../../model/object-meta.ts';

/** What the agent may report to the hub about an object. */
export interface ReportableObject {
  readonly object: KubeObject;
  /** Of a Secret: what is left out, for people. */
  readonly withheld: string | undefined;
}

/** Fields of a Secret that hold none of its data. Everything else may: tools keep copies of whole objects in annotations. */
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
 * The part of an object that feedback and condition rules may read. A Secret's data never leaves its cluster: rules see its
 * type, names, labels and owners, and nothing to compare guesses with. The same holds for Secrets inside another object, such
 * as the manifests of a ManifestWork, whose annotations are left out then as well.
 * @param kind under which it was read; what the object says of itself counts as well
 */
export function reportableObject(
  object: KubeObject,
  kind: Pick<KindInfo, 'group' | 'plural'>,
): ReportableObject {
  if ((kind.group === '' && kind.plural === 'secrets') || isSecret(object))
    return { object: shownOfSecret(object) as unknown as KubeObject, withheld: WITHHELD };
  const shown = withoutSecrets(object) as KubeObject;
  if (shown === object) return { object, withheld: undefined };
  const { annotations: _copies, ...metadata } = shown.metadata;
  return { object: { ...shown, metadata }, withheld: undefined };
}

type Fields = Readonly<Record<string, unknown>>;

/** The same value where there is no Secret in it. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map(withoutSecrets);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (isSecret(value)) return shownOfSecret(value);
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

function shownOfSecret(secret: object): Fields {
  const { metadata } = secret as Fields;
  const isObject = typeof metadata === 'object' && metadata !== null;
  return { ...pick(secret, SECRET_FIELDS), metadata: isObject ? pick(metadata, SECRET_METADATA) : {} };
}

function pick(from: object, fields: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(from).filter(([field]) => fields.includes(field)));
}
