import type { WebhookProvider } from '../../adapters/forge/event/webhook-event.ts';
import type { ServeSource } from '../../controllers/sources/progress/source-options.ts';
import type { ResultGenerator } from '../../core/placement/engine.ts';
import type { Clock, KubeApi, Logger, MonotonicClock } from '../../core/ports.ts';
import type { RemovalBudget } from '../../core/publish/judge/removal-budget.ts';
import type { AutoAcceptance } from '../../core/registration/acceptance/auto-acceptance.ts';
import type { RegistrationDuty } from '../../core/registration/duties.ts';
import type { WebhookAddress } from '../../core/registration/webhooks/webhook-configurations.ts';
import type { Snapshot } from '../../core/snapshot/snapshot.ts';
import type { Leadership } from '../../runtime/leader-election/leadership.ts';

export interface ServeOptions {
  /** The hub. Where processes are elected its writes are refused while this one may not write. */
  readonly api: KubeApi;
  /** Which of several processes writes. Default: this one. */
  readonly leadership?: Leadership | undefined;
  readonly sources: readonly ServeSource[];
  /** Directory of Git mirrors, history and publishing state. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** `upstream`: OCM's own controller decides, Berth reads its decisions. Default `berth`. */
  readonly schedule?: 'berth' | 'upstream' | undefined;
  /** The engine. Default: ours. */
  readonly decide?: ((snapshot: Snapshot) => ResultGenerator) | undefined;
  readonly budget?: RemovalBudget | undefined;
  /** Deletions of a source within this time count as one toward its budget. Default 10 min. */
  readonly deletionWindowMs?: number | undefined;
  /** Default 5 min. */
  readonly staleAfterMs?: number | undefined;
  /** Default 60 s; webhooks and `berth reconcile` trigger sooner. */
  readonly pollIntervalMs?: number | undefined;
  /** Default 3 min. */
  readonly resyncIntervalMs?: number | undefined;
  /** The hub is ours alone (embedded): recorded status comes from Git, and namespaces are made as needed. Default false. */
  readonly embedded?: boolean | undefined;
  /** Namespace of the ApplySet parents. Default `berth-system`. */
  readonly namespace?: string | undefined;
  /** Turn ManifestWorkReplicaSets into ManifestWorks. Default true. */
  readonly works?: boolean | undefined;
  /** Absent: no Argo CD integration. */
  readonly argocd?: ServeArgocdOptions | undefined;
  /** Absent: Berth does not handle registration. */
  readonly registration?: ServeRegistrationOptions | undefined;
  /** Absent: Berth serves no admission webhooks. */
  readonly admission?: ServeAdmissionOptions | undefined;
  /** Absent: no HTTP. */
  readonly http?: ServeHttpOptions | undefined;
  readonly maxRecords?: number | undefined;
  /** Stored in each record. */
  readonly engineVersion: string;
  /** The environment, from which the git adapter selects variables for the git program. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface ServeArgocdOptions {
  /** Where Argo CD runs. */
  readonly namespace: string;
  /** Refresh ApplicationSets when decisions that they use change. */
  readonly refresh: boolean;
  /** How many of them in a second, on average. Default: 10. */
  readonly refreshesPerSecond?: number | undefined;
  /** Serve plugin generators in waves, if they request it. */
  readonly waves?: boolean | undefined;
  /** Register in Argo CD the clusters that GitOpsClusters select. */
  readonly clusterSecrets: boolean;
  /** Bring Applications to the clusters that pull them, as ManifestWorks. */
  readonly pull: boolean;
  /** Names of ConfigMaps of the plugin generator whose `baseUrl` is Berth. */
  readonly pluginConfigMaps: readonly string[];
  /** Labels of ManagedClusters that their Secrets get: keys, or `prefix*`. */
  readonly clusterLabels: readonly string[];
}

export interface ServeRegistrationOptions {
  /** The controllers to run; at least one. */
  readonly duties: readonly RegistrationDuty[];
  readonly autoAcceptance: AutoAcceptance;
  /** Measures how long agents are silent. */
  readonly clock: MonotonicClock;
}

export interface ServeAdmissionOptions {
  readonly host: string;
  readonly port: number;
  /** How the hub reaches it. */
  readonly address: WebhookAddress;
}

export interface ServeHttpOptions {
  readonly host: string;
  readonly port: number;
  /** Bearer tokens for the plugin endpoint and /api; without it these answer 401. */
  readonly tokenFile?: string | undefined;
  /** PEM files to serve TLS with; absent: plain HTTP. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** /metrics needs a token with the scope `metrics`. Default false. */
  readonly protectMetrics?: boolean | undefined;
  /** Where people reach this server, for links in previews: `https://berth.example.com`. Absent: there are none. */
  readonly publicUrl?: string | undefined;
  /**
   * Base URLs of the other controllers, to which a standby forwards webhook deliveries for the
   * leader. Default: none.
   */
  readonly peers?: readonly string[] | undefined;
  /** Forges that may report a push at /webhooks/PROVIDER, each with a file of secrets, one per line. Others get 404. */
  readonly webhookSecretFiles?: Readonly<Partial<Record<WebhookProvider, string>>> | undefined;
}
