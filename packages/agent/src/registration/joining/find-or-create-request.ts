import { z } from 'zod';
import type { AgentIdentity } from '@berth/ocm/registration/agent-identity';
import { makeRequest, type OwnRequest } from '../certificate/make-request.ts';
import { readCertificate } from '../certificate/read-certificate.ts';
import type { CredentialFiles, CredentialStore } from '../credentials/credential-store.ts';

const STORED_REQUEST = z.object({
  server: z.string(),
  cluster: z.string(),
  agent: z.string(),
  keyPem: z.string(),
  requestPem: z.string(),
});

interface OpenRequestOptions {
  readonly server: string;
  readonly identity: AgentIdentity;
  readonly store: CredentialStore;
}

/**
 * The open request at this hub, or a new one. Its key is stored before the hub receives it, so that an agent that
 * crashes at any moment continues with the same request.
 */
export async function findOrCreateRequest(options: OpenRequestOptions): Promise<OwnRequest> {
  return storedRequest(await options.store.read(), options) ?? newRequest(options);
}

/** Creates and stores a new request, for example after a refused one. */
export async function newRequest({ server, identity, store }: OpenRequestOptions): Promise<OwnRequest> {
  const request = makeRequest(identity);
  await store.write({
    'cluster-name': identity.cluster,
    'agent-name': identity.agent,
    'certificate-request.json': JSON.stringify({ server, ...identity, ...request }),
  });
  return request;
}

function storedRequest(
  files: CredentialFiles,
  { server, identity }: OpenRequestOptions,
): OwnRequest | undefined {
  const parsed = STORED_REQUEST.safeParse(parseJsonOrUndefined(files['certificate-request.json']));
  if (!parsed.success) return undefined;
  const { keyPem, requestPem, ...storedFor } = parsed.data;
  if (
    storedFor.server !== server ||
    storedFor.cluster !== identity.cluster ||
    storedFor.agent !== identity.agent
  )
    return undefined;
  // A key is used for only one certificate. If the certificate of this key is stored already, a new key is needed.
  return readCertificate(files['tls.crt'], keyPem) === undefined ? { keyPem, requestPem } : undefined;
}

function parseJsonOrUndefined(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
