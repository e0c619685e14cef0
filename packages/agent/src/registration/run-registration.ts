import { randomBytes, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { KubeConfig } from '@berth/kube/config/kube-config';
import { parseKubeconfig } from '@berth/kube/config/parse-kubeconfig';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { type AgentIdentity, ALL_AGENTS_GROUP, clusterGroup } from '@berth/ocm/registration/names';
import { errorText, InputError } from '@berth/runtime/errors';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep, onAbort } from '@berth/runtime/loop/sleep';
import { changedFields, sameHub } from '../rules/registration/hub-entry.ts';
import { type CredentialStore, type CredentialFiles, hubEntryOf } from './credentials/credential-store.ts';
import { bootstrapDigest, KnownBootstrap } from './credentials/known-bootstrap.ts';
import { readCredentials } from './credentials/read-credentials.ts';
import { findHub, type ReadBootstrap } from './joining/find-hub.ts';
import { joinHub } from './joining/join-hub.ts';
import type { ManagedApi, RegistrationSettings } from './options/registration-settings.ts';
import {
  runSession,
  type SessionEnd,
  type SessionOptions,
  askForCluster,
  type ClusterAnswer,
} from './session/run-session.ts';

export interface Registration {
  /** One hub, or several of which one is used at a time. */
  readonly bootstraps: readonly ReadBootstrap[];
  readonly store: CredentialStore;
  readonly cluster: ManagedApi;
  /** The cluster that the agent runs in, with the agents of hosted add-ons. */
  readonly hosting: KubeApi;
  readonly clusterName: string | undefined;
  readonly agentId: string | undefined;
  readonly settings: RegistrationSettings;
  /**
   * Starts to apply the works of a hub that has accepted the cluster.
   * @returns a function that stops it
   */
  readonly startWorks: (hub: KubeApi, identity: AgentIdentity) => () => Promise<void>;
}

const AFTER_FAILURE = { initialMs: 1_000, maxMs: 60_000 };
/** While the agent waits for approval, it checks at this interval whether the bootstrap kubeconfig has changed. */
const CHECK_INTERVAL_MS = 10_000;

/**
 * Keeps a cluster registered at its hub. Without credentials it joins with a bootstrap kubeconfig. Then it works with
 * the hub. It starts again when the bootstrap kubeconfig names another hub, when the certificate has expired, or when
 * it must switch to another hub.
 * Source of the order: open-cluster-management.io/ocm `pkg/registration/spoke/spokeagent.go`.
 * @throws InputError for a cluster name or agent id that no hub accepts; other failures are retried
 */
export async function runRegistration(registration: Registration, signal: AbortSignal): Promise<void> {
  const { settings } = registration;
  const { clock, random, log } = settings;
  const backoff = new Backoff(AFTER_FAILURE, random);
  const refusal: Refusal = { certificate: undefined, isDeleted: false };
  while (!signal.aborted)
    try {
      await runOnce(registration, refusal, signal);
      backoff.reset();
      // A pause, so that an attempt that ends at once does not become a busy loop.
      await sleep(clock, 500 + 500 * random(), signal);
    } catch (error) {
      if (isPermanent(error)) throw error;
      if (signal.aborted) return;
      log.warn('registration failed and will be retried', {
        cluster: registration.clusterName,
        problem: errorText(error),
      });
      await sleep(clock, backoff.nextMs(), signal);
    }
}

/** A certificate that is of no use. It is kept until there is another one, because the hub may accept it again. */
interface Refusal {
  certificate: string | undefined;
  /** Whether the hub has deleted the cluster: then the agent waits for another certificate. */
  isDeleted: boolean;
}

const PERMANENT: ReadonlySet<string> = new Set(['agent.cluster-name', 'agent.agent-id']);

function isPermanent(error: unknown): boolean {
  return error instanceof InputError && PERMANENT.has(error.code);
}

/** Runs from the choice of a hub until the agent must choose again. */
async function runOnce(registration: Registration, refusal: Refusal, signal: AbortSignal): Promise<void> {
  const { bootstraps, store, settings } = registration;
  const identity = await loadIdentity(registration);
  const readBootstrap = await findHub({
    bootstraps,
    clusterName: identity.cluster,
    currentServer: storedHubServer(await store.read(), store.folder),
    settings,
  });
  const config = readBootstrap();
  const bootstrap = hubEntryOf(config);
  const check = { identity, bootstrap, folder: store.folder, env: settings.env };
  const files = await store.read();
  const credentials = readCredentials(files, { ...check, nowMs: settings.clock.now() });
  const isRefused = refusal.certificate !== undefined && refusal.certificate === files['tls.crt'];
  if (credentials.kind === 'usable' && !isRefused) {
    const reasonToLeave = (): string | undefined => leaveReason(readBootstrap, bootstrap);
    const digest = files['bootstrap-digest'] ?? bootstrapDigest(config);
    const knownBootstrap = new KnownBootstrap({ readBootstrap, store, log: settings.log, digest });
    const askWithBootstrap = (): Promise<ClusterAnswer> => askOnce(readBootstrap, identity, settings);
    const checks = { reasonToLeave, knownBootstrap, askWithBootstrap };
    const end = await workWithHub(registration, { identity, credentials, checks }, signal);
    refusal.certificate = end.mustRegister === false ? undefined : (await store.read())['tls.crt'];
    refusal.isDeleted = end.mustRegister === 'deleted';
    return;
  }
  const fields = { cluster: identity.cluster, agent: identity.agent, hub: bootstrap.server };
  const whyNotUsed = refusal.isDeleted
    ? 'the hub has deleted the cluster'
    : 'the hub refuses the certificate';
  const why = credentials.kind === 'usable' ? whyNotUsed : credentials.why;
  settings.log.info('joining the hub', { ...fields, why });
  const hub = settings.connect(config);
  const stop = new AbortController();
  onAbort(signal, () => stop.abort());
  const watching = Promise.all([
    watchBootstrap(readBootstrap, config, { settings, stop }),
    credentials.kind === 'usable' &&
      !refusal.isDeleted &&
      watchRefused(credentials, refusal, { identity, settings, stop }),
  ]);
  try {
    const joining = { hub, entry: bootstrap, identity, store, settings, digest: bootstrapDigest(config) };
    const joined = await joinHub(joining, stop.signal);
    if (joined) settings.log.info('hub issued a certificate', fields);
  } finally {
    stop.abort();
    await watching;
    hub.close();
  }
}

/** The names of the cluster and the agent. Random names are stored before the hub receives them, so that a restart does not register another cluster. */
async function loadIdentity({ store, clusterName, agentId }: Registration): Promise<AgentIdentity> {
  const files = await store.read();
  const [keptClusterName, keptAgentId] = [files['cluster-name'], files['agent-name']];
  const identity = registrationIdentity({ clusterName, agentId, keptClusterName, keptAgentId });
  if (keptClusterName === undefined || keptAgentId === undefined)
    await store.write({ 'cluster-name': identity.cluster, 'agent-name': identity.agent });
  return identity;
}

type Usable = Extract<ReturnType<typeof readCredentials>, { kind: 'usable' }>;

async function workWithHub(
  registration: Registration,
  parts: {
    readonly identity: AgentIdentity;
    readonly credentials: Usable;
    readonly checks: Pick<SessionOptions, 'reasonToLeave' | 'knownBootstrap' | 'askWithBootstrap'>;
  },
  signal: AbortSignal,
): Promise<SessionEnd> {
  const { settings, store, cluster, hosting, bootstraps, startWorks } = registration;
  const { identity, credentials, checks } = parts;
  const { config, held, entry } = credentials;
  const hub = settings.connect(config);
  let endWorks = (): Promise<void> => Promise.resolve();
  try {
    const end = await runSession(
      {
        hub,
        config,
        held,
        entry,
        identity,
        store,
        cluster,
        hosting,
        settings,
        ...checks,
        hasOtherHubs: bootstraps.length > 1,
        onAccepted: () => (endWorks = startWorks(hub.api, identity)),
      },
      signal,
    );
    if (!signal.aborted)
      settings.log.info('the agent starts again', { cluster: identity.cluster, why: end.why });
    return end;
  } finally {
    await endWorks();
    hub.close();
  }
}

/** Why the agent must leave the hub. A bootstrap kubeconfig that cannot be read now is ignored. */
function leaveReason(
  readBootstrap: ReadBootstrap,
  before: ReturnType<typeof hubEntryOf>,
): string | undefined {
  try {
    const now = hubEntryOf(readBootstrap());
    if (sameHub(now, before)) return undefined;
    return `the bootstrap kubeconfig names another hub: ${changedFields(now, before).join(', ')} of the cluster changed`;
  } catch {
    return undefined;
  }
}

/**
 * Stops joining when the bootstrap kubeconfig changes. A new token counts as a change, too, because the old one may have
 * expired.
 */
async function watchBootstrap(
  readBootstrap: ReadBootstrap,
  before: KubeConfig,
  { settings, stop }: { readonly settings: RegistrationSettings; readonly stop: AbortController },
): Promise<void> {
  while (!stop.signal.aborted) {
    await sleep(settings.clock, CHECK_INTERVAL_MS, stop.signal);
    if (stop.signal.aborted) return;
    const why = leaveReason(readBootstrap, hubEntryOf(before)) ?? credentialsChange(readBootstrap, before);
    if (why === undefined) continue;
    settings.log.info('the agent starts again', { why });
    stop.abort();
  }
}

/**
 * Stops joining when the hub accepts the refused certificate again, for example after it was restored. Then the agent
 * needs no new certificate.
 */
async function watchRefused(
  { config }: Usable,
  refusal: Refusal,
  {
    identity,
    settings,
    stop,
  }: {
    readonly identity: AgentIdentity;
    readonly settings: RegistrationSettings;
    readonly stop: AbortController;
  },
): Promise<void> {
  const hub = settings.connect(config);
  try {
    while (!stop.signal.aborted) {
      await sleep(settings.clock, CHECK_INTERVAL_MS, stop.signal);
      if (stop.signal.aborted || (await askForCluster(hub.api, identity)) !== 'found') continue;
      refusal.certificate = undefined;
      settings.log.info('the agent starts again', { why: 'the hub accepts the certificate' });
      stop.abort();
    }
  } finally {
    hub.close();
  }
}

async function askOnce(
  readBootstrap: ReadBootstrap,
  identity: AgentIdentity,
  settings: RegistrationSettings,
): Promise<ClusterAnswer> {
  let hub: ReturnType<RegistrationSettings['connect']> | undefined;
  try {
    hub = settings.connect(readBootstrap());
    return await askForCluster(hub.api, identity);
  } catch {
    // The bootstrap kubeconfig cannot be read now.
    return 'unknown';
  } finally {
    hub?.close();
  }
}

function credentialsChange(readBootstrap: ReadBootstrap, before: KubeConfig): string | undefined {
  try {
    const isSame = isDeepStrictEqual(readBootstrap().getCurrentUser(), before.getCurrentUser());
    return isSame ? undefined : 'the bootstrap kubeconfig has other credentials';
  } catch {
    return undefined;
  }
}

/** The server in the stored hub kubeconfig; undefined if there is none, or it cannot be parsed. */
function storedHubServer(files: CredentialFiles, folder: string): string | undefined {
  try {
    const parts = parseKubeconfig(files.kubeconfig ?? '', folder);
    return new KubeConfig(parts).getCurrentCluster()?.server;
  } catch {
    return undefined;
  }
}

/** The sources of the names, in order of precedence: given, stored, random. */
export interface IdentitySources {
  readonly clusterName: string | undefined;
  readonly agentId: string | undefined;
  readonly keptClusterName: string | undefined;
  readonly keptAgentId: string | undefined;
}

const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** A longer name, or one with a colon, could not be read back from a certificate. */
const AGENT_ID = /^[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;

/**
 * The identity of the agent.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/options.go` (getOrGenerateClusterAgentID).
 * @throws InputError for names that no hub accepts
 */
export function registrationIdentity(sources: IdentitySources): AgentIdentity {
  const cluster = sources.clusterName || sources.keptClusterName?.trim() || randomUUID();
  const agent = sources.agentId || sources.keptAgentId?.trim() || randomBytes(4).toString('hex').slice(0, 5);
  if (!CLUSTER_NAME.test(cluster))
    throw new InputError(
      `is ${JSON.stringify(cluster)}, expected at most 63 of a-z, 0-9 and -, with a letter or digit at both ends`,
      { code: 'agent.cluster-name', subject: 'cluster name', hint: 'it becomes a namespace on the hub' },
    );
  if (clusterGroup(cluster) === ALL_AGENTS_GROUP)
    throw new InputError(`is ${cluster}, whose group would be that of all agents; expected another`, {
      code: 'agent.cluster-name',
      subject: 'cluster name',
    });
  if (!AGENT_ID.test(agent))
    throw new InputError(
      `is ${JSON.stringify(agent)}, expected at most 63 letters, digits and -._, with a letter or digit at both ends`,
      {
        code: 'agent.agent-id',
        subject: 'agent id',
        hint: 'it becomes part of the name in the certificate',
      },
    );
  return { cluster, agent };
}
