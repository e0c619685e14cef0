import type { KubeObject } from '@berth/kube/model/object-meta';
import type { SourceContent } from '../manifests/source-content.ts';

/**
 * What happened to a source. Sources emit these events. The hub, decisions and publication react to them, and none of
 * them calls a source.
 */
export type SourceEvent = { readonly source: string } & (
  | {
      readonly kind: /** The fetch succeeded; the commit is read next. */
        | 'fetched'
        /** The sync ended: the hub follows the commit, as far as possible. */
        | 'followed'
        /** The hub follows the commit completely, except for objects that it refuses permanently. */
        | 'complete'
        /** The source could not be fetched, read or followed this time. */
        | 'failed';
    }
  /** A commit was read. Nothing of it goes to the hub before the listeners have handled this event. */
  | { readonly kind: 'read'; readonly content: SourceContent }
  /** The source deleted the object on the hub, after it made sure that no source declares it. */
  | { readonly kind: 'deleted'; readonly object: KubeObject }
  /** The same commit, with its semantic problems. */
  | { readonly kind: 'checked'; readonly content: SourceContent }
);
