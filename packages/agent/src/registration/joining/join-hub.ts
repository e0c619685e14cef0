import { MANAGED_CLUSTER } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { AGENT_ANNOTATION_PREFIX, type AgentIdentity } from '@berth/ocm/registration/names';
import { BerthError, ConflictError, errorText } from '@berth/runtime/errors';
import { Backoff } from '@berth/runtime/loop/backoff';
import { sleep, onAbort } from '@berth/runtime/loop/sleep';
import { dump } from 'js-yaml';
import { type HubEntry, hubKubeconfig } from '../../rules/registration/hub-entry.ts';
import type { CredentialFiles, CredentialStore } from '../credentials/credential-store.ts';
import { readCertificate } from '../credentials/read-credentials.ts';
import type { HubClient, RegistrationSettings } from '../options/registration-settings.ts';
import { requestCertificate } from './request-certificate.ts';

export interface Joining {
  /** A client with the credentials of the bootstrap kubeconfig. */
  readonly hub: HubClient;
  readonly entry: HubEntry;
  readonly identity: AgentIdentity;
  readonly store: CredentialStore;
  readonly settings: RegistrationSettings;
  /** Of the bootstrap credentials; see `CREDENTIAL_KEYS`. */
  readonly digest: string;
}

/** The pause after an issued certificate that has already expired. Without it, a wrong clock would cause endless requests. */
const AFTER_EXPIRED_MS = 300_000;

/**
 * Registers a cluster with the bootstrap kubeconfig and waits for its credentials.
 * @returns whether it has them
 */
export async function joinHub(joining: Joining, signal: AbortSignal): Promise<boolean> {
  const { hub, entry, identity, store, settings, digest } = joining;
  const stop = new AbortController();
  onAbort(signal, () => stop.abort());
  const recreating = recreateDeletedCluster(
    { api: hub.api, cluster: identity.cluster, settings },
    stop.signal,
  );
  try {
    const pair = await requestCertificate({ api: hub.api, identity, store, settings }, stop.signal);
    if (pair === undefined) return false;
    if (await isAlreadyExpired(joining, pair)) {
      await sleep(settings.clock, AFTER_EXPIRED_MS, stop.signal);
      return false;
    }
    await store.write({ ...credentialFiles({ entry, identity, ...pair }), 'bootstrap-digest': digest });
    return true;
  } finally {
    stop.abort();
    await recreating;
  }
}

/**
 * Whether the issued certificate has already expired. The clock of this machine may be wrong, or the certificate expired before the agent
 * read it. Then the stored request is removed, so that the next attempt makes a new one.
 */
async function isAlreadyExpired(
  { identity, store, settings }: Joining,
  { certPem, keyPem }: { readonly certPem: string; readonly keyPem: string },
): Promise<boolean> {
  const { clock, log } = settings;
  const held = readCertificate(certPem, keyPem);
  if (held === undefined || clock.now() < held.notAfterMs) return false;
  await store.write({ 'certificate-request.json': undefined });
  log.warn('the issued certificate has already expired: check the clock of this machine', {
    cluster: identity.cluster,
    now: new Date(clock.now()).toISOString(),
    until: new Date(held.notAfterMs).toISOString(),
  });
  return true;
}

/** The files to store with a new certificate. They remove the request that it was issued for. */
export function credentialFiles(issued: {
  readonly entry: HubEntry;
  readonly identity: AgentIdentity;
  readonly certPem: string;
  readonly keyPem: string;
}): { readonly [Key in keyof CredentialFiles]: string | undefined } {
  const { entry, identity, certPem, keyPem } = issued;
  return {
    'cluster-name': identity.cluster,
    'agent-name': identity.agent,
    kubeconfig: dump(hubKubeconfig(entry)),
    'tls.key': keyPem,
    'tls.crt': certPem,
    'certificate-request.json': undefined,
  };
}

interface EnsureClusterOptions {
  readonly api: KubeApi;
  readonly cluster: string;
  readonly settings: RegistrationSettings;
}

/**
 * Creates the ManagedCluster of the agent if it does not exist.
 * Source: open-cluster-management.io/ocm `pkg/registration/spoke/registration/creating_controller.go`.
 */
async function ensureCluster({ api, cluster, settings }: EnsureClusterOptions): Promise<void> {
  if ((await api.get(MANAGED_CLUSTER, { namespace: '', name: cluster })) !== undefined) return;
  const { annotations, clientConfigs, log } = settings;
  const own = Object.entries(annotations).filter(([name]) => name.startsWith(AGENT_ANNOTATION_PREFIX));
  try {
    await api.create(MANAGED_CLUSTER, {
      apiVersion: 'cluster.open-cluster-management.io/v1',
      kind: 'ManagedCluster',
      metadata: { name: cluster, ...(own.length > 0 && { annotations: Object.fromEntries(own) }) },
      spec: {
        hubAcceptsClient: false,
        ...(clientConfigs.length > 0 && { managedClusterClientConfigs: clientConfigs }),
      },
    });
    log.info('cluster registered', { cluster, hub: api.server });
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
  }
}

const CHECK_INTERVAL_MS = 3_600_000;

const TOKEN_HINT = 'berth get token prints another one on the hub, and berth join writes it to the cluster';

/**
 * Calls `ensureCluster` again and again until the signal aborts. The ManagedCluster may be deleted while the agent waits
 * for its certificate.
 */
async function recreateDeletedCluster(options: EnsureClusterOptions, signal: AbortSignal): Promise<void> {
  const { clock, random, log } = options.settings;
  const backoff = new Backoff({ initialMs: 2_000, maxMs: 60_000 }, random);
  while (!signal.aborted) {
    let waitMs = CHECK_INTERVAL_MS * (1 + random());
    try {
      await ensureCluster(options);
      backoff.reset();
    } catch (error) {
      waitMs = backoff.nextMs();
      const fields = { cluster: options.cluster, problem: errorText(error) };
      const code = error instanceof BerthError ? error.code : '';
      if (code === 'kube.unauthorized')
        log.warn('the hub does not know the token of the bootstrap kubeconfig: it may have expired', {
          ...fields,
          hint: TOKEN_HINT,
        });
      // A denied cluster has lost its rights on the hub, and may get them back.
      else log[code === 'kube.forbidden' ? 'debug' : 'warn']('cluster cannot be registered yet', fields);
    }
    await sleep(clock, waitMs, signal);
  }
}
