import type { ObjectRef } from '@berth/kube/model/object-ref';

/** A file whose objects are removed from a source although nobody deleted the file. */
export interface LostFile {
  readonly source: string;
  readonly file: string;
  /**
   * `emptied`: the file is still read and declares no objects. `unselected`: its content moved out of the source's
   * paths.
   */
  readonly change: 'emptied' | 'unselected';
  /** The new path of its content; undefined if it is emptied. */
  readonly movedTo: string | undefined;
  /** Objects that it declared before and that no file declares now. */
  readonly objects: readonly ObjectRef[];
}
