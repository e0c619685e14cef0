import type { ObjectMeta } from '../../model/object-meta.ts';

/** What an annotation lists, with commas or blanks between; nothing when it is not there. */
export function annotationWords(
  { annotations }: Pick<ObjectMeta, 'annotations'>,
  key: string,
): readonly string[] {
  return (annotations?.[key] ?? '').split(/[\s,]+/).filter((word) => word !== '');
}
