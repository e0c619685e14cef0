import type { ObjectMeta } from '../model/object-meta.ts';
import { RELEASE_ANNOTATION } from './publish-annotations.ts';

/** The plan tokens that an object in Git releases: one, or several with commas or blanks between them. */
export function releaseTokens({ annotations }: Pick<ObjectMeta, 'annotations'>): readonly string[] {
  return (annotations?.[RELEASE_ANNOTATION] ?? '').split(/[\s,]+/).filter((token) => token !== '');
}
