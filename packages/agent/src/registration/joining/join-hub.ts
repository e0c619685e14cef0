import { dump } from 'js-yaml';
import type { AgentIdentity } from '@berth/ocm/registration/agent-identity';
import { type HubEntry, hubKubeconfig } from '../../rules/registration/hub-entry.ts';
import { onAbort } from '@berth/runtime/loop/on-abort';
import { sleep } from '@berth/runtime/loop/sleep';
import { readCertificate } from '../certificate/read-certificate.ts';
import type { CredentialFiles, CredentialStore } from '../credentials/credential-store.ts';
import type { HubClient, RegistrationSettings } from '../options/registration-settings.ts';
import { recreateDeletedCluster } from './ensure-cluster.ts';
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
