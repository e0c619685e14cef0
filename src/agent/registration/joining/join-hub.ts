import { dump } from 'js-yaml';
import type { AgentIdentity } from '../../../core/registration/agent-identity.ts';
import { type HubEntry, hubKubeconfig } from '../../../core/registration/agent/hub-entry.ts';
import { onAbort } from '../../../runtime/on-abort.ts';
import { sleep } from '../../../runtime/sleep.ts';
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
}

/** A clock that is wrong is no reason for one request after the other. */
const WRONG_CLOCK_MS = 300_000;

/**
 * Registers a cluster with the bootstrap kubeconfig and waits for its credentials.
 * @returns whether it has them
 */
export async function joinHub(joining: Joining, signal: AbortSignal): Promise<boolean> {
  const { hub, entry, identity, store, settings } = joining;
  const over = new AbortController();
  onAbort(signal, () => over.abort());
  const keeping = recreateDeletedCluster({ api: hub.api, cluster: identity.cluster, settings }, over.signal);
  try {
    const pair = await requestCertificate({ api: hub.api, identity, store, settings }, over.signal);
    if (pair === undefined) return false;
    if (await isOverAtOnce(joining, pair)) {
      await sleep(settings.clock, WRONG_CLOCK_MS, over.signal);
      return false;
    }
    await store.write(credentialFiles({ entry, identity, ...pair }));
    return true;
  } finally {
    over.abort();
    await keeping;
  }
}

/**
 * Whether a certificate that was just issued has expired by the clock of this machine. It may also have waited for the agent until it was
 * over: so the next request is another one.
 */
async function isOverAtOnce(
  { identity, store, settings }: Joining,
  { certPem, keyPem }: { readonly certPem: string; readonly keyPem: string },
): Promise<boolean> {
  const { clock, log } = settings;
  const held = readCertificate(certPem, keyPem);
  if (held === undefined || clock.now() < held.notAfterMs) return false;
  await store.write({ 'certificate-request.json': undefined });
  log.warn('the certificate that the hub issued has expired already: is the clock of this machine right?', {
    cluster: identity.cluster,
    now: new Date(clock.now()).toISOString(),
    until: new Date(held.notAfterMs).toISOString(),
  });
  return true;
}

/** All that is kept of a certificate; the request that led to it is over. */
export function credentialFiles(of: {
  readonly entry: HubEntry;
  readonly identity: AgentIdentity;
  readonly certPem: string;
  readonly keyPem: string;
}): Required<CredentialFiles> | { readonly [Key in keyof CredentialFiles]: string | undefined } {
  const { entry, identity, certPem, keyPem } = of;
  return {
    'cluster-name': identity.cluster,
    'agent-name': identity.agent,
    kubeconfig: dump(hubKubeconfig(entry)),
    'tls.key': keyPem,
    'tls.crt': certPem,
    'certificate-request.json': undefined,
  };
}
