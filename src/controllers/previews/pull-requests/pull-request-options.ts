import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { TraceSink } from '@berth/runtime/open-trace';
import type { PullRequest, PullRequestForge } from '@berth/forge/contract/pull-request-forge';
import type { TimelineStep } from '../../../core/timeline/timeline.ts';
import type { ReportedPlan } from '../../../core/preview/report/report-page.ts';
import type { Reportable } from '../../../core/preview/report/merge-line.ts';
import type { PreviewRules } from '../../../core/preview/preview-rules.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { Leadership } from '@berth/kube/leader-election/leadership';
import type { PlannedPullRequest } from './plan-pull-request.ts';
import type { PreviewQueue } from './preview-queue.ts';
import type { PreviewMemory } from './preview-memory.ts';
import type { PreviewRepository } from './preview-repository.ts';
import type { KnownRules } from './preview-statuses.ts';

/** Where users of the forge find the whole preview. */
export interface PreviewReports {
  /** Stores the page and the picture of a pull request, and replaces earlier ones. The dashboard shows the same plan. */
  write(
    key: ReportKey,
    report: { readonly plan: ReportedPlan; readonly map: string | undefined },
  ): Promise<void>;
  /** Says on the stored page what the merge did; nothing where there is no page. */
  merged(key: ReportKey, merged: Pick<Reportable, 'merged' | 'approvals'>): Promise<void>;
  /** Links that expire; undefined if Berth has no address that users can reach. */
  linksTo(key: ReportKey): PreviewLinks | undefined;
}

interface ReportKey {
  readonly source: string;
  readonly number: number;
}

export interface PreviewLinks {
  readonly report: string;
  readonly map: string;
}

export interface PullRequestPreviewsOptions {
  /** Name of the source that uses the repository. */
  readonly source: string;
  /** `team/fleet`, for display. */
  readonly repositoryName: string;
  /** The branch that the source follows; undefined: the default branch. */
  readonly branch: string | undefined;
  readonly rules: PreviewRules;
  readonly forge: PullRequestForge;
  readonly repository: Pick<PreviewRepository, 'fetchBranch' | 'fetchCommit' | 'holds' | 'treeOf' | 'close'>;
  /** @throws TransientError when another attempt may succeed */
  readonly plan: (
    pullRequest: Pick<PullRequest, 'headCommit' | 'baseBranch' | 'fromFork'>,
    baseCommit: string,
    signal: AbortSignal,
  ) => Promise<PlannedPullRequest>;
  /** Resolves when the decisions for the followed commit are published, or will not be soon. */
  readonly whenPublished: (signal: AbortSignal) => Promise<void>;
  readonly hub: KubeApi;
  readonly snapshot: () => Snapshot;
  /** A digest of the state that plans are made on. It changes with everything that a plan reads. */
  readonly hubState: () => string;
  /** Namespace of the controller's objects on the hub. */
  readonly namespace: string;
  /** By pull request number. */
  readonly memories: {
    get(number: string): PreviewMemory | undefined;
    set(number: string, memory: PreviewMemory): void;
    /** Resolves when it is on the disk. */
    persist(number: string, memory: PreviewMemory): Promise<void>;
    delete(number: string): void;
    keys(): readonly string[];
  };
  readonly reports: PreviewReports;
  /** Absent: guard rules have no statuses of their own. */
  readonly knownRules: KnownRules | undefined;
  readonly queue: PreviewQueue;
  /** Absent: no traces. */
  readonly traces?: TraceSink | undefined;
  /** Adds a step to the history of the controller. */
  readonly record: (step: TimelineStep) => void;
  readonly leadership?: Pick<Leadership, 'isHeld' | 'whenHeld'> | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly onError: (error: unknown) => void;
}
