import type { KubeObject } from '../../../core/model/object-meta.ts';
import type { SourceContent } from '../manifests/source-content.ts';

/** What happened to a source. Sources emit events; the hub, decisions and publication follow, and none of them calls a source. */
export type SourceEvent = { readonly source: string } & (
  | {
      readonly kind: /** It is about to fetch. */
        | 'fetching'
        /** The fetch succeeded; the commit is read next. */
        | 'fetched'
        /** The pass ended: the hub follows the commit, as far as possible. */
        | 'followed'
        /** The hub follows the commit completely, except for objects that it refuses for good. */
        | 'whole'
        /** The source could not be fetched, read or followed this time. */
        | 'failed'
        /** It must fetch now: deletions of another source wait for that, or its own may continue. */
        | 'look-wanted';
    }
  /** A commit was read; nothing of it is on the hub yet, nor before the listeners have noted it. */
  | { readonly kind: 'read'; readonly content: SourceContent }
  /** It deleted the object on the hub, knowing that no source declares it. */
  | { readonly kind: 'deleted'; readonly object: KubeObject }
  /** The commit again, with its semantic problems. */
  | { readonly kind: 'checked'; readonly content: SourceContent }
);
