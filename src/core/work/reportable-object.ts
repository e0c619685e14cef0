import type { KindInfo } from '../model/kinds.ts';
import type { KubeObject, ObjectMeta } from '../model/object-meta.ts';

/** What the agent may tell the hub about an object. */
export interface ReportableObject {
  readonly object: KubeObject;
  /** What was left out, for people; undefined: nothing was. */
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

/**
 * The part of an object that feedback and condition rules may read. A Secret's data never leaves its cluster: rules see its
 * type, names, labels and owners, and nothing to compare guesses with.
 * @param kind under which it was read; what the object says of itself counts as well
 */
export function reportableObject(
  object: KubeObject,
  kind: Pick<KindInfo, 'group' | 'plural'>,
): ReportableObject {
  const isSecret =
    (kind.group === '' && kind.plural === 'secrets') ||
    (object.apiVersion === 'v1' && object.kind === 'Secret');
  if (!isSecret) return { object, withheld: undefined };
  const metadata = pick(object.metadata, SECRET_METADATA);
  return {
    object: { ...pick(object, SECRET_FIELDS), metadata } as unknown as KubeObject,
    withheld: 'the data and the annotations of a Secret are not reported',
  };
}

function pick(from: object, fields: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(from).filter(([field]) => fields.includes(field)));
}
