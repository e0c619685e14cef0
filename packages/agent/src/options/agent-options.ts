import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { ImpersonatedUser } from '../rules/applied/executor-subject.ts';

/** One agent: it applies the works in one cluster namespace of one hub to one managed cluster. */
export interface AgentOptions {
  readonly hub: KubeApi;
  readonly cluster: KubeApi;
  /** The namespace on the hub. */
  readonly clusterName: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Uniform in [0, 1). Default Math.random. */
  readonly random?: () => number;
  /** Identifies the AppliedManifestWorks of this agent. Default: the hash of the hub. */
  readonly agentId?: string | undefined;
  /** How often objects that cannot be watched are read, plus a random 0 to 90 %. Default: 10 s. */
  readonly statusSyncIntervalMs?: number;
  /** How often each work is applied again without an event, plus a random 0 to 50 %. Default: 4 min. */
  readonly resyncIntervalMs?: number;
  /** How long an AppliedManifestWork without a ManifestWork is kept. Default: 1 h; 100 years or more: forever. */
  readonly evictionGraceMs?: number;
  /** Works applied at the same time. Default: 10. */
  readonly workers?: number;
  /** Watches on the managed cluster, one for each kind and namespace. Objects beyond the limit are polled. Default: 200. */
  readonly maxWatches?: number;
  /**
   * `watch`: drift is corrected when the watch shows it. `resync`: only with the next resync or
   * change of the work, as in OCM's agent.
   */
  readonly drift?: 'watch' | 'resync';
  readonly feedback?: { readonly rawJson?: boolean; readonly maxRawJsonBytes?: number };
  /**
   * Cache access checks of executors until RBAC objects of the managed cluster change, which are
   * watched for this. Default false: the API server is called before every apply.
   */
  readonly executorCache?: boolean;
  /**
   * Creates a client that impersonates a user on the managed cluster, for the escalation check of executors. Absent:
   * works that need this check are refused.
   */
  readonly impersonate?: (user: ImpersonatedUser) => KubeApi;
  readonly onEvent?: (event: AgentEvent) => void;
}

/** An event of the agent, for logs and the demo. */
export type AgentEvent =
  | { readonly kind: 'applied'; readonly cluster: string; readonly work: string; readonly objects: number }
  | { readonly kind: 'failed'; readonly cluster: string; readonly work: string; readonly problem: string }
  | { readonly kind: 'corrected'; readonly cluster: string; readonly work: string; readonly object: string }
  | {
      readonly kind: 'feedback';
      readonly cluster: string;
      readonly work: string;
      readonly values: FeedbackByObject;
    }
  | { readonly kind: 'deleted'; readonly cluster: string; readonly work: string }
  | { readonly kind: 'evicted'; readonly cluster: string; readonly work: string };

/** `Deployment web/guestbook` → name of the value → its text. */
export type FeedbackByObject = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The options with all defaults filled in. */
export type AgentSettings = Required<Omit<AgentOptions, 'impersonate' | 'onEvent' | 'feedback'>> &
  Pick<AgentOptions, 'impersonate'> & {
    readonly hubHash: string;
    readonly feedback: { readonly rawJson: boolean; readonly maxRawJsonBytes: number };
    readonly emit: (event: AgentEvent) => void;
  };
