import type { ObjectRef } from '../model/object-ref.ts';

/** A file whose objects leave a source without anybody deleting it. */
export interface LostFile {
  readonly source: string;
  readonly file: string;
  /** `emptied`: it is still read and declares none of them; `unselected`: its content is where the source's paths do not look. */
  readonly change: 'emptied' | 'unselected';
  /** Where its content is now; undefined when it is emptied. */
  readonly movedTo: string | undefined;
  /** What it declared before and what nothing declares now. */
  readonly objects: readonly ObjectRef[];
}
