import { setMaxListeners } from 'node:events';
import { Reflector } from '../../../adapters/kube/cache/reflector.ts';
import type { RotatingKubeConfig } from '../../../adapters/kube/config/rotating-kube-config.ts';
import { ConflictError } from '../../../core/errors.ts';
import { MANAGED_CLUSTER } from '../../../core/model/kinds.ts';
import type { ManagedCluster } from '../../../core/model/kind/managed-cluster.ts';
import type { AgentIdentity } from '../../../core/registration/agent-identity.ts';
import type { HubEntry } from '../../../core/registration/agent/hub-entry.ts';
import { isAccepted } from '../../../core/registration/agent/next-status.ts';
import type { HeldCertificate } from '../../../core/registration/agent/plan-certificate.ts';
import { leaseSeconds } from '../../../core/registration/names.ts';
import { onAbort } from '../../../runtime/on-abort.ts';
import { ReconcileLoop } from '../../../runtime/reconcile-loop.ts';
import { DONE, type ReconcileOutcome } from '../../../runtime/reconciler.ts';
import { sleep } from '../../../runtime/sleep.ts';
import type { CredentialStore } from '../credentials/credential-store.ts';
import type { HubClient, ManagedApi, RegistrationSettings } from '../options/registration-settings.ts';
import { CertificateKeeper } from './keep-certificate.ts';
import { isCertificateKnown } from './is-certificate-known.ts';
import { ClusterLease } from './keep-lease.ts';
import { StatusReport } from './report-status.ts';
import { updateClientConfigs } from './update-client-configs.ts';

export interface SessionOptions {
  readonly hub: HubClient;
  readonly config: RotatingKubeConfig;
  readonly held: HeldCertificate;
  readonly entry: HubEntry;
  readonly identity: AgentIdentity;
  readonly store: CredentialStore;
  readonly cluster: ManagedApi;
  readonly settings: RegistrationSettings;
  /** Why the agent has to begin again with a bootstrap kubeconfig; undefined: it need not. Asked every few seconds. */
  readonly reasonToLeave: () => string | undefined;
  /** There is a list of hubs: one that denies the cluster, or does not answer, is left. */
  readonly hasOtherHubs: boolean;
  /** The hub has accepted the cluster. Called once. */
  readonly onAccepted: () => void;
}

/** Why a session is over. */
export interface SessionEnd {
  readonly why: string;
  /** The hub does not know the certificate. */
  readonly isRefused: boolean;
}

const LOOK_AGAIN_MS = 10_000;
/** A hub that is restarted may answer so for a moment. */
const REFUSALS = 3;
/** A lease that ran out while the agent was at another hub is no sign that this one is away. */
const STARTING_MS = 10_000;
const LOOP = {
  concurrency: 2,
  backoff: { initialMs: 1_000, maxMs: 30_000 },
  // A right that is missing may be granted; one that was taken away may come back.
  inputRetryMs: 0,
};

/** Works with a hub on which the cluster is registered: lease, status and certificate. */
export async function runSession(options: SessionOptions, signal: AbortSignal): Promise<SessionEnd> {
  const session = new Session(options);
  return session.run(signal);
}

class Session {
  readonly #options: SessionOptions;
  readonly #over = new AbortController();
  readonly #reflector: Reflector;
  readonly #lease: ClusterLease;
  readonly #status: StatusReport;
  readonly #certificate: CertificateKeeper;
  readonly #loop: ReconcileLoop;
  #leaseSeconds: number | undefined;
  #wasAccepted = false;
  #end: SessionEnd = { why: 'stopped', isRefused: false };
  /** In a row. */
  #refusals = 0;
  /** When the hub took the lease last; at the start: now. */
  #renewedAtMs: number;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { hub, identity, settings, cluster, entry } = options;
    const { clock, random } = settings;
    const log = settings.log.child({ cluster: identity.cluster });
    this.#renewedAtMs = clock.monotonicMs();
    this.#reflector = new Reflector({
      api: hub.api,
      kind: MANAGED_CLUSTER,
      fieldSelector: `metadata.name=${identity.cluster}`,
      clock,
      random,
      log,
    });
    this.#lease = new ClusterLease(hub.api, identity.cluster, clock);
    this.#loop = new ReconcileLoop({
      ...LOOP,
      name: 'registration',
      clock,
      random,
      log,
      reconcile: (key, passSignal) => this.#reconcile(key, passSignal),
    });
    this.#certificate = new CertificateKeeper({
      ...options,
      api: hub.api,
      onNews: () => this.#loop.add('status'),
    });
    this.#status = new StatusReport({
      hub: hub.api,
      cluster,
      clusterName: identity.cluster,
      hubServer: entry.server,
      settings,
      onChange: () => this.#loop.add('status'),
      certificate: () => this.#certificate.condition,
    });
  }

  async run(signal: AbortSignal): Promise<SessionEnd> {
    // Every watch and every wait listens: that is no leak.
    setMaxListeners(0, this.#over.signal);
    onAbort(signal, () => this.#over.abort());
    this.#reflector.store.onChange(() => this.#onCluster());
    const over = this.#over.signal;
    const running = this.#reflector.run(over);
    const certificate = this.#certificate.run(over).then((end) => {
      if (end === 'expired') this.#leave('the certificate has expired');
    });
    await this.#watch(over);
    await Promise.all([running, certificate, this.#loop.close(), this.#status.ended()]);
    return this.#end;
  }

  #leave(why: string, isRefused = false): void {
    if (this.#over.signal.aborted) return;
    this.#end = { why, isRefused };
    this.#over.abort();
  }

  get #managed(): ManagedCluster | undefined {
    return this.#reflector.store.get(this.#options.identity.cluster) as unknown as ManagedCluster | undefined;
  }

  #onCluster(): void {
    const managed = this.#managed;
    if (managed === undefined) return;
    const { hasOtherHubs, onAccepted } = this.#options;
    if (hasOtherHubs && managed.spec?.hubAcceptsClient === false)
      return this.#leave('the hub denies the cluster');
    this.#loop.add('status');
    const seconds = isAccepted(managed) ? leaseSeconds(managed.spec?.leaseDurationSeconds) : undefined;
    if (seconds !== this.#leaseSeconds) this.#loop.add('lease', true);
    this.#leaseSeconds = seconds;
    if (seconds === undefined || this.#wasAccepted) return;
    this.#wasAccepted = true;
    onAccepted();
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<ReconcileOutcome> {
    const { random } = this.#options.settings;
    if (key === 'lease') {
      const seconds = this.#leaseSeconds;
      if (seconds === undefined) return DONE;
      await this.#lease.renew();
      this.#renewedAtMs = this.#options.settings.clock.monotonicMs();
      return { kind: 'requeue', afterMs: seconds * 1_000 * (1 + 0.25 * random()) };
    }
    const managed = this.#managed;
    if (managed === undefined) return DONE;
    const { hub, settings } = this.#options;
    try {
      const afterMs = await this.#status.report(managed, AbortSignal.any([signal, this.#over.signal]));
      if (afterMs === undefined) return DONE;
      await updateClientConfigs(hub.api, managed, settings);
      return { kind: 'requeue', afterMs };
    } catch (error) {
      // Somebody else wrote: the watch shows it, and then we look again; at the latest after the usual wait.
      if (error instanceof ConflictError) return { kind: 'requeue', afterMs: 1_000 };
      throw error;
    }
  }

  /** A hub that was installed again, or that revoked the certificate, has refused it several times in a row. */
  async #isUnknown(): Promise<boolean> {
    if (this.#reflector.isWatching) return false;
    const { hub, identity } = this.#options;
    this.#refusals = (await isCertificateKnown(hub.api, identity)) === false ? this.#refusals + 1 : 0;
    return this.#refusals >= REFUSALS;
  }

  /** Looks every few seconds whether the agent has to go elsewhere. */
  async #watch(over: AbortSignal): Promise<void> {
    const { settings, reasonToLeave, hasOtherHubs } = this.#options;
    const { clock, hubTimeoutMs } = settings;
    const startedAtMs = clock.monotonicMs();
    while (!over.aborted) {
      await sleep(clock, LOOK_AGAIN_MS, over);
      if (over.aborted) return;
      const why = reasonToLeave();
      if (why !== undefined) this.#leave(why);
      if (await this.#isUnknown()) this.#leave('the hub does not know the certificate', true);
      const nowMs = clock.monotonicMs();
      if (hasOtherHubs && nowMs - startedAtMs > STARTING_MS && nowMs - this.#renewedAtMs > hubTimeoutMs)
        this.#leave('the hub does not take the lease');
    }
  }
}
