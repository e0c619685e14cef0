import { dump } from 'js-yaml';
import type { AgentIdentity } from '../../../core/registration/agent-identity.ts';
import { type HubEntry, hubKubeconfig } from '../../../core/registration/agent/hub-entry.ts';
import { onAbort } from '../../../runtime/on-abort.ts';
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

/** Registers a cluster with the bootstrap kubeconfig and waits for its credentials. @returns whether it received them */
export async function joinHub(joining: Joining, signal: AbortSignal): Promise<boolean> {
  const { hub, entry, identity, store, settings } = joining;
  const over = new AbortController();
  onAbort(signal, () => over.abort());
  const keeping = recreateDeletedCluster({ api: hub.api, cluster: identity.cluster, settings }, over.signal);
  try {
    const pair = await requestCertificate({ api: hub.api, identity, store, settings }, over.signal);
    if (pair === undefined) return false;
    await store.write(credentialFiles({ entry, identity, ...pair }));
    return true;
  } finally {
    over.abort();
    await keeping;
  }
}

/** The files to store with a certificate. The request that led to it is no longer needed. */
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
