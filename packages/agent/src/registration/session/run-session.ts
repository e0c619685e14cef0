import { setMaxListeners } from 'node:events';
import { Reflector } from '@berth/kube/cache/reflector';
import type { RotatingKubeConfig } from '@berth/kube/config/rotating-kube-config';
import { findCondition } from '@berth/kube/model/condition-list';
import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { RenewedLease } from '@berth/kube/renewed-lease';
import type { ManagedCluster } from '@berth/ocm/kind/managed-cluster';
import { AVAILABLE } from '@berth/ocm/registration/cluster-conditions';
import { CLUSTER_LEASE, leaseSeconds, type AgentIdentity } from '@berth/ocm/registration/names';
import { ConflictError, BerthError } from '@berth/runtime/errors';
import { jsonEqual } from '@berth/runtime/json/json-equal';
import { ReconcileLoop, DONE, type ReconcileOutcome } from '@berth/runtime/loop/reconciler';
import { sleep, onAbort } from '@berth/runtime/loop/sleep';
import { AddonAgent } from '../addons/run-addons.ts';
import type { HubEntry } from '../../rules/registration/hub-entry.ts';
import { isAccepted } from '../../rules/registration/next-status.ts';
import type { HeldCertificate } from '../../rules/registration/plan-certificate.ts';
import type { KnownBootstrap } from '../credentials/known-bootstrap.ts';
import type { CredentialStore } from '../credentials/credential-store.ts';
import type { HubClient, ManagedApi, RegistrationSettings } from '../options/registration-settings.ts';
import { CertificateRenewer } from './certificate-renewer.ts';
import { StatusReport } from './report-status.ts';

export interface SessionOptions {
  readonly hub: HubClient;
  readonly config: RotatingKubeConfig;
  readonly held: HeldCertificate;
  readonly entry: HubEntry;
  readonly identity: AgentIdentity;
  readonly store: CredentialStore;
  readonly cluster: ManagedApi;
  /** The cluster that the agent runs in. */
  readonly hosting: KubeApi;
  readonly settings: RegistrationSettings;
  /** Why the agent must start again with a bootstrap kubeconfig; undefined if it need not. Called every few seconds. */
  readonly reasonToLeave: () => string | undefined;
  readonly askWithBootstrap: RegisteredClusterOptions['askWithBootstrap'];
  readonly knownBootstrap: Pick<KnownBootstrap, 'isReplaced' | 'know'>;
  /** Whether there are other hubs, so that the agent leaves one that denies the cluster or does not answer. */
  readonly hasOtherHubs: boolean;
  /** Called once, when the hub has accepted the cluster. */
  readonly onAccepted: () => void;
}

/** Why a session has ended. */
export interface SessionEnd {
  readonly why: string;
  /** Whether the agent must register with the bootstrap kubeconfig, though its certificate is valid. */
  readonly mustRegister: false | 'refused' | 'deleted';
}

const CHECK_INTERVAL_MS = 10_000;
/**
 * Right after the start, an expired lease does not show that this hub is down: it expired while the agent was at
 * another hub.
 */
const START_GRACE_MS = 10_000;
const LOOP = {
  concurrency: 2,
  backoff: { initialMs: 1_000, maxMs: 30_000 },
  // A missing right may be granted, and a revoked one may be granted again.
  inputRetryMs: 0,
};

/** Works with a hub at which the cluster is registered: lease, status and certificate. */
export async function runSession(options: SessionOptions, signal: AbortSignal): Promise<SessionEnd> {
  const session = new Session(options);
  return session.run(signal);
}

class Session {
  readonly #options: SessionOptions;
  readonly #stop = new AbortController();
  readonly #reflector: Reflector;
  readonly #lease: RenewedLease;
  readonly #status: StatusReport;
  readonly #certificate: CertificateRenewer;
  readonly #loop: ReconcileLoop;
  readonly #addons: AddonAgent;
  #addonsEnded: Promise<void> | undefined;
  #isUnknown = false;
  #leaseSeconds: number | undefined;
  #wasAccepted = false;
  #end: SessionEnd = { why: 'stopped', mustRegister: false };
  readonly #registered: RegisteredCluster;
  /** Whether the watch has shown the cluster. */
  #hasSeen = false;
  /** When the hub last accepted the lease; at the start: now. */
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
    const leaseKey = { namespace: identity.cluster, name: CLUSTER_LEASE };
    this.#lease = new RenewedLease(hub.api, leaseKey, { clock });
    this.#loop = new ReconcileLoop({
      ...LOOP,
      name: 'registration',
      clock,
      random,
      log,
      reconcile: (key, passSignal) => this.#reconcile(key, passSignal),
    });
    this.#addons = new AddonAgent({ ...options, hub: hub.api }, () => this.#isUnknown);
    this.#registered = new RegisteredCluster({ ...options, hub: hub.api });
    this.#certificate = new CertificateRenewer({
      ...options,
      api: hub.api,
      onConditionChange: () => this.#loop.add('status'),
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
    // Every watch and every wait adds a listener, so many listeners are not a leak.
    setMaxListeners(0, this.#stop.signal);
    onAbort(signal, () => this.#stop.abort());
    this.#reflector.store.onChange(() => this.#onCluster());
    const stop = this.#stop.signal;
    const running = this.#reflector.run(stop);
    const certificate = this.#certificate.run(stop).then((end) => {
      if (end === 'expired') this.#leave('the certificate has expired');
    });
    await this.#watch(stop);
    await Promise.all([
      ...[running, certificate, this.#loop.close(), this.#status.ended()],
      this.#addonsEnded,
    ]);
    return this.#end;
  }

  #leave(why: string, mustRegister: SessionEnd['mustRegister'] = false): void {
    if (this.#stop.signal.aborted) return;
    this.#end = { why, mustRegister };
    this.#stop.abort();
  }

  get #managed(): ManagedCluster | undefined {
    return this.#reflector.store.get(this.#options.identity.cluster) as unknown as ManagedCluster | undefined;
  }

  #onCluster(): void {
    const managed = this.#managed;
    if (managed === undefined) {
      // There is no lease to renew any more.
      this.#leaseSeconds = undefined;
      if (this.#hasSeen) this.#registered.deleted();
      return;
    }
    this.#hasSeen = true;
    const { hasOtherHubs, onAccepted } = this.#options;
    if (hasOtherHubs && managed.spec?.hubAcceptsClient === false)
      return this.#leave('the hub denies the cluster');
    this.#loop.add('status');
    this.#passOnHealth(managed);
    const seconds = isAccepted(managed) ? leaseSeconds(managed.spec?.leaseDurationSeconds) : undefined;
    if (seconds !== this.#leaseSeconds) this.#loop.add('lease', true);
    this.#leaseSeconds = seconds;
    if (seconds === undefined || this.#wasAccepted) return;
    this.#wasAccepted = true;
    this.#addonsEnded = this.#addons.run(this.#stop.signal);
    onAccepted();
  }

  /** While the hub does not know whether the cluster is alive, it reports its add-ons as unknown. */
  #passOnHealth(managed: ManagedCluster): void {
    const wasUnknown = this.#isUnknown;
    this.#isUnknown = findCondition(managed.status?.conditions, AVAILABLE)?.status === 'Unknown';
    if (wasUnknown && !this.#isUnknown) this.#addons.resumeHealth();
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
      const afterMs = await this.#status.report(managed, AbortSignal.any([signal, this.#stop.signal]));
      if (afterMs === undefined) return DONE;
      await updateClientConfigs(hub.api, managed, settings);
      return { kind: 'requeue', afterMs };
    } catch (error) {
      // Another client wrote. The next pass starts when the watch shows the change, or after this time.
      if (error instanceof ConflictError) return { kind: 'requeue', afterMs: 1_000 };
      throw error;
    }
  }

  /** Checks every few seconds whether the agent must leave the hub. */
  async #watch(stop: AbortSignal): Promise<void> {
    const { settings, reasonToLeave, knownBootstrap, hasOtherHubs } = this.#options;
    const { clock, hubTimeoutMs } = settings;
    const startedAtMs = clock.monotonicMs();
    while (!stop.aborted) {
      await sleep(clock, CHECK_INTERVAL_MS, stop);
      if (stop.aborted) return;
      const why = reasonToLeave();
      if (why !== undefined) this.#leave(why);
      const [isWatching, managed] = [this.#reflector.isWatching, this.#managed];
      await this.#registered.check(isWatching ? (managed === undefined ? 'missing' : 'found') : undefined);
      // A `berth join` while the cluster is being deleted is a wish to come back.
      if (isWatching && managed !== undefined && managed.metadata.deletionTimestamp === undefined)
        await knownBootstrap.know();
      if (this.#registered.isRefused) this.#leave('the hub refuses the certificate', 'refused');
      if (this.#registered.isGone && knownBootstrap.isReplaced)
        this.#leave(
          'the hub has deleted the cluster, and the bootstrap kubeconfig has new credentials',
          'deleted',
        );
      const nowMs = clock.monotonicMs();
      if (hasOtherHubs && nowMs - startedAtMs > START_GRACE_MS && nowMs - this.#renewedAtMs > hubTimeoutMs)
        this.#leave('the hub does not accept the lease');
    }
  }
}

/**
 * What a hub says of a cluster to a client. `forbidden`: it is not accepted, or not there any more; the hub takes the
 * rights of a deleted cluster. `refused`: the hub does not know the credentials. `unknown`: it does not answer.
 */
export type ClusterAnswer = 'found' | 'missing' | 'forbidden' | 'refused' | 'unknown';

const ANSWER_BY_ERROR: Readonly<Record<string, ClusterAnswer>> = {
  'kube.unauthorized': 'refused',
  'kube.forbidden': 'forbidden',
};

export async function askForCluster(hub: KubeApi, { cluster }: AgentIdentity): Promise<ClusterAnswer> {
  try {
    const found = await hub.get(MANAGED_CLUSTER, { namespace: '', name: cluster });
    return found === undefined ? 'missing' : 'found';
  } catch (error) {
    return (error instanceof BerthError && ANSWER_BY_ERROR[error.code]) || 'unknown';
  }
}

interface RegisteredClusterOptions {
  /** A client with the certificate of the agent. */
  readonly hub: KubeApi;
  readonly identity: AgentIdentity;
  readonly settings: RegistrationSettings;
  /**
   * Asks the hub with the bootstrap kubeconfig, which may read a cluster that is not accepted. `unknown` if its token has
   * expired.
   */
  readonly askWithBootstrap: () => Promise<ClusterAnswer>;
}

/** The number of answers in a row that count. A hub that restarts may refuse for a moment. */
const ANSWERS_IN_A_ROW = 3;

/** The bootstrap kubeconfig is used once in this number of checks. */
const BOOTSTRAP_EVERY = 6;

const REJOIN_HINT =
  'if that was a mistake, run berth join again with a token of the hub (berth get token): then berth accept accepts it';

/** What the hub knows of the cluster: whether it still has it, and whether it accepts the certificate. */
class RegisteredCluster {
  readonly #options: RegisteredClusterOptions;
  #last: ClusterAnswer = 'unknown';
  /** The number of the same answers in a row. */
  #count = 0;
  #isGone = false;

  constructor(options: RegisteredClusterOptions) {
    this.#options = options;
  }

  /** Whether the hub does not know the certificate: it was installed again, or has revoked it. */
  get isRefused(): boolean {
    return this.#last === 'refused' && this.#count >= ANSWERS_IN_A_ROW;
  }

  /** Whether the hub has deleted the cluster. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** @param watched what the watch of the cluster shows; undefined if it is not open */
  async check(watched: 'found' | 'missing' | undefined): Promise<void> {
    const { hub, identity } = this.#options;
    const answer = watched ?? (await askForCluster(hub, identity));
    this.#count = answer === this.#last ? this.#count + 1 : 1;
    this.#last = answer;
    if (answer === 'found') this.#isGone = false;
    if (this.#isGone || this.#count < ANSWERS_IN_A_ROW) return;
    if (answer === 'missing') this.#noteGone();
    if (answer !== 'forbidden' || (this.#count - ANSWERS_IN_A_ROW) % BOOTSTRAP_EVERY !== 0) return;
    if ((await this.#options.askWithBootstrap()) === 'missing') this.#noteGone();
  }

  /** The agent had read the cluster, and the watch says that it was deleted. */
  deleted(): void {
    if (!this.#isGone) this.#noteGone();
  }

  #noteGone(): void {
    const { identity, settings, hub } = this.#options;
    this.#isGone = true;
    settings.log.error('the hub has deleted this cluster: no works are applied, and none are removed', {
      cluster: identity.cluster,
      hub: hub.server,
      hint: REJOIN_HINT,
    });
  }
}

/**
 * Updates how other clients reach the cluster, after its address or authority changed. OCM's agent does so only if the
 * number of addresses changes. The agent may update its ManagedCluster, but not patch it.
 */
async function updateClientConfigs(
  hub: KubeApi,
  managed: ManagedCluster,
  { clientConfigs }: RegistrationSettings,
): Promise<void> {
  if (clientConfigs.length === 0 || managed.metadata.deletionTimestamp !== undefined) return;
  if (jsonEqual(managed.spec?.managedClusterClientConfigs, clientConfigs)) return;
  // The watched object has no managed fields, but an update needs the complete object.
  const complete = await hub.get(MANAGED_CLUSTER, { namespace: '', name: managed.metadata.name });
  if (complete === undefined) return;
  const spec = { ...(complete['spec'] as object), managedClusterClientConfigs: clientConfigs };
  await hub.update(MANAGED_CLUSTER, { ...complete, spec } satisfies KubeObject);
}
