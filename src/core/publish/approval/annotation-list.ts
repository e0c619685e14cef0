import type { ObjectMeta } from '@berth/kube/model/object-meta';

/** The words of an annotation, separated by commas or blanks; empty when the annotation is absent. */
export function parseAnnotationList(
  { annotations }: Pick<ObjectMeta, 'annotations'>,
  key: string,
): readonly string[] {
  return (annotations?.[key] ?? '').split(/[\s,]+/).filter((word) => word !== '');
}
