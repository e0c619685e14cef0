import type { PullRequestForge } from '@berth/forge/contract/pull-request-forge';
import type { ForgeRepository } from '@berth/forge/request/forge-repository';
import type { SignaturePolicy } from '@berth/git-reader/program/commit-signature';
import type { GitAuth } from '@berth/git-reader/repository/git-auth';
import type { GitRef } from '@berth/git-reader/repository/git-repository';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { groupBy } from '@berth/runtime/lists/group-by';
import type { PreviewRules } from '../../../core/preview/preview-rules.ts';
import type { RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';
import type { SourceContent } from '../manifests/source-content.ts';

export interface ServeSource {
  /** The name of the source in status, events and its ApplySet; a DNS label. Default: `fleet`. */
  readonly name?: string | undefined;
  readonly url: string;
  readonly ref?: GitRef | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly auth?: GitAuth | undefined;
  /** PEM file with a certificate authority to trust instead of those of the system. */
  readonly caFile?: string | undefined;
  readonly signatures?: SignaturePolicy | undefined;
  /** Where to report the state of commits. */
  readonly commitStatus?:
    | { readonly target: ForgeRepository; readonly targetUrl?: string | undefined }
    | undefined;
  /** Makes a plan for each pull request. Absent: none. */
  readonly preview?:
    | {
        readonly forge: PullRequestForge;
        /** `team/fleet`, for display. */
        readonly repositoryName: string;
        readonly rules: PreviewRules;
        /** Whether each guard rule has its own status. */
        readonly ruleStatuses: boolean;
        /** Whether plans ask the hub by dry runs what it would hold. Default: as the controller. */
        readonly dryRuns?: boolean | undefined;
      }
    | undefined;
  /** Called when the controller has ended. */
  readonly close?: (() => Promise<void>) | undefined;
  /** `observe`: Argo CD or Flux applies the source; Berth reads it only for commits and problems. Default: `apply`. */
  readonly sync?: 'apply' | 'observe' | undefined;
  /**
   * How much one change may remove: objects of the source, and clusters of its placements. Default: the controller's
   * budget.
   */
  readonly budget?: RemovalBudget | undefined;
  /** Deletions of the source within this time count together toward its budget. Default: the controller's window. */
  readonly deletionWindowMs?: number | undefined;
  /** Delete the last objects of the source from the hub without a release. Default: false. */
  readonly allowEmpty?: boolean | undefined;
  /**
   * Kinds that are applied in addition to those of OCM and namespaces, as parsed by `appliedKinds`.
   * Default: none.
   */
  readonly kinds?: readonly string[] | undefined;
  /**
   * How fields of other managers are handled: reported and left unchanged, or taken. Default:
   * `take` with force, otherwise `report`.
   */
  readonly onConflict?: 'report' | 'take' | undefined;
  /** Take over objects of other sources, and fields of other managers. Default: false. */
  readonly force?: boolean | undefined;
}

/**
 * Groups the sources that read the same commits: those of one ref of one repository, fetched and verified in the same way.
 * Credentials that are made at run time count as equal, because they read the same repository.
 */
export function groupByRef<T extends Pick<ServeSource, 'url' | 'ref' | 'auth' | 'caFile' | 'signatures'>>(
  sources: readonly T[],
): readonly (readonly T[])[] {
  const fetchedAs = ({ url, ref, auth, caFile, signatures }: T): string =>
    JSON.stringify([url, ref, auth, caFile, signatures]);
  return [...groupBy(sources, fetchedAs).values()];
}

export function sourceNameOf({ name = 'fleet' }: Pick<ServeSource, 'name'>): string {
  return name;
}

/** Whether the source takes the fields that other managers own. */
export function takesFields({
  force = false,
  onConflict,
}: Pick<ServeSource, 'force' | 'onConflict'>): boolean {
  return onConflict === undefined ? force : onConflict === 'take';
}

/**
 * What happened to a source. Sources emit these events. The hub, decisions and publication react to them, and none of
 * them calls a source.
 */
export type SourceEvent = { readonly source: string } & (
  | {
      readonly kind: /** A fetch begins. */
        | 'fetching'
        /** The fetch succeeded; the commit is read next. */
        | 'fetched'
        /** The objects of the commit are written next, or the hub is compared with them. */
        | 'following'
        /** The sync ended: the hub follows the commit, as far as possible. */
        | 'followed'
        /** The hub follows the commit completely, except for objects that it refuses permanently. */
        | 'complete';
    }
  /** The commit could not be fetched or read this time. */
  | { readonly kind: 'unread'; readonly error: unknown }
  /** The source could not be fetched, read or followed this time. Ends the round. */
  | { readonly kind: 'failed'; readonly error: unknown }
  /** A commit was read. Nothing of it goes to the hub before the listeners have handled this event. */
  | { readonly kind: 'read'; readonly content: SourceContent }
  /** The source deleted the object on the hub, after it made sure that no source declares it. */
  | { readonly kind: 'deleted'; readonly object: KubeObject }
  /** The hub has stored the object of the commit, as it is in the event. */
  | { readonly kind: 'applied'; readonly object: KubeObject }
  /** The same commit, with its semantic problems. */
  | { readonly kind: 'checked'; readonly content: SourceContent }
);
