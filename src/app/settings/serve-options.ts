import type { WebhookProvider } from '@berth/forge/event/webhook-event';
import type { WorkElections } from '../../controllers/works/work-shares.ts';
import type { ServeSource } from '../../controllers/sources/progress/source-options.ts';
import type { ResultGenerator } from '@berth/placement/engine';
import type { Clock, SleepingClock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { Logger } from '@berth/runtime/logger';
import type { RemovalBudget } from '../../core/publish/judge/removal-budget.ts';
import type { AutoAcceptance } from '../../core/registration/acceptance/auto-acceptance.ts';
import type { AddOnDuty } from '../../core/addon/addon-duties.ts';
import type { RegistrationDuty } from '../../core/registration/duties.ts';
import type { WebhookAddress } from '../../core/registration/webhooks/webhook-configurations.ts';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import type { Leadership } from '@berth/kube/leader-election/leadership';

export interface ServeOptions {
  /** The client of the hub. With leader election, it refuses writes while this process may not write. */
  readonly api: KubeApi;
  /** A client whose reviews of tokens and rights no election refuses: a standby shows the dashboard, too. Default: `api`. */
  readonly reviews?: KubeApi | undefined;
  /** A client with the credentials of somebody else, for what people do on the dashboard. Absent: it is read-only. */
  readonly actAs?: ((token: string) => KubeApi & { close(): void }) | undefined;
  /** Why the hub can neither be read nor written at present. Default: the age of what was read tells. */
  readonly hubProblem?: (() => string | undefined) | undefined;
  /** Which replica writes. Default: this process always writes. */
  readonly leadership?: Leadership | undefined;
  readonly sources: readonly ServeSource[];
  /** Directory of Git mirrors, history and publishing state. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** `upstream`: OCM's own controller decides, and Berth reads its decisions. Default: `berth`. */
  readonly schedule?: 'berth' | 'upstream' | undefined;
  /** The engine. Default: Berth's own. */
  readonly decide?: ((snapshot: Snapshot) => ResultGenerator) | undefined;
  readonly budget?: RemovalBudget | undefined;
  /** Pages say why each cluster is selected. Default: false. */
  readonly decisionReasons?: boolean | undefined;
  /** Also write what is published as PlacementDecisions of multicluster.x-k8s.io. Default: false. */
  readonly multiclusterDecisions?: boolean | undefined;
  /** Deletions of a source within this time count together toward its budget. Default: 10 min. */
  readonly deletionWindowMs?: number | undefined;
  /** Default: 5 min. */
  readonly staleAfterMs?: number | undefined;
  /** Default 60 s; webhooks and `berth reconcile` trigger sooner. */
  readonly pollIntervalMs?: number | undefined;
  /** Default: 3 min. */
  readonly resyncIntervalMs?: number | undefined;
  /**
   * The hub is an embedded hub of this controller alone: recorded status is read from Git, and namespaces are created
   * as needed. Default: false.
   */
  readonly embedded?: boolean | undefined;
  /** Namespace of the ApplySet parents. Default: `berth-system`. */
  readonly namespace?: string | undefined;
  /** Plans of pull requests ask the hub by dry runs what it would hold. Default: true. */
  readonly dryRuns?: boolean | undefined;
  /** Turn ManifestWorkReplicaSets into ManifestWorks. Default: true. */
  readonly works?: boolean | undefined;
  /** Every process writes the works of its share of the namespaces. Absent: the leader writes all. */
  readonly workElections?: WorkElections | undefined;
  /** Absent: no Argo CD integration. */
  readonly argocd?: ServeArgocdOptions | undefined;
  /** Absent: Berth does not handle registration. */
  readonly registration?: ServeRegistrationOptions | undefined;
  /** Absent: Berth does not manage add-ons. */
  readonly addons?: ServeAddOnOptions | undefined;
  /** Absent: Berth serves no admission webhooks. */
  readonly admission?: ServeAdmissionOptions | undefined;
  /** The Lease that tells other controllers of this one. Absent: none. */
  readonly announcement?: { readonly name: string; readonly identity: string } | undefined;
  /** Where traces are sent by OTLP over HTTP (`OtlpExporterOptions`). Absent: no traces. */
  readonly otlp?:
    | {
        readonly address: string;
        readonly headers?: string | undefined;
        readonly headersFile?: string | undefined;
      }
    | undefined;
  /** Absent: no HTTP. */
  readonly http?: ServeHttpOptions | undefined;
  readonly maxRecords?: number | undefined;
  /** Stored in each record. */
  readonly engineVersion: string;
  /** The environment, from which the git adapter selects variables for the git program. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Which placements of the hub are Berth's: those of Git and those with its annotation, or all, where nobody else schedules. */
export function ownPlacements({ embedded }: Pick<ServeOptions, 'embedded'>): 'own' | 'all' {
  return embedded === true ? 'all' : 'own';
}

/** Which placements the controller decides. */
export function decidedPlacements(
  options: Pick<ServeOptions, 'embedded' | 'schedule'>,
): 'own' | 'all' | 'none' {
  return options.schedule === 'upstream' ? 'none' : ownPlacements(options);
}

/** Whether placements from Git are annotated, so that other schedulers ignore them. An embedded hub has no other scheduler. */
export function annotatesPlacements({
  embedded,
  schedule,
}: Pick<ServeOptions, 'embedded' | 'schedule'>): boolean {
  return schedule !== 'upstream' && embedded !== true;
}

export interface ServeArgocdOptions {
  /** The namespace of Argo CD. */
  readonly namespace: string;
  /** Refresh ApplicationSets when decisions that they use change. */
  readonly refresh: boolean;
  /** Number of refreshes per second while Argo CD answers none. Default: 10. */
  readonly refreshesPerSecond?: number | undefined;
  /** Serve plugin generators in waves, if they request it. */
  readonly waves?: boolean | undefined;
  /** Answer the extension of Argo CD. Default: false. */
  readonly extension?: boolean | undefined;
  /** Register in Argo CD the clusters that GitOpsClusters select. */
  readonly clusterSecrets: boolean;
  /** Run the pull model: deliver Applications to their clusters as ManifestWorks. */
  readonly pull: boolean;
  /** Names of the plugin ConfigMaps whose `baseUrl` is Berth. */
  readonly pluginConfigMaps: readonly string[];
  /** Labels of a ManagedCluster to copy to its Secret: keys, or `prefix*`. */
  readonly clusterLabels: readonly string[];
}

export interface ServeRegistrationOptions {
  /** The registration controllers to run; at least one. */
  readonly duties: readonly RegistrationDuty[];
  readonly autoAcceptance: AutoAcceptance;
  /** Measures how long agents have been silent. */
  readonly clock: SleepingClock;
}

export interface ServeAddOnOptions {
  /** What to do for add-ons; at least one. */
  readonly duties: readonly AddOnDuty[];
  readonly clock: SleepingClock;
}

export interface ServeAdmissionOptions {
  readonly host: string;
  readonly port: number;
  /** How the hub reaches the webhooks. */
  readonly address: WebhookAddress;
}

export interface ServeHttpOptions {
  readonly host: string;
  readonly port: number;
  /** File with bearer tokens for the plugin endpoint and /api. Absent: these respond with 401. */
  readonly tokenFile?: string | undefined;
  /** PEM files for TLS. Absent: plain HTTP. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string } | undefined;
  /** /metrics requires a token with the scope `metrics`. Default: false. */
  readonly protectMetrics?: boolean | undefined;
  /** The address at which users reach this server, for links in previews: `https://berth.example.com`. Absent: no links. */
  readonly publicUrl?: string | undefined;
  /**
   * Base URLs of the other controllers, to which a standby forwards webhook deliveries for the
   * leader. Default: none.
   */
  readonly peers?: readonly string[] | undefined;
  /** Forges that may report events to /webhooks/PROVIDER, each with a file of secrets, one per line. Others get 404. */
  readonly webhookSecretFiles?: Readonly<Partial<Record<WebhookProvider, string>>> | undefined;
}
