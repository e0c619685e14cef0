import type { IncomingMessage, ServerResponse } from 'node:http';
import type { WebhookEvent } from '@berth/forge/event/webhook-event';
import type { BearerTokens } from '../../../../plugin/tokens/bearer-tokens.ts';
import type { ReportFiles } from '../../../adapters/store/report-files.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Leadership } from '@berth/kube/leader-election/leadership';
import type { WorkQueue } from '@berth/runtime/loop/work-queue';
import type { ControllerMetrics } from './controller-metrics.ts';
import type { RunningWaves } from '../../../controllers/argocd/waves/start-waves.ts';
import type { PullController } from '../../../controllers/argocd/pull/start-pull-controller.ts';
import type { RepositoryLoop } from '../../../controllers/sources/following/repository-loop.ts';
import type { HubInventory } from '../../../controllers/inventory/hub-inventory.ts';
import type { WorkSharesStatus } from '../../../controllers/works/work-shares.ts';
import type { PublishedPlacements } from '../../../core/publish/pages/published-placements.ts';
import type { Readiness } from './readiness.ts';
import type { ServeOptions } from '../../settings/serve-options.ts';
import type { RemovalBudget } from '../../../core/publish/judge/removal-budget.ts';
import type { TimelineStep } from '../../../core/timeline/timeline.ts';
import type { PreviewLinks } from './preview-links.ts';

/** The data sources of the controller's HTTP server. */
export interface ControllerHttpOptions {
  readonly options: ServeOptions;
  readonly inventory: HubInventory;
  readonly publishedPlacements: PublishedPlacements;
  readonly metrics: ControllerMetrics;
  readonly loops: readonly RepositoryLoop[];
  readonly decider: {
    readonly queue: WorkQueue;
    /** Absent: OCM decides. */
    readonly scheduling?: { readonly unstable: readonly string[] } | undefined;
  };
  readonly readiness: Readiness;
  readonly leadership: Leadership;
  /** Which share of the works this process writes. Undefined where the leader writes all. */
  readonly shares: () => WorkSharesStatus | undefined;
  /** The commit at which the object's source was last read; '' without a source, or while it is unknown. */
  readonly commitOf: (object: Pick<KubeObject, 'metadata'>) => string;
  /** Absent: the pull model of Argo CD is off. */
  readonly pull?: Pick<PullController, 'figures'> | undefined;
  /** Absent: no ApplicationSet is served in waves. */
  readonly waves?: Pick<RunningWaves, 'readWaves' | 'held'> | undefined;
  /** How many add-ons clusters keep because their removal is held. Absent: none. */
  readonly heldAddOns?: (() => number) | undefined;
  /** Absent: pull requests get no previews. */
  readonly previews?: PreviewParts | undefined;
  /** Why what is known of the hub may be outdated; undefined while its changes arrive. */
  readonly hubProblem: () => string | undefined;
  readonly warnings: () => readonly string[];
  /** Events of clusters and works. */
  readonly timeline: { read(): Promise<readonly TimelineStep[]> };
  readonly loadDashboard: (
    parts: ControllerHttpOptions,
    tokens: Pick<BearerTokens, 'identify'>,
  ) => Promise<Dashboard>;
  /** The removal budget of a placement of a source. */
  readonly budgetOf: (placement: Pick<KubeObject, 'metadata'>) => RemovalBudget;
}

/** The dashboard, which is loaded when somebody asks for it. */
export interface Dashboard {
  handle(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

/** The parts of pull request previews that are served. */
export interface PreviewParts {
  /**
   * Returns immediately.
   * @returns whether pull requests of the repository get previews
   */
  take(event: WebhookEvent): boolean;
  readonly reports: Pick<ReportFiles, 'read' | 'written'>;
  /** The pull request whose planned head, or whose merge, is a commit. @param commit an id, or how it begins */
  findCommit(commit: string): { readonly source: string; readonly number: string } | undefined;
  /** The pull requests that are open and have a plan. */
  open(): readonly { readonly source: string; readonly number: string }[];
  readonly links: Pick<PreviewLinks, 'isValid'>;
}
