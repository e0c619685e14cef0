import type { ObjectMeta } from '@berth/kube/model/object-meta';
import { parseAnnotationList } from './annotation-list.ts';
import { RELEASE_ANNOTATION } from './publish-annotations.ts';

/** The plan tokens that an object in Git releases. */
export function releaseTokens(metadata: Pick<ObjectMeta, 'annotations'>): readonly string[] {
  return parseAnnotationList(metadata, RELEASE_ANNOTATION);
}
