import type { KubeObject } from '@berth/kube/model/object-meta';
import type { PassFacts } from './placement-facts.ts';

/** A change that the watch showed. A modification has both `before` and `after`. */
export interface WatchedChange {
  readonly before: KubeObject | undefined;
  readonly after: KubeObject | undefined;
}

/** An event of one placement. */
export type PlacementEvent =
  /**
   * Starts a pass, because there is a new result, pages were changed, an approval was read, or a
   * wait is over. The cause does not matter: each pass gets all facts again. Sent only while no
   * pass is in progress.
   */
  | { readonly kind: 'reconcile'; readonly facts: PassFacts }
  /**
   * The placement was deleted. Sent only while no pass is in progress. It is handled as a pass of
   * its own.
   */
  | { readonly kind: 'gone' }
  /**
   * Response to `read-pages`: the pages on the hub, and those that the watch shows at that time.
   */
  | {
      readonly kind: 'pages-read';
      readonly pages: readonly KubeObject[];
      readonly seen: readonly KubeObject[];
    }
  /** Response to `fence-page`: the page with its new version. */
  | { readonly kind: 'page-fenced'; readonly page: KubeObject }
  /**
   * Response to `write-page`. `after` is undefined for a deletion. `seen` is the page that the
   * watch shows now.
   */
  | {
      readonly kind: 'page-written';
      readonly after: KubeObject | undefined;
      readonly seen: KubeObject | undefined;
    }
  /** Response to `patch-status`. */
  | { readonly kind: 'status-written'; readonly after: KubeObject; readonly seen: KubeObject | undefined }
  /** Response to `annotate-placement`. */
  | { readonly kind: 'placement-annotated'; readonly after: KubeObject }
  /** Response to `persist`, also if the disk write failed. */
  | { readonly kind: 'persisted' }
  /** Response to `yield`. */
  | { readonly kind: 'resumed' }
  /**
   * Response to `record`: the hash of the record, or '' when the inputs of the record are unknown.
   */
  | { readonly kind: 'recorded'; readonly hash: string }
  /**
   * An action failed. `of` names the action. `mayArrive` says that the hub may still execute the
   * write.
   */
  | {
      readonly kind: 'failed';
      readonly of: 'pages' | 'status' | 'annotation' | 'record';
      readonly error: unknown;
      readonly mayArrive: boolean;
    }
  /** The watch showed a change of one of the placement's pages. */
  | {
      readonly kind: 'page-changed';
      readonly change: WatchedChange;
      /** This process is the leader. */
      readonly isLeader: boolean;
      /** The watch shows the placement. */
      readonly isPlacementThere: boolean;
    }
  /**
   * The pages were listed again, and the watch shows them as they were in this version of the hub.
   * Only for placements with a write that the watch does not show.
   */
  | {
      readonly kind: 'pages-listed';
      readonly hubVersion: string;
      readonly isLeader: boolean;
      readonly isPlacementThere: boolean;
    }
  /**
   * The watch showed a change of the placement. `isInput` tells whether decisions may depend on the
   * change. It is called only for changes by others.
   */
  | {
      readonly kind: 'placement-changed';
      readonly change: WatchedChange;
      readonly isInput: () => boolean;
    }
  /** The commit is completely applied to the hub. */
  | { readonly kind: 'commit-complete' }
  /** A work reported another status. */
  | { readonly kind: 'works-changed' }
  /**
   * The hub was restored or replaced, and the watches do not show this yet. `atRestore` is defined
   * if the hub was restored from a backup.
   */
  | { readonly kind: 'hub-changed'; readonly atRestore: SeenAtRestore | undefined }
  /** An event of this pass could not be handled, because of a defect in Berth. */
  | { readonly kind: 'abandoned'; readonly error: unknown };

/** The state of a placement, as this process saw it when the hub was restored. */
export interface SeenAtRestore {
  /** Newest resource version of the restored hub. */
  readonly hubVersion: string;
  /** Undefined if the placement does not exist. */
  readonly seen: Pick<PassFacts, 'key' | 'placement' | 'pages' | 'seenPage'> | undefined;
}
