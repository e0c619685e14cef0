import type { SignaturePolicy } from '../../../adapters/git/program/commit-signature.ts';
import type { GitAuth } from '../../../adapters/git/repository/git-auth.ts';
import type { GitRef } from '../../../adapters/git/repository/git-repository.ts';
import type { ForgeRepository } from '../../../adapters/forge/request/forge-repository.ts';
import type { PullRequestForge } from '../../../core/ports.ts';
import type { PreviewRules } from '../../../core/preview/preview-rules.ts';
import type { RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';

export interface ServeSource {
  /** Names the source in status, events and its ApplySet; a DNS label. Default `fleet`. */
  readonly name?: string | undefined;
  readonly url: string;
  readonly ref?: GitRef | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly auth?: GitAuth | undefined;
  /** PEM file of the certificate authority to trust instead of the system's. */
  readonly caFile?: string | undefined;
  readonly signatures?: SignaturePolicy | undefined;
  /** Where the state of commits is reported. */
  readonly commitStatus?:
    | { readonly target: ForgeRepository; readonly targetUrl?: string | undefined }
    | undefined;
  /** Its pull requests get a plan. Absent: they do not. */
  readonly preview?:
    | {
        readonly forge: PullRequestForge;
        /** `team/fleet`, for people. */
        readonly repositoryName: string;
        readonly rules: PreviewRules;
        /** Whether each guard rule has a status of its own. */
        readonly ruleStatuses: boolean;
      }
    | undefined;
  /** Called when the controller ended. */
  readonly close?: (() => Promise<void>) | undefined;
  /** `observe`: Argo CD or Flux fills the hub; Berth reads the source for commits and problems only. Default `apply`. */
  readonly sync?: 'apply' | 'observe' | undefined;
  /** How much one change may remove: deletions of the source, clusters of its placements. Default: the controller's. */
  readonly budget?: RemovalBudget | undefined;
  /** Deletions of the source within this time count as one toward its budget. Default: the controller's. */
  readonly deletionWindowMs?: number | undefined;
  /** Delete the last objects that the source has on the hub without a release. Default false. */
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
  /** Take objects that belong to other sources, and fields that belong to other managers. Default false. */
  readonly force?: boolean | undefined;
}

export function sourceNameOf({ name = 'fleet' }: Pick<ServeSource, 'name'>): string {
  return name;
}
