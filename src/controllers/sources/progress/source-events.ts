import type { Fleet } from '../manifests/fleet.ts';

/** What happened to a source. Sources emit events; the hub, decisions and publication follow, and none of them calls a source. */
export type SourceEvent = { readonly source: string } & (
  | {
      readonly kind: /** It is about to ask its remote. */
        | 'fetching'
        /** The remote answered; what it said is read next. */
        | 'fetched'
        /** The pass is over: the hub follows what was read, as far as that was possible. */
        | 'followed'
        /** The hub wholly follows what was read, but for what will not change by itself. */
        | 'whole'
        /** The source could not be fetched, read or followed this time. */
        | 'failed'
        /** It has to look at its remote now: deletions of another source wait for that, or its own may go on. */
        | 'look-wanted';
    }
  /** A commit was read; nothing of it is on the hub yet, nor before the listeners have noted it. */
  | { readonly kind: 'read'; readonly fleet: Fleet }
  /** The commit once more, with the problems of meaning. */
  | { readonly kind: 'checked'; readonly fleet: Fleet }
);
