import type { ObjectMeta } from '../../model/object-meta.ts';
import { annotationWords } from './annotation-words.ts';
import { RELEASE_ANNOTATION } from './publish-annotations.ts';

/** The plan tokens that an object in Git releases. */
export function releaseTokens(metadata: Pick<ObjectMeta, 'annotations'>): readonly string[] {
  return annotationWords(metadata, RELEASE_ANNOTATION);
}
